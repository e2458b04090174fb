"""One filesystem by two networks, for scenarios: clients whose routes lead to its servers' gateways by either."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from causeway.lab import disks
from causeway.lab.changes.change import Change
from causeway.lab.filesystems.administrators import mc
from causeway.lab.probes.fio import Job
from causeway.model.site import Site
from causeway.plan.files import bound_mb, done_s
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.paths import by_network
from causeway.scenario.cast import Gateways, Transports
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import work
from causeway.scenario.words.routes import rerouted

#: Seconds that reads should take.
_SECONDS = 2


def moved(stage: Stage, nodes: Sequence[str], network: str) -> tuple[Change, Site]:
    """Nodes reach gateways by their addresses in another network; and the site as it is then."""
    site = reduce(lambda changed, node: by_network(changed, node, network), nodes, stage.site)
    return rerouted(stage, site, f"{' and '.join(nodes)} go by {network}"), site


def mount_anew(stage: Stage, filesystem: str, nodes: Sequence[str]) -> None:
    """Have nodes make new connections, from their addresses in the network that they go by now."""
    for node in nodes:
        mc(stage.lab, node, "mcumount", filesystem).must()
        mc(stage.lab, node, "mcmount", filesystem).must()


def megabytes(mbit: float) -> int:
    """A size in MiB that so many Mbit/s carry in a few seconds."""
    return max(8, round(mbit / 8 * _SECONDS * 1e6 / 2**20))


def read_at_once(stage: Stage, ways: Transports | Gateways, sizes: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    """Each client reads its own file, all at the same time; MB/s of each, due and seen, while it has something to read.

    `sizes` are MiB.
    """
    at = stage.site.topology.filesystems[ways.filesystem].mount_point
    jobs = [Job(node, f"{at}/io.{node}", 0, size) for node, size in sizes.items()]
    did = work(stage, ways.filesystem, jobs, "read")
    sizes_mb = {node: size * 2**20 / 1e6 for node, size in sizes.items()}
    due = done_s(stage.site, did.shares, sizes_mb)
    return {
        job.node: (sizes_mb[job.node] / due[job.node], seen) for job, seen in zip(jobs, did.done.each_mb, strict=True)
    }


def write_each(stage: Stage, ways: Transports | Gateways, sizes: Mapping[str, int]) -> None:
    """Each client writes the file that it will read."""
    at = stage.site.topology.filesystems[ways.filesystem].mount_point
    work(stage, ways.filesystem, [Job(node, f"{at}/io.{node}", 0, size) for node, size in sizes.items()], "write")


def digest(stage: Stage, node: str, file: str) -> str:
    """The SHA-256 of a file, as a node reads it."""
    return stage.lab.on(node, "sha256sum", file).must().split()[0]


@dataclass(frozen=True)
class Both:
    """What processes wrote and read together, MB/s, due and seen."""

    due: dict[Direction, float]
    seen: dict[Direction, float]


def by_processes(stage: Stage, ways: Transports, nodes: Sequence[str], processes: int, size_mib: int) -> Both:
    """So many processes on each node write a file each, all at once, and then read it; a node's are of that size."""
    at, part = stage.site.topology.filesystems[ways.filesystem].mount_point, max(1, size_mib // processes)
    jobs = [Job(node, f"{at}/io.{node}.{n}", 0, part) for node in nodes for n in range(processes)]
    due, seen = dict[Direction, float](), dict[Direction, float]()
    for way in DIRECTIONS:
        disks.forget(stage.site)
        did = work(stage, ways.filesystem, jobs, way)
        due[way], seen[way] = bound_mb(stage.site, did.shares), did.done.rate_mb
    for node in nodes:
        stage.lab.on(node, "sh", "-c", f"rm -f {at}/io.{node}.*").must()
    return Both(due, seen)
