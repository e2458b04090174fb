"""What a lesson's checks work with: a stage without an audience. They look at the lab, and say what is the case."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.scenario.stage import Stage

T = TypeVar("T")
_POLL_S = 0.2
#: What is seen where what is looked at is not there.
NOTHING = "nothing"


class Desk(Stage):
    """The words of scenarios take it as they take a stage; `same`, `holds` and `near` judge, one thing each."""

    def __init__(self, lab: Lab, name: str, seed: int) -> None:
        super().__init__(lab, random.Random(f"{seed} {name}"))

    def soon(self, what: str, due: T, probe: Callable[[], T], within_s: float, poll_s: float = _POLL_S) -> None:
        """What is seen is what is due, or becomes so by itself within some seconds after the last thing that was done.

        Where there is nothing to look at yet nobody waits for it. A look takes none of the lab's time, but it does of
        the machine's: one that starts many processes is for a longer `poll_s`.
        """
        end = time.monotonic() + within_s
        while True:
            try:
                seen = probe()
            except LabBroken:
                self.same(what, due, NOTHING)
                return
            if seen == due or time.monotonic() > end:
                self.same(what, due, seen)
                return
            time.sleep(poll_s)
