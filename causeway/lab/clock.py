"""The lab host's two times: what passed in the lab (virtual), and what passed on the wall."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

#: Parameters of the lab kernel (images/kernel, the patch that paces idle time).
_PARAMETERS = Path("/sys/module/time/parameters")
#: CLOCK_MONOTONIC_COARSE of clock_gettime(2), which goes by the tick; Python has no name for it.
_MONOTONIC_COARSE = 6


def is_uml() -> bool:
    """Whether this process is in a lab host of its own, whose init says so. (A machine that is itself User-Mode Linux,
    in its own plain clock, is a native lab host.)"""
    return os.environ.get("CAUSEWAY_LAB_HOST") == "uml"


def virtual_s() -> float:
    """Seconds on the clock that everything in the lab sees."""
    return time.monotonic()


def wall_s() -> float:
    """Seconds on the machine's own clock."""
    if is_uml():
        return int((_PARAMETERS / "host_ns").read_text()) / 1e9
    return time.monotonic()


def tick_s() -> float:
    """How far apart the kernel's timer ticks are: by so much, too, its coarse timers may be late (1 / CONFIG_HZ)."""
    return time.clock_getres(_MONOTONIC_COARSE)


def pace() -> None:
    """From now on idle time passes as on the wall. Bring-up runs before this, so its waits cost nothing."""
    (_PARAMETERS / "paced").write_text("1")


def paced() -> bool:
    return is_uml() and (_PARAMETERS / "paced").read_text().strip() == "Y"


def lag_s() -> float:
    """Seconds by which a paced lab has fallen behind the wall (slow motion under load)."""
    return int((_PARAMETERS / "pace_lag_ns").read_text()) / 1e9


def name() -> str:
    """The clock's name: virtual, paced or real."""
    if not is_uml():
        return "real"
    return "paced" if paced() else "virtual"


@dataclass
class Watch:
    """Measures both times from when it was made."""

    def __post_init__(self) -> None:
        self._wall, self._virtual = wall_s(), virtual_s()

    @property
    def wall_s(self) -> float:
        return wall_s() - self._wall

    @property
    def virtual_s(self) -> float:
        return virtual_s() - self._virtual
