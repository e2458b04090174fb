"""Something that takes its time: it is said what goes on, and how long it took last time."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from causeway import folders, took
from causeway.cli.screen import tell


@contextmanager
def told(what: str, kept: str, key: str) -> Iterator[None]:
    """Say what goes on; seconds of wall time are kept in runs/KEPT.json by a key, of what came to its end alone."""
    file = folders.runs() / f"{kept}.json"
    last_s = took.known(file).get(key)
    tell(what if last_s is None else f"{what} ({last_s:.0f} s last time)")
    begun = monotonic()
    yield
    took.keep(file, took.known(file) | {key: round(monotonic() - begun, 2)})
