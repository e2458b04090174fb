"""Leases, for scenarios: who is expelled, after which time, and what a node's coming back is waited for with."""

import time
from collections.abc import Sequence

from causeway.lab import filesystems
from causeway.lab.filesystems.administrators import mc, member, place
from causeway.lab.lab import Lab
from causeway.model.site import Site
from causeway.scenario.stage import Stage
from causeway.scenario.words.membership import put_back, state, states
from causeway.scenario.words.mounts import due_mounts, mounted

ACTIVE, EXPELLED = "active", "expelled"
#: How often a lease is renewed within the time after which a peer is lost (nodes/mc/mc/leases.py).
RENEWALS = 5
#: How long mounts may take that come back by themselves.
_MOUNTS_S = 60


def limit_s(site: Site, nodes: Sequence[str]) -> int:
    """The longest time after which one of these nodes' clusters takes a peer for lost, in seconds."""
    clusters = {site.nodes[node].cluster or "" for node in nodes}
    return max(site.topology.clusters[cluster].failure_detection_s or 0 for cluster in clusters)


def due_s(limit: float) -> tuple[float, float]:
    """When a node is expelled at the earliest and the latest, in seconds from the moment at which it loses a peer.

    A peer was heard last up to a renewal's time before that, complains with his next renewal, and the node is told with
    its own next one, and asked a while later.
    """
    every = limit / RENEWALS
    return limit - every, limit + 3 * every


def joined_last(stage: Stage, node: str) -> None:
    """Have a node's daemons started anew, so that it is the last that has taken a lease."""
    stage.defer(lambda: comes_back(stage, node), f"{node} is expelled, or has not all mounted")
    mc(
        stage.lab, place(stage.lab, stage.site.nodes[node].cluster or ""), "mcshutdown", "-w", member(stage.lab, node)
    ).must()
    put_back(stage, node)


def goes(stage: Stage, node: str, limit: float) -> float:
    """Wait until a node has lost its mounts; returns the seconds that it took."""
    began = time.monotonic()
    stage.until(f"{node} loses its mounts", lambda: has(stage, node), is_=[], within_s=2 * limit, poll_s=1)
    return time.monotonic() - began


def comes_back(stage: Stage, node: str, missing: str = "") -> None:
    """Wait until a node has mounted what it is due to have, but for one server (`missing`), and is active."""
    due = {name: servers(stage, name, missing) for name in due_mounts(stage, node)}
    limit = 2 * limit_s(stage.site, stage.site.hosts()) + _MOUNTS_S
    stage.until(f"{node} mounts again", lambda: has(stage, node), is_=sorted(due), within_s=limit, poll_s=1)
    stage.until(f"{node} has all servers", lambda: mounted(stage, node), is_=due, within_s=_MOUNTS_S, poll_s=1)
    stage.same(f"{node}'s daemon", ACTIVE, state(stage, node))


def has(stage: Stage, node: str) -> list[str]:
    """What a node has mounted, by its kernel: cheap enough to be asked again and again."""
    return sorted(name for name, nodes in filesystems.mounted(stage.lab).items() if node in nodes)


def set_subnets(lab: Lab, cluster: str, subnets: str) -> None:
    """Say by which networks a cluster's nodes talk; DEFAULT: by the addresses that the cluster knows."""
    mc(lab, place(lab, cluster), "mcchconfig", f"subnets={subnets}").must()


def servers(stage: Stage, filesystem: str, missing: str) -> str:
    """How many servers of a filesystem answer, without one: "2 of 3"."""
    there = stage.site.servers(filesystem)
    return f"{len(there) - (missing in there)} of {len(there)}"


def not_active(stage: Stage) -> dict[str, str]:
    """The hosts of clusters that expel whose daemon is anything but active, and what it is."""
    found: dict[str, str] = {}
    for cluster, about in stage.site.topology.clusters.items():
        members = [host for host in stage.site.members(cluster) if host in stage.site.hosts()]
        if about.failure_detection_s is not None:
            found |= states(stage, members)
    return {node: said for node, said in found.items() if said != ACTIVE}
