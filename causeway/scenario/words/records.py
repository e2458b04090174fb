"""A job that writes records, for scenarios: how long it waits, and whether what it was told is there."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from causeway.lab.probes import records
from causeway.process import Background
from causeway.scenario.stage import Stage
from causeway.scenario.words.transports import digest

#: Seconds between two records.
EVERY_S = 1.0
_PATIENCE_S = 300


@dataclass(frozen=True)
class Written:
    """When each record was begun and how long it took (seconds); and the error that ended the job, or ""."""

    calls: list[tuple[float, float]]
    error: str

    @property
    def longest_s(self) -> float:
        return max(took for _, took in self.calls)

    @property
    def digest(self) -> str:
        """The SHA-256 of what was said to be written."""
        found = sha256()
        for number in range(len(self.calls)):
            found.update(records.record(number))
        return found.hexdigest()


@dataclass(frozen=True)
class Writer:
    """A job that runs on a node."""

    started: Background

    @property
    def at_it(self) -> bool:
        """Whether it still writes."""
        return not self.started.ended()

    def written(self) -> Written:
        """What it did, when it is done."""
        said = json.loads(self.started.result(_PATIENCE_S).must())
        return Written([(at, took) for at, took in said["calls"]], said["error"])


@contextmanager
def writing(stage: Stage, node: str, file: str, count: int) -> Iterator[Writer]:
    """Have a node write so many records, one each second, beside what follows; at the end the file is gone."""
    program = Path(records.__file__).read_text()
    started = stage.lab.start_on(node, "python3", "-c", program, file, str(count), str(EVERY_S))
    try:
        yield Writer(started)
    finally:
        started.kill()
        stage.lab.on(node, "rm", "-f", file, timeout_s=_PATIENCE_S)


def judge_written(stage: Stage, title: str, reader: str, file: str, count: int, job: Written) -> None:
    """All was written without an error, and another node reads what was written."""
    stage.same(f"{title}: records, and errors", (count, ""), (len(job.calls), job.error))
    stage.holds(f"{title}: {reader} reads what was written", digest(stage, reader, file) == job.digest, job.digest[:16])
