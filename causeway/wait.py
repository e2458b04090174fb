"""Wait for a named condition by polling it; never sleep and hope."""

import time
from collections.abc import Callable
from typing import TypeVar

from causeway.errors import LabBroken

T = TypeVar("T")


def until(
    condition: str,
    probe: Callable[[], T],
    *,
    deadline_s: float,
    poll_s: float = 0.1,
    enough: Callable[[T], object] | None = None,
    otherwise: type[Exception] = LabBroken,
) -> T:
    """Poll until what probe sees is enough, and return that.

    Without `enough` a probe tells what is still missing, and nothing ("", an empty list) is enough. When it is
    not within deadline_s, `otherwise` is raised with the condition's name, its deadline and what was seen last:
    LabBroken where a sound lab must get there, CheckFailed where that is the question. A probe that sees that
    the condition can never hold any more raises by itself, and nobody waits for the deadline.
    """
    end = time.monotonic() + deadline_s
    while True:
        seen = probe()
        if enough(seen) if enough is not None else not seen:
            return seen
        if time.monotonic() > end:
            raise otherwise(f"{condition}: not within {deadline_s:g} s; last: {seen}")
        time.sleep(poll_s)
