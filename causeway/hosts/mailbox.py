"""How the launcher and the agent in a UML lab host talk: one folder a job, on the shared folder.

    jobs/ID/request   JSON: argv; terminal (a device of the lab host) for an interactive job; seen, how its output is
    jobs/ID/begun     made by the agent: it is at it
    jobs/ID/out, err  what the job printed so far
    jobs/ID/cancel    made by the outside: interrupt the job
    jobs/ID/size      "ROWS COLUMNS" of the terminal, rewritten when it changes
    jobs/ID/rc        the exit code, when it has ended
    rest              made by the outside: be at rest, so that the lab can be cloned
    template          made by the outside: be at rest as soon as no job is left
    chance            bytes that the random numbers depend on from the end of the rest
    date              seconds since 1970: what the clock shows from the end of the rest on
    poweroff          made by the outside: end when no job is left

Plain files, because reading and writing them (hostfs) takes no virtual time and wakes nobody: a device
that answers later would let the virtual clock leap while the answer is waited for.
"""

import json
import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

POLL_S = 0.02
#: In a job's environment, how what it prints is seen: the terminal's columns, `colours` or `plain`, and those of `out`
#: and `err` that a terminal shows. In one word of our own: nodes' programs inherit it, and some heed COLUMNS.
SEEN = "CAUSEWAY_SEEN"


@dataclass(frozen=True)
class Job:
    """A job's folder."""

    folder: Path

    @property
    def rc(self) -> int | None:
        try:
            return int((self.folder / "rc").read_text())
        except (FileNotFoundError, ValueError):
            return None

    @property
    def begun(self) -> bool:
        return (self.folder / "begun").exists()

    @property
    def argv(self) -> list[str]:
        return list(self._request["argv"])

    @property
    def terminal(self) -> str | None:
        """The device of the lab host that it is on."""
        found = self._request["terminal"]
        return None if found is None else str(found)

    @property
    def _request(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "request").read_text()))

    def cancel(self) -> None:
        (self.folder / "cancel").touch()

    def size(self, rows: int, columns: int) -> None:
        put(self.folder / "size", f"{rows} {columns}")


def put(file: Path, text: str) -> None:
    """Write a file so that a reader sees all of it or none."""
    temporary = file.with_name(f".{file.name}")
    temporary.write_text(text)
    os.replace(temporary, file)


def submit(share: Path, argv: list[str], terminal: str | None = None) -> Job:
    """Hand a job to the agent."""
    jobs = share / "jobs"
    name = f"{time.time_ns():020d}-{uuid4().hex[:6]}"
    folder = jobs / f".{name}"
    folder.mkdir(parents=True)
    (folder / "request").write_text(json.dumps({"argv": argv, "terminal": terminal, "seen": _seen()}))
    (folder / "out").touch()
    (folder / "err").touch()
    folder.rename(jobs / name)
    return Job(jobs / name)


def _seen() -> str:
    """How what this process prints is seen: 80 columns where there is no terminal, plain where NO_COLOR says so."""
    knows = os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
    styled = [name for name, stream in (("out", sys.stdout), ("err", sys.stderr)) if knows and stream.isatty()]
    colours = "plain" if os.environ.get("NO_COLOR") else "colours"
    return " ".join([str(shutil.get_terminal_size().columns), colours, *styled])


def jobs(share: Path) -> list[Job]:
    """Every job that was handed in, the first one first."""
    return [Job(folder) for folder in sorted((share / "jobs").iterdir()) if not folder.name.startswith(".")]


class Tail:
    """Passes on what is added to a job's output files."""

    def __init__(self, job: Job) -> None:
        self._streams = [
            ((job.folder / "out").open("rb"), sys.stdout.buffer),
            ((job.folder / "err").open("rb"), sys.stderr.buffer),
        ]

    def copy(self) -> None:
        for source, sink in self._streams:
            if added := source.read():
                sink.write(added)
                sink.flush()
