"""Files written and read at full speed on many nodes at once, by fio, and the connections that carry it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Literal

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.process import run, run_all
from causeway.render.filesystems import BRICK_PORTS

Direction = Literal["write", "read"]
#: As applications on an I/O node do it: each call takes one block of a filesystem (Redpaper, maxblocksize=1024K).
_BLOCK = "1M"
_PATIENCE_S = 600


@dataclass(frozen=True)
class Job:
    """What one node does: a piece of a file, from `offset_mib` on."""

    node: str
    file: str
    offset_mib: int
    size_mib: int


@dataclass(frozen=True)
class Done:
    """All nodes' work together: what was carried, and what the node took that took longest."""

    mebibytes: int
    seconds: float

    @property
    def rate_mb(self) -> float:
        """In megabytes (10^6) a second."""
        return self.mebibytes * 2**20 / 1e6 / self.seconds


#: The ends of a client's connection to a brick, the client's first: addresses and ports.
Ends = tuple[tuple[IPv4Address, int], tuple[IPv4Address, int]]


def play(lab: Lab, jobs: Sequence[Job], direction: Direction) -> Done:
    """Do all jobs at the same time. What is written is on the servers in the end (fsync)."""
    results = run_all([lab.enter(job.node, _argv(job, direction)) for job in jobs], timeout_s=_PATIENCE_S, at_once=64)
    longest_ms = 0.0
    for job, result in zip(jobs, results, strict=True):
        done = json.loads(result.must()[result.stdout.index("{") :])["jobs"][0]
        if done["error"]:
            raise LabBroken(f"fio on {job.node}: error {done['error']}")
        part = done[direction]
        if part["io_bytes"] != job.size_mib * 2**20:
            raise LabBroken(f"fio on {job.node} did {part['io_bytes']} of {job.size_mib} MiB")
        longest_ms = max(longest_ms, done["job_runtime"])
    return Done(sum(job.size_mib for job in jobs), longest_ms / 1000)


def _argv(job: Job, direction: Direction) -> list[str]:
    place = [f"--filename={job.file}", f"--offset={job.offset_mib}m", f"--size={job.size_mib}m"]
    # else fio reads the processor's own clock, which knows nothing of the lab's
    clock = ["--clocksource=clock_gettime"]
    how = [
        "--ioengine=psync",
        f"--bs={_BLOCK}",
        f"--rw={direction}",
        "--fallocate=none",
        "--create_on_open=1",
        "--output-format=json",
    ]
    return ["fio", "--name=io", *clock, *place, *how, *(["--end_fsync=1"] if direction == "write" else [])]


def carried(lab: Lab, node: str, direction: Direction) -> dict[Ends, int]:
    """The bytes that each of a node's connections to bricks has carried so far, of all that it has mounted."""
    return parse_carried(run(lab.plug(node, ["ss", "-tinHO"])).must(), direction)


def parse_carried(text: str, direction: Direction) -> dict[Ends, int]:
    """Read `ss -tinHO`: the payload of established connections to the ports of bricks."""
    count = {"write": "bytes_acked", "read": "bytes_received"}[direction]
    found: dict[Ends, int] = {}
    for line in text.splitlines():
        fields = line.split()
        if fields[0] != "ESTAB":
            continue
        (here, port), (there, brick) = (field.rsplit(":", 1) for field in fields[3:5])
        if int(brick) in BRICK_PORTS:
            bytes_so_far = re.search(rf"\b{count}:(\d+)", line)
            ends = (IPv4Address(here), int(port)), (IPv4Address(there), int(brick))
            found[ends] = int(bytes_so_far[1]) if bytes_so_far else 0
    return found
