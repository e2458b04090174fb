"""Wait for a named condition by polling it; never sleep and hope."""

import time
from collections.abc import Callable

from causeway.errors import LabBroken


def until(condition: str, probe: Callable[[], str], *, deadline_s: float, poll_s: float = 0.1) -> None:
    """Poll until probe returns "" (it holds); else it returns what it last saw instead.

    Raises LabBroken with the condition's name, its deadline and the last value. A probe that sees that
    the condition can never hold any more raises LabBroken itself, and nobody waits for the deadline.
    """
    end = time.monotonic() + deadline_s
    while seen := probe():
        if time.monotonic() > end:
            raise LabBroken(f"{condition}: not within {deadline_s} s; last: {seen}")
        time.sleep(poll_s)
