"""The container engine of a UML lab host, which must be quiet while something is measured."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from causeway.lab import clock

_PROCESSES = {"dockerd", "containerd", "containerd-shim"}


@contextmanager
def at_rest() -> Iterator[None]:
    """Stop the engine's processes for a while; the nodes go on.

    Their Go runtimes spin now and then (a collection of garbage, two minutes after the last, in two dozen
    processes at once). On a machine they would do so on another core; a virtual clock must let time pass
    for a spinning process, and links would lose up to 3 % of a measurement. Elsewhere nothing is stopped:
    a native lab host's engine is not ours.
    """
    stopped = _engine() if clock.is_uml() else []
    for pid in stopped:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def _engine() -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if (entry / "comm").read_text().strip() in _PROCESSES:
                    found.append(int(entry.name))
    return found
