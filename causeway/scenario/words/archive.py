"""Files that sessions move between a filesystem and an archive, for scenarios: each by its node's one link to that."""

from collections.abc import Sequence
from math import ceil

from causeway.lab import disks
from causeway.lab.probes.sessions import Session, Way, move, serving
from causeway.model.thing import Port
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.scenario.cast import Archive
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import File, Placed

#: How long a session's file takes on its link (seconds), and the part of all sessions that 1 GB/s is of nine with a
#: Gigabit link each (LLNL, milestone 464).
_SECONDS, _REQUIRED = 10.0, 1000 / (9 * 117.685)
TOLERANCE = 0.05
WHY = "a session waits for its file's last block on the disk, and files of a filesystem have calls of their own"


def link_mb(stage: Stage, cast: Archive) -> float:
    """What a client's link to the archive carries, in MB/s."""
    site, mover = stage.site, cast.movers[0]
    (port,) = (Port(mover, d) for d, leg in site.nodes[mover].interfaces.items() if leg.network == cast.network)
    return tcp_goodput_mbit(site.sends_mbit(port), site.mtu(port)) / 8


def required_mb(stage: Stage, cast: Archive) -> float:
    """In MB/s: as large a part of what all sessions carry as 1 GB/s is of nine Gigabit links."""
    return _REQUIRED * len(cast.movers) * link_mb(stage, cast)


def least_sessions(stage: Stage, cast: Archive) -> int:
    """How many links carry that."""
    return ceil(required_mb(stage, cast) / link_mb(stage, cast))


def sessions(stage: Stage, cast: Archive, placed: Placed, movers: Sequence[str], way: Way) -> list[float]:
    """A session of each client with the archive's nodes in turn, all at once; MB/s of each."""
    mib = round(_SECONDS * link_mb(stage, cast) * 1e6 / 2**20)
    addresses = [stage.site.address(node, cast.network) for node in cast.archive]
    servers = dict(zip(cast.movers, cast.servers, strict=False))
    if way == "put":
        disks.forget(stage.site)
    those = [
        Session(mover, addresses[place % len(addresses)], placed.names[File(mover, servers[mover])], mib)
        for place, mover in enumerate(movers)
    ]
    with serving(stage.lab, cast.archive):
        return move(stage.lab, those, way)


def judge_sessions(stage: Stage, title: str, due_mb: float, seen_mb: float) -> None:
    stage.near(title, round(due_mb, 1), round(seen_mb, 1), "MB/s", within=TOLERANCE, why=WHY)
