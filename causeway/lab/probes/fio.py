"""Files written and read at full speed on many nodes at once, by fio."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.plan.filesystems.spread import Direction
from causeway.process import run_all

#: As applications on an I/O node do it: each call takes one block of a filesystem (Redpaper, maxblocksize=1024K).
_BLOCK = "1M"
_PATIENCE_S = 600
#: Within how many seconds all are started, beside some for each; and what waits then for a moment of the lab's uptime,
#: in hundredths of one.
_STARTED_S, _EACH_S = 1.0, 0.02
_WAIT = (
    "read now _ </proc/uptime; left=$(($0 - ${now%.*}${now#*.}));"
    ' [ $left -ge 0 ] || { echo "started $((-left)) hundredths of a second after all were to begin" >&2; exit 1; };'
    ' sleep $((left / 100)).$(printf %02d $((left % 100))); exec "$@"'
)


@dataclass(frozen=True)
class Job:
    """What one node does: a piece of a file, from `offset_mib` on."""

    node: str
    file: str
    offset_mib: int
    size_mib: int


@dataclass(frozen=True)
class DiskJob(Job):
    """A piece of a network disk (NBD), whose `file` is its address: so many requests of a size at once.

    It begins `late_s` after the others.
    """

    block_kib: int
    depth: int
    late_s: float = 0.0


@dataclass(frozen=True)
class Done:
    """All nodes' work together: what was carried, and what the node took that took longest; and each job's MB/s.

    `ended_s` are the seconds from when the first began to each one's end. Who finds its file later than others, since
    its question waits behind what they write already, had its MB/s in a shorter time than that.
    """

    mebibytes: int
    seconds: float
    each_mb: tuple[float, ...]
    ended_s: tuple[float, ...]

    @property
    def rate_mb(self) -> float:
        """In megabytes (10^6) a second."""
        return self.mebibytes * 2**20 / 1e6 / self.seconds


def play(lab: Lab, jobs: Sequence[Job], direction: Direction) -> Done:
    """Do all jobs at the same time. What is written is on the servers in the end (fsync).

    They are started one after the other, and begin at one moment of the lab's clock.
    """
    moment = time.clock_gettime(time.CLOCK_BOOTTIME) + _STARTED_S + _EACH_S * len(jobs)
    wait = ["sh", "-c", _WAIT, str(round(100 * moment))]
    works = [_disk_argv(job, direction) if isinstance(job, DiskJob) else _argv(job, direction) for job in jobs]
    argvs = [lab.enter(job.node, [*wait, *argv]) for job, argv in zip(jobs, works, strict=True)]
    results = run_all(argvs, timeout_s=_PATIENCE_S, at_once=len(argvs))
    begun_ms: list[float] = []
    took_ms: list[float] = []
    for job, result in zip(jobs, results, strict=True):
        done = json.loads(result.must()[result.stdout.index("{") :])["jobs"][0]
        if done["error"]:
            raise LabBroken(f"fio on {job.node}: error {done['error']}")
        part = done[direction]
        if part["io_bytes"] != job.size_mib * 2**20:
            raise LabBroken(f"fio on {job.node} did {part['io_bytes']} of {job.size_mib} MiB")
        begun_ms.append(done["job_start"])
        took_ms.append(done["job_runtime"])
    ended_s = tuple((begun - min(begun_ms) + took) / 1000 for begun, took in zip(begun_ms, took_ms, strict=True))
    each = tuple(job.size_mib * 2**20 / 1e3 / ms for job, ms in zip(jobs, took_ms, strict=True))
    return Done(sum(job.size_mib for job in jobs), max(took_ms) / 1000, each, ended_s)


def _argv(job: Job, direction: Direction) -> list[str]:
    how = ["--ioengine=psync", f"--bs={_BLOCK}", "--fallocate=none", "--create_on_open=1"]
    how += ["--end_fsync=1"] if direction == "write" else []
    return [*_begin(job, direction), f"--filename={job.file}", *how]


def _disk_argv(job: DiskJob, direction: Direction) -> list[str]:
    how = ["--ioengine=nbd", f"--uri={job.file}", f"--bs={job.block_kib}k", f"--iodepth={job.depth}"]
    late = ["sh", "-c", f'sleep {job.late_s:.4f}; exec "$@"', "late"] if job.late_s else []
    return [*late, *_begin(job, direction), *how]


def _begin(job: Job, direction: Direction) -> list[str]:
    # else fio reads the processor's own clock, which knows nothing of the lab's, and looks through all of /sys for the
    # disk that the file is on, by nine thousand calls
    how = ["--clocksource=clock_gettime", "--disk_util=0", "--output-format=json"]
    return ["fio", "--name=io", *how, f"--rw={direction}", f"--offset={job.offset_mib}m", f"--size={job.size_mib}m"]
