"""Every node of a lab says what it is, by the script that production's nodes run; tests/lab judges what is made of it.

Claim: collect.sh ends well on every node, a route more shows in what it says, and it leaves nothing behind.

Source: issue 12, part 1.
"""

from causeway.collect.output import SCRIPT, read_output
from causeway.lab.changes.change import Change, Step
from causeway.lab.lab import RUNS, Lab
from causeway.process import run
from causeway.scenario.stage import Stage

#: All files of a node that a script could write to, with their sizes and times.
FILES = "find /etc /home /opt /root /run /srv /tmp /usr/local /var /dev/shm -type f -exec stat -c '%n %s %Y %Z' {} +"
#: Nobody's (RFC 5737).
NOWHERE = "198.51.100.0/24"
LEFT = "/tmp/left"


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    nodes = [name for name in site.nodes if lab.state(name) not in ("off", "down")]
    folder = RUNS / "collected" / site.name
    folder.mkdir(parents=True, exist_ok=True)
    here = next(name for name in nodes if site.nodes[name].interfaces and not site.nodes[name].switch)
    files = files_of(lab, here)

    def routes() -> list[str]:
        """What the script says of a node's routes."""
        (folder.parent / "again").write_text(said(lab, here)[2])
        return read_output(folder.parent / "again").lines("ip-route")

    with stage.healthy("every interface says something, so that switches know who is where; so does every node"):
        stage.same("interfaces that nobody answers", [], [leg for node in nodes for leg in speak(lab, node, nodes)])
        for node in nodes:
            *ended, text = said(lab, node)
            stage.same(f"exit code and complaints on {node}", [0, ""], ended)
            (folder / node).write_text(text)
        before = read_output(folder / here).lines("ip-route")

    with stage.perturb(f"{here} has a route to nowhere"):
        undo = Step(here, ("sh", "-c", f"ip route del {NOWHERE} 2>/dev/null; true"))
        more = Change(f"a route to {NOWHERE}", (Step(here, ("ip", "route", "add", "blackhole", NOWHERE)),), (undo,))
        route = stage.make(more)

    with stage.judge("it shows, as a file would that the script had left"):
        stage.holds("the route is told", any(NOWHERE in line for line in routes()))
        lab.on(here, "touch", LEFT).must()
        seen = [line.split()[0] for line in files_of(lab, here) ^ files]
        lab.on(here, "rm", LEFT).must()
        stage.same("the file that was left", [LEFT], seen)

    with stage.contrast("without it the node says what it said"):
        route.undo()
        stage.same("routes", before, routes())

    with stage.restore("the script has written nothing where it ran"):
        stage.same(f"files on {here} that are others now", [], sorted(files_of(lab, here) ^ files))


def files_of(lab: Lab, node: str) -> set[str]:
    """A node's files, each with its size and times."""
    return set(lab.on(node, "sh", "-c", FILES).stdout.splitlines())


def said(lab: Lab, node: str) -> tuple[int, str, str]:
    """How the script ends on a node, what it complains of, and what it prints."""
    done = run(lab.enter(node, ["sh", "-s"]), stdin=SCRIPT.read_text())
    return done.rc, done.stderr, done.stdout


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
