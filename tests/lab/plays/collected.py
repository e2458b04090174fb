"""Every node of a lab says what it is, by the script that production's nodes run; tests/lab/test_collect.py judges it.

Claim: collect.sh ends well on every node, and leaves nothing behind there.

Source: issue 12, part 1.
"""

from causeway.collect.output import SCRIPT
from causeway.lab.lab import RUNS, Lab
from causeway.process import run
from causeway.scenario.stage import Stage

#: All files of a node that a script could write to, with their sizes and times.
FILES = "find /etc /home /opt /root /run /srv /tmp /usr/local /var /dev/shm -type f -exec stat -c '%n %s %Y %Z' {} +"


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    nodes = [name for name in site.nodes if lab.state(name) not in ("off", "down")]
    folder = RUNS / "collected" / site.name

    with stage.healthy("every interface has said something, so that switches know who is where"):
        stage.same("interfaces that nobody answers", [], [leg for node in nodes for leg in speak(lab, node, nodes)])

    with stage.judge("the script ends well on every node"):
        folder.mkdir(parents=True, exist_ok=True)
        for node in nodes:
            said = run(lab.enter(node, ["sh", "-s"]), stdin=SCRIPT.read_text())
            (folder / node).write_text(said.stdout)
            stage.same(f"exit code and complaints on {node}", [0, ""], [said.rc, said.stderr])

    with stage.judge("it writes nothing where it runs"):
        node = nodes[0]
        before = lab.on(node, "sh", "-c", FILES).stdout
        run(lab.enter(node, ["sh", "-s"]), stdin=SCRIPT.read_text()).must()
        after = lab.on(node, "sh", "-c", FILES).stdout
        stage.holds(f"there are files on {node}", len(before.splitlines()) > 100)
        stage.same(f"files on {node} that are others now", [], sorted({*before.splitlines()} ^ {*after.splitlines()}))


def speak(lab: Lab, node: str, nodes: list[str]) -> list[str]:
    """Those of a node's interfaces by which nobody answers a ping."""
    silent = []
    for device, leg in lab.site.nodes[node].interfaces.items():
        others = [
            str(its.address)
            for other in nodes
            if other != node
            for its in lab.site.nodes[other].interfaces.values()
            if its.network == leg.network
        ]
        if others and lab.on(node, "ping", "-c", "1", "-W", "2", "-I", device, others[0]).rc != 0:
            silent.append(f"{node}:{device}")
    return silent
