"""A diskless node remembers what it was, for its /var is not on the node.

Claim: a node that was deleted while it was off cannot be added again, because its tree under /bgl/gpfsvar still
says that it is a member; once that tree is removed, the same command adds it.

Cause: an I/O node keeps nothing, so its /var is kept on the service node by its address, and comes back at the
next boot whoever the node is by then.

Source: Redpaper, "Deleting a single ION": "no stale configuration information is left there".
"""

from causeway.lab import blocks, filesystems
from causeway.scenario.membership import ADDED, MEMBER_ALREADY, add, listed, put_back, state
from causeway.scenario.stage import Stage


def play(stage: Stage) -> None:
    filesystems.need(stage.lab)
    lab, service_node = stage.lab, blocks.service_node(stage.lab)
    node = lab.booted_io_nodes()[0]
    tree = f"/bgl/gpfsvar/{stage.site.nodes[node].interfaces['eth0'].address}"

    def start_clean() -> None:
        blocks.switch_off(lab, node)
        lab.on(service_node, "rm", "-rf", tree).must()
        blocks.restart(lab, [node])

    def undo() -> None:
        if node not in listed(stage):
            start_clean()
        put_back(stage, node)

    with stage.healthy(f"{node} is a member, its daemon is up, and it knows so by its own /var"):
        stage.compare(f"mcgetstate -w {node}", "active", state(stage, node), "", 0)
        member = lab.on(node, "cat", "/var/mc/gen/cluster").must()
        stage.compare("it names its cluster", True, filesystems.cluster_name(lab, "JUBL") in member, "", 0)

    with stage.perturb("the node is switched off, deleted, and its tree left; then it is booted again"):
        blocks.switch_off(lab, node)
        stage.defer(undo)
        lab.on(service_node, "mcdelnode", node).must()
        booted = blocks.restart(lab, [node])[node]

    with stage.judge("SN does not know the node, the node thinks that it is a member, and its start scripts fail"):
        stage.compare(f"{node} in SN's list of nodes", False, node in listed(stage), "", 0)
        why = "a cluster's id is random"
        now = lab.read(node, "/var/mc/gen/cluster")
        stage.compare("the node's own /var is what it was", member, now, "", 0, why)
        stage.compare("how its boot ended", "up, but failed: S40fs S41fs_mount", booted, "", 0)
        stage.compare(f"mcaddnode {node}, tree left", MEMBER_ALREADY, add(stage, node), "", 0)

    with stage.contrast(f"the node is switched off, {tree} removed, and the node booted: a clean start"):
        start_clean()
        stage.compare(f"mcaddnode {node}, tree removed", ADDED, add(stage, node), "", 0)

    with stage.restore(f"{node} is started, and a member like the others"):
        stage.compare(f"mcgetstate -w {node}, afterwards", "active", state(stage, node), "", 0)
