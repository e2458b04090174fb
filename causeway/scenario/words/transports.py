"""One filesystem by two networks, for scenarios: clients whose routes lead to its servers' gateways by either."""

from collections.abc import Mapping, Sequence
from functools import reduce

from causeway.lab.changes.change import Change
from causeway.lab.filesystems.administrators import mc
from causeway.lab.probes.fio import Job
from causeway.model.site import Site
from causeway.plan.files import done_s
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
