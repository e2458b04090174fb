"""A diskless node remembers what it was, for its /var is not on the node.

Claim: a node that was deleted while it was off cannot be added again, because its tree on the server that it boots from
still says that it is a member; once that tree is removed, the same command adds it.

Cause: a diskless node keeps nothing, so its /var is kept on its server by its address, and comes back at the next boot
whoever the node is by then.

Source: Redpaper, "Deleting a single ION": "no stale configuration information is left there".
"""

from dataclasses import dataclass

from causeway.lab.filesystems.administrators import cluster_name
from causeway.scenario.cast import Ask, Member
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import own_tree
from causeway.scenario.words.diskless import boot, how_booted, switch_off
from causeway.scenario.words.membership import ADDED, MEMBER_ALREADY, add, delete, listed, put_back, state

CLUSTER = "/var/mc/gen/cluster"


@dataclass(frozen=True)
class Cast:
    """A diskless node that is a member of a cluster, and the server that keeps its /var."""

    node: str
    server: str
    member: Member


def cast(ask: Ask) -> Cast:
    found = ask.diskless(1, platform="bluegene")
    (node,) = found.nodes
    return Cast(node, found.server, ask.member(node))


def play(stage: Stage, cast: Cast) -> None:
    lab, node, server = stage.lab, cast.node, cast.server
    tree = own_tree(stage, node)

    def start_clean() -> None:
        switch_off(stage, node)
        lab.on(server, "rm", "-rf", tree).must()
        boot(stage, [node])

    def names_of_cluster() -> str:
        """By what name and id the node's own /var says that it is a member, whatever has changed since."""
        return " ".join(lab.read(node, CLUSTER).split()[:4])

    def as_before() -> None:
        if not listed(stage, node):
            start_clean()
        put_back(stage, node)

    with stage.healthy(f"{node} is a member, its daemon is up, and it knows so by its own /var"):
        stage.same(f"mcgetstate -w {node}", "active", state(stage, node))
        member = names_of_cluster()
        stage.holds("it names its cluster", cluster_name(lab, cast.member.cluster) in member)

    with stage.perturb("the node is switched off, deleted, and its tree left; then it is booted again"):
        switch_off(stage, node)
        stage.defer(as_before)
        delete(stage, node)
        boot(stage, [node])

    with stage.judge(
        f"{cast.member.administrator} does not know {node}, which thinks that it is a member, and fails to start"
    ):
        stage.same(f"{node} is in the list of nodes", False, listed(stage, node))
        why = "a cluster's id is random"
        stage.same("the cluster that the node's own /var names", member, names_of_cluster(), why, repeats=False)
        stage.same("how its boot ended", ["up, but failed: S40fs S41fs_mount"], how_booted(stage, [node]))
        stage.same(f"mcaddnode {node}, tree left", MEMBER_ALREADY, add(stage, node))

    with stage.contrast(f"the node is switched off, {tree} removed, and the node booted: a clean start"):
        start_clean()
        stage.same(f"mcaddnode {node}, tree removed", ADDED, add(stage, node))

    with stage.restore(f"{node} is started, and a member like the others"):
        stage.same(f"mcgetstate -w {node}, afterwards", "active", state(stage, node))
