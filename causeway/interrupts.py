"""Ctrl-C, and SIGTERM as well: an exception for who can be stopped, and a note for who must come to an end first."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Never

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Noted:
    """Whether an interrupt came meanwhile."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self.came = True


def _raise(_number: int, _frame: FrameType | None) -> Never:
    raise KeyboardInterrupt


@contextmanager
def raised() -> Iterator[None]:
    """Meanwhile each of them raises KeyboardInterrupt, as Ctrl-C does by itself."""
    with _handled_by(_raise):
        yield


@contextmanager
def held() -> Iterator[Noted]:
    """Meanwhile they are noted and no more: what must come to its end does. KeyboardInterrupt is raised then."""
    noted = Noted()
    try:
        with _handled_by(noted):
            yield noted
    finally:
        if noted.came:
            raise KeyboardInterrupt


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    heard = [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]  # nohup's, for one, is not
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
