"""Files on the parallel filesystem, for scenarios: written and read on many nodes, beside what was computed."""

from collections.abc import Sequence
from dataclasses import dataclass

from causeway.lab import fio
from causeway.lab.fio import Direction, Ends, Job
from causeway.plan.streams import StreamEnds
from causeway.plan.striping import Share, bound_mb
from causeway.scenario.stage import Stage

#: What a connection must carry to count as one of the filesystem that is measured, in bytes.
_TELLING = 1_000_000


@dataclass(frozen=True)
class Outcome:
    """What nodes did together, and what the network would have let through, in MB/s."""

    measured_mb: float
    bound_mb: float


def measure(
    stage: Stage, mount_point: str, nodes: Sequence[str], direction: Direction, *, size_mib: int, shared: bool
) -> Outcome:
    """Have nodes write, or read what they wrote, at the same time; in a file each, or each its part of one file."""
    jobs = [
        Job(node, f"{mount_point}/io.{'shared' if shared else node}", size_mib * i if shared else 0, size_mib)
        for i, node in enumerate(nodes)
    ]
    before = {node: fio.carried(stage.lab, node, direction) for node in nodes}
    done = fio.play(stage.lab, jobs, direction)
    clients = {}
    for node in nodes:
        after = fio.carried(stage.lab, node, direction)
        grown = {ends: count - before[node][ends] for ends, count in after.items() if ends in before[node]}
        clients[node] = [
            Share(_data_way(stage, node, ends, direction), count / (size_mib * 2**20))
            for ends, count in grown.items()
            if count >= _TELLING
        ]
    return Outcome(done.rate_mb, bound_mb(stage.site, clients))


def _data_way(stage: Stage, node: str, ends: Ends, direction: Direction) -> StreamEnds:
    """A client's connection in the direction of the data."""
    own, brick = ends
    label = f"{node}>{brick[0]}"
    if direction == "write":
        return StreamEnds(label, node, own, brick)
    nodes = stage.site.nodes.items()
    server = next(n for n, about in nodes if any(leg.address == brick[0] for leg in about.interfaces.values()))
    return StreamEnds(label, server, brick, own)
