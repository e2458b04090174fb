"""A job that writes records, for scenarios: how long it waits, and whether what it was told is there."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from causeway.lab.filesystems import driver_of
from causeway.lab.filesystems.administrators import mc, place
from causeway.lab.probes import records
from causeway.process import Background
from causeway.scenario.stage import Stage
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.transports import digest, mount_anew
from causeway.wait import until

#: Seconds between two records.
EVERY_S = 1.0
_PATIENCE_S = 300
#: Until a server that was away is known to the others again, and to a client.
_TOGETHER_S = 60


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
        # a client that lacks servers cannot, until it has found them again
        remove = partial(stage.lab.on, node, "rm", "-f", file, timeout_s=_PATIENCE_S)
        until(f"{file} is gone", lambda: remove().stderr, deadline_s=_TOGETHER_S)


def judge_written(stage: Stage, title: str, reader: str, file: str, count: int, job: Written) -> None:
    """All was written without an error, and another node reads what was written."""
    stage.same(f"{title}: records, and errors", (count, ""), (len(job.calls), job.error))
    stage.holds(f"{title}: {reader} reads what was written", digest(stage, reader, file) == job.digest, job.digest[:16])


def patience(stage: Stage, filesystem: str, nodes: Sequence[str], seconds: int, usual: int) -> None:
    """Servers may be silent for so long, to clients that mount anew; until the scenario's end, and then as usual.

    Each server must know it before anybody mounts, for any of them may be asked: one that was away is waited for.
    """
    cluster, driver = stage.site.topology.filesystems[filesystem].owner, driver_of(stage.lab, filesystem)

    def have(value: int) -> None:
        together = partial(driver.together, stage.lab, filesystem)
        stage.until("the servers know each other", together, is_=True, within_s=_TOGETHER_S)
        mc(stage.lab, place(stage.lab, cluster), "mcchconfig", f"pingTimeout={value}").must()
        mount_anew(stage, filesystem, nodes)
        for node in nodes:
            whole = due_mounts(stage, node)
            stage.until(f"what {node} has mounted", partial(mounted, stage, node), is_=whole, within_s=_TOGETHER_S)

    stage.defer(lambda: have(usual), f"clients wait {usual} s for a silent server")
    have(seconds)
