"""Jobs that compute and write in turn, for scenarios: their computing is declared, their writing is real."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from causeway.scenario.stage import Stage

#: How many times a job computes, and then writes. TCP begins anew after each pause: some tenths of a second each time.
PHASES = 3
#: Its name, phases, seconds and bytes of each are arguments. What it has written is on the servers (fsync) before it
#: goes on; it prints how long it took.
_PROGRAM = """
import os, sys, time
name, phases, seconds, size = sys.argv[1], *map(float, sys.argv[2:])
begin, file, data = time.monotonic(), os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), bytes(2**20)
for _ in range(int(phases)):
    time.sleep(seconds)
    left = int(size)
    while left:
        left -= os.write(file, data[: min(left, len(data))])
    os.fsync(file)
os.close(file)
print(time.monotonic() - begin)
"""
_PATIENCE_S = 600


@dataclass(frozen=True)
class Job:
    """What a job takes: seconds of computing, and MB (10^6 bytes) that it writes."""

    name: str
    computes_s: float
    writes_mb: float

    def due_s(self, rate_mb: float) -> float:
        """How long it takes where it writes so many MB/s."""
        return self.computes_s + self.writes_mb / rate_mb


def timed(stage: Stage, filesystem: str, jobs: Mapping[str, Job]) -> dict[str, float]:
    """Nodes do a job each, all begun at once: the seconds that each took. Their files are gone at the end."""
    at, started = stage.site.topology.filesystems[filesystem].mount_point, {}
    with ExitStack() as stack:
        for node, job in jobs.items():
            file = f"{at}/job.{node}"
            words = (file, f"{PHASES}", f"{job.computes_s / PHASES}", f"{job.writes_mb * 1e6 / PHASES:.0f}")
            started[node] = stage.lab.start_on(node, "python3", "-c", _PROGRAM, *words)
            stack.callback(stage.lab.on, node, "rm", "-f", file)
            stack.callback(started[node].kill)
        return {node: float(one.result(_PATIENCE_S).must()) for node, one in started.items()}
