"""Files on the parallel filesystem, for scenarios: written and read on many nodes, beside what was computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from causeway.lab import disks, filesystems
from causeway.lab.probes import fio
from causeway.lab.probes.connections import carried
from causeway.lab.probes.fio import Job
from causeway.model.site import Site
from causeway.plan.files import Share, bound_mb, share, spread
from causeway.plan.filesystems.spread import Direction, Spread
from causeway.report.result import Lines, Table
from causeway.scenario.stage import Stage

#: What TLS records, the calls' headers, and the start and end of short files may take of what the network gives.
TOLERANCE = 0.1
WHY = "records of TLS, headers of calls, and the start and end of files come on top"


@dataclass(frozen=True)
class Outcome:
    """What nodes did together, and what the network would have let through, in MB/s.

    `carried` are the bytes on the network for each byte of a file; `spread` what is due of that.
    """

    measured_mb: float
    bound_mb: float
    carried: float
    spread: Spread


@dataclass(frozen=True)
class Both:
    """Files written, and then read."""

    written: Outcome
    read: Outcome

    @property
    def ways(self) -> dict[Direction, Outcome]:
        return {"write": self.written, "read": self.read}


def enough_mib(site: Site, filesystem: str) -> int:
    """How much a client writes and reads for a file's ends, at which disks have nothing to do, to count little.

    As fast as memory: 32 MiB. Else what its disks write in two seconds, of which the ends are a twentieth.
    """
    disk = site.topology.filesystems[filesystem].disk
    written_mb_s = disk.write_mb / spread(site, filesystem, "write").stored if disk else 0
    return max(32, ceil(2 * written_mb_s * 1e6 / 2**20))


def both_ways(
    stage: Stage,
    filesystem: str,
    nodes: Sequence[str],
    *,
    size_mib: int,
    shared: bool,
    readers: int = 1,
    tasks: int = 1,
) -> Both:
    """Have nodes write at the same time, and then read what they wrote: a file each, or each its part of one file.

    So many readers on each node share what it reads: one alone waits for a disk and the network in turn. Or each
    node has several tasks, of which each writes and reads a file with its part.
    """
    at, own = stage.site.topology.filesystems[filesystem].mount_point, size_mib // tasks
    jobs = [
        Job(node, f"{at}/io.{'shared' if shared else node}{task or ''}", size_mib * i if shared else 0, own)
        for i, node in enumerate(nodes)
        for task in range(tasks)
    ]
    part = own // readers
    parts = [Job(j.node, j.file, j.offset_mib + n * part, part) for j in jobs for n in range(readers)]
    written = _measure(stage, filesystem, jobs, "write")
    return Both(written, _measure(stage, filesystem, parts, "read"))


def judge_files(stage: Stage, who: str, both: Both) -> None:
    """Both rates beside what the network lets through."""
    for what, outcome in both.ways.items():
        bound, rate = round(outcome.bound_mb, 1), round(outcome.measured_mb, 1)
        stage.near(f"{who}: {what}", bound, rate, "MB/s", within=TOLERANCE, why=WHY)


def judge_spread(stage: Stage, both: Both) -> None:
    """How much went over the network beside what the layout says."""
    for what, outcome in both.ways.items():
        due, seen = round(outcome.spread.carried, 3), round(outcome.carried, 3)
        stage.near(f"bytes on the network for each byte of a file: {what}", due, seen, "", within=0.05, why=WHY)


def show_files(stage: Stage, how: str, places: Sequence[str], outcomes: Sequence[Both], *, of: str = "clients") -> None:
    """Rates by the number of clients, or of something else, as a plot and as a table."""
    lines: dict[str, list[float]] = {}
    for what in ("write", "read"):
        lines[what] = [round(both.ways[what].measured_mb, 1) for both in outcomes]
        lines[f"{what} (expected)"] = [round(both.ways[what].bound_mb, 1) for both in outcomes]
    stage.show(Lines(f"Aggregate rate, {how}", of, list(places), "MB/s", lines))
    rows = [[place, *(str(values[i]) for values in lines.values())] for i, place in enumerate(places)]
    stage.show(Table(f"Aggregate rate in MB/s, {how}", [of, *lines], rows))


@dataclass(frozen=True)
class Work:
    """What nodes did together by their connections: the shares of each node's own, and all bytes on them."""

    done: fio.Done
    shares: dict[str, list[Share]]
    carried: int


def work(stage: Stage, filesystem: str, jobs: Sequence[Job], direction: Direction) -> Work:
    """Have nodes write or read at the same time, a job each."""
    daemons = filesystems.driver_of(stage.lab, filesystem).listening(stage.lab, filesystem)
    before = {job.node: carried(stage.lab, job.node, direction) for job in jobs}
    done = fio.play(stage.lab, jobs, direction)
    due = spread(stage.site, filesystem, direction)
    clients: dict[str, list[Share]] = {}
    total = 0
    for node in before:
        after = carried(stage.lab, node, direction)
        grown = {ends: count - before[node].get(ends, 0) for ends, count in after.items() if ends[1] in daemons}
        total += sum(grown.values())
        # the connections that the file's parts lie behind, where that is not all of them
        used = sorted(grown, key=lambda ends: -grown[ends])[: due.connections]
        clients[node] = [
            share(stage.site, filesystem, (node, own), (daemons[there], there), direction) for own, there in used
        ]
    return Work(done, clients, total)


def _measure(stage: Stage, filesystem: str, jobs: Sequence[Job], direction: Direction) -> Outcome:
    """Have nodes write, or read what they wrote, at the same time."""
    if direction == "read":
        disks.forget(stage.site)
    did = work(stage, filesystem, jobs, direction)
    per_byte = did.carried / (2**20 * sum(job.size_mib for job in jobs))
    due = spread(stage.site, filesystem, direction)
    return Outcome(did.done.rate_mb, bound_mb(stage.site, did.shares), per_byte, due)
