"""A diskless node remembers what it was, for its /var is not on the node.

Claim: a node that was deleted while it was off cannot be added again, because its tree under /bgl/gpfsvar still
says that it is a member; once that tree is removed, the same command adds it.

Cause: an I/O node keeps nothing, so its /var is kept on the service node by its address, and comes back at the
next boot whoever the node is by then.

Source: Redpaper, "Deleting a single ION": "no stale configuration information is left there".
"""

from causeway.lab import blocks
from causeway.scenario.membership import ADDED, MEMBER_ALREADY, add, need_cluster
from causeway.scenario.stage import Stage


def play(stage: Stage) -> None:
    lab, service_node = stage.lab, blocks.service_node(stage.lab)
    block, node = blocks.booted(lab), lab.booted_io_nodes()[0]
    tree = f"/bgl/gpfsvar/{stage.site.nodes[node].interfaces['eth0'].address}"
    need_cluster(stage)

    with stage.healthy(f"{node} is up and becomes a member"):
        stage.compare(f"mcaddnode {node}", ADDED, add(stage, node), "", 0)
        member = lab.on(node, "cat", "/var/mc/member").must()
        stage.compare("it knows itself by its own /var", True, node in member, "", 0)

    with stage.perturb("the block is freed, the node deleted, and its tree left; then the block is booted again"):
        blocks.deallocate(lab, block)
        stage.defer(lambda: blocks.reboot(lab, block).must())
        lab.on(service_node, "mcdelnode", node).must()
        blocks.allocate(lab, block).must()

    with stage.judge("SN does not know the node, and the node thinks that it is a member"):
        listed = node in lab.on(service_node, "mclsnode").must()
        stage.compare(f"{node} in SN's list of nodes", False, listed, "", 0)
        stage.compare("the node's own /var is what it was", member, lab.on(node, "cat", "/var/mc/member").must(), "", 0)
        stage.compare(f"mcaddnode {node}, tree left", MEMBER_ALREADY, add(stage, node), "", 0)

    with stage.contrast(f"the block is freed, {tree} removed, and the block booted: a clean start"):
        blocks.deallocate(lab, block)
        lab.on(service_node, "rm", "-r", tree).must()
        blocks.allocate(lab, block).must()
        stage.compare(f"mcaddnode {node}, tree removed", ADDED, add(stage, node), "", 0)
        lab.on(service_node, "mcdelnode", node).must()

    with stage.restore(f"{node} was deleted while it was up, which leaves nothing behind"):
        left = lab.file(service_node, f"{tree}/var/mc/member").exists()
        stage.compare("a membership is left under /bgl/gpfsvar", False, left, "", 0)
