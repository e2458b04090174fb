"""A start script that writes its trigger file too late finds nobody to read it.

Claim: the I/O nodes run the start scripts of both trees in the order of their numbers, and S16sshd looks for
/etc/sysconfig/ssh once. Written by S10site_sysconfig it starts sshd; written by the same script under the
number 17 it is there, and sshd is not.

Cause: rc3.d of the system's and of the site's tree are merged by name, and nobody looks a second time.

Source: Redpaper, "SSH setup for the IONs", step 4: "use a sequence number below 16".
"""

from causeway.lab import blocks
from causeway.scenario.ssh import IN, login
from causeway.scenario.stage import Stage

RC = "/bgl/dist/etc/rc.d/rc3.d"
REACHED, REFUSED = "every node lets root on SN in", "no node lets root on SN in"


def verdict(stage: Stage, nodes: list[str]) -> str:
    """The check that both halves of this scenario share: ssh from SN, which must not ask anything."""
    service_node = blocks.service_node(stage.lab)
    reached = [node for node in nodes if login(stage, service_node, node) == IN]
    return REACHED if reached == nodes else REFUSED if not reached else f"only {' '.join(reached)} do"


def play(stage: Stage) -> None:
    lab, service_node = stage.lab, blocks.service_node(stage.lab)
    nodes = lab.booted_io_nodes()[:2]

    with stage.healthy("the nodes are up, and ssh reaches them"):
        stage.compare("ssh to the nodes", REACHED, verdict(stage, nodes), "", 0)

    with stage.perturb("the site's script gets the number 17, and the nodes are booted again"):
        stage.defer(lambda: blocks.restart(lab, nodes))
        lab.on(service_node, "mv", f"{RC}/S10site_sysconfig", f"{RC}/S17site_sysconfig").must()
        stage.defer(lambda: lab.on(service_node, "mv", f"{RC}/S17site_sysconfig", f"{RC}/S10site_sysconfig").must())
        booted = blocks.restart(lab, nodes)

    with stage.judge("the nodes are up, the trigger file is there, and sshd is not"):
        stage.compare(
            "nodes that booted without a complaint", len(nodes), list(booted.values()).count("up"), "nodes", 0
        )
        there = sum(lab.file(node, "/etc/sysconfig/ssh").exists() for node in nodes)
        stage.compare("nodes with /etc/sysconfig/ssh", len(nodes), there, "nodes", 0)
        stage.compare("ssh to the nodes, trigger written at S17", REFUSED, verdict(stage, nodes), "", 0)
        silent = blocks.silent(lab, nodes, "sshd stays off")
        stage.compare("consoles that say so", len(nodes), len(nodes) - len(silent), "nodes", 0)

    with stage.contrast("the same script with the number 15 is in time"):
        lab.on(service_node, "mv", f"{RC}/S17site_sysconfig", f"{RC}/S15site_sysconfig").must()
        stage.defer(lambda: lab.on(service_node, "mv", f"{RC}/S15site_sysconfig", f"{RC}/S17site_sysconfig").must())
        blocks.restart(lab, nodes)
        stage.compare("ssh to the nodes, trigger written at S15", REACHED, verdict(stage, nodes), "", 0)

    with stage.restore("the script has its own number again, and ssh reaches the nodes"):
        stage.compare("ssh to the nodes, afterwards", REACHED, verdict(stage, nodes), "", 0)
