"""Adding nodes to the client cluster as its administrator would, for scenarios about what keeps them out."""

from typing import Any

from causeway.lab import blocks, filesystems
from causeway.process import Result
from causeway.scenario.answers import meaning
from causeway.scenario.stage import Stage

ADDED = "added to the cluster"
NO_NAME = "not added: NXDOMAIN"
MEMBER_ALREADY = "not added: it says that it is a member already"
#: What mcaddnode prints, and what it means.
_SAID = {"NXDOMAIN": NO_NAME, "is in a cluster already": MEMBER_ALREADY}


def add(stage: Stage, node: str) -> str:
    """What becomes of `mcaddnode NODE` on the service node."""
    done = _mc(stage, "mcaddnode", node)
    if done.rc == 0:
        return ADDED
    return meaning(done, _SAID) or f"not added: {done.stderr.strip()}"


def take_out(stage: Stage, node: str) -> None:
    """Stop a member's daemon and delete it, until the scenario's undo."""
    stage.defer(lambda: put_back(stage, node))
    _mc(stage, "mcshutdown", "-w", node).must()
    _mc(stage, "mcdelnode", node).must()


def put_back(stage: Stage, node: str) -> None:
    """Have a node as the lab came up: a member, its daemon up, the filesystems mounted."""
    if node not in listed(stage):
        _mc(stage, "mcaddnode", node).must()
    _mc(stage, "mcstartup", "-w", node).must()
    _mc(stage, "mcmount", "all", "-w", node).must()


def listed(stage: Stage) -> list[str]:
    """The members by the service node's list."""
    return [row["node_name"] for row in _rows(stage, "mclsnode")]


def state(stage: Stage, node: str) -> str:
    """What `mcgetstate -w NODE` says on the service node."""
    return str(_rows(stage, "mcgetstate", "-w", node)[0]["state"])


def _rows(stage: Stage, *argv: str) -> list[dict[str, Any]]:
    return filesystems.rows(stage.lab, blocks.service_node(stage.lab), *argv)


def _mc(stage: Stage, *argv: str) -> Result:
    return filesystems.mc(stage.lab, blocks.service_node(stage.lab), *argv)
