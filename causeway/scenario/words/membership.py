"""Adding nodes to a cluster as its administrator would, for scenarios about what keeps them out."""

from collections.abc import Sequence

from causeway.lab.filesystems import administrators
from causeway.lab.filesystems.administrators import mc, member, place, rows
from causeway.scenario.stage import Stage
from causeway.scenario.words.answers import meaning

ADDED = "added to the cluster"
NO_NAME = "not added: NXDOMAIN"
MEMBER_ALREADY = "not added: it says that it is a member already"
#: What mcaddnode prints, and what it means.
_SAID = {"NXDOMAIN": NO_NAME, "is in a cluster already": MEMBER_ALREADY}


def add(stage: Stage, node: str) -> str:
    """What becomes of `mcaddnode NODE` where the administrator of the node's cluster works."""
    done = mc(stage.lab, _place(stage, node), "mcaddnode", member(stage.lab, node))
    if done.rc == 0:
        return ADDED
    return meaning(done, _SAID) or f"not added: {done.stderr.strip()}"


def take_out(stage: Stage, node: str) -> None:
    """Stop a member's daemon and delete it, until the scenario's undo."""
    stage.defer(lambda: put_back(stage, node))
    mc(stage.lab, _place(stage, node), "mcshutdown", "-w", member(stage.lab, node)).must()
    delete(stage, node)


def delete(stage: Stage, node: str) -> None:
    """`mcdelnode NODE`, whose daemon must be down."""
    mc(stage.lab, _place(stage, node), "mcdelnode", member(stage.lab, node)).must()


def put_back(stage: Stage, node: str) -> None:
    """Have a node as the lab came up: a member, its daemon up, the filesystems mounted."""
    there, name = _place(stage, node), member(stage.lab, node)
    if not listed(stage, node):
        mc(stage.lab, there, "mcaddnode", name).must()
    mc(stage.lab, there, "mcstartup", "-w", name).must()
    for filesystem in stage.site.mounts(stage.site.nodes[node].cluster or ""):
        mc(stage.lab, there, "mcmount", filesystem, "-w", name).must()


def states(stage: Stage, nodes: Sequence[str]) -> dict[str, str]:
    """What `mcgetstate -a` says of nodes of one cluster at its administrator's place."""
    said = administrators.states(stage.lab, _place(stage, nodes[0])) if nodes else {}
    return {node: said[member(stage.lab, node)] for node in nodes}


def listed(stage: Stage, node: str) -> bool:
    """Whether a node is a member by its administrator's list."""
    names = [row["node_name"] for row in rows(stage.lab, _place(stage, node), "mclsnode")]
    return member(stage.lab, node) in names


def state(stage: Stage, node: str) -> str:
    """What `mcgetstate -w NODE` says at its administrator's place."""
    answer = rows(stage.lab, _place(stage, node), "mcgetstate", "-w", member(stage.lab, node))
    return str(answer[0]["state"])


def _place(stage: Stage, node: str) -> str:
    return place(stage.lab, stage.site.nodes[node].cluster or "")
