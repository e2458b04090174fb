"""Adding nodes to the client cluster as its administrator would, for scenarios about what keeps them out."""

from causeway.lab import blocks
from causeway.scenario.stage import Stage

ADDED = "added to the cluster"
NO_NAME = "not added: NXDOMAIN"
MEMBER_ALREADY = "not added: it says that it is a member already"
#: What mcaddnode prints, and what it means.
_SAID = {"NXDOMAIN": NO_NAME, "is in a cluster already": MEMBER_ALREADY}


def need_cluster(stage: Stage) -> None:
    """Make the service node a cluster of its own, until the scenario's undo, where there is none."""
    lab, service_node = stage.lab, blocks.service_node(stage.lab)
    if lab.on(service_node, "mclsnode").rc != 0:
        lab.on(service_node, "mccrcluster", str(stage.site.nodes[service_node].cluster)).must()
        stage.defer(lambda: lab.on(service_node, "rm", "-r", "/var/mc").must())


def add(stage: Stage, node: str) -> str:
    """What becomes of `mcaddnode NODE` on the service node."""
    done = stage.lab.on(blocks.service_node(stage.lab), "mcaddnode", node)
    if done.rc == 0:
        return ADDED
    meanings = [meaning for words, meaning in _SAID.items() if words in done.stderr]
    return meanings[0] if meanings else f"not added: {done.stderr.strip()}"
