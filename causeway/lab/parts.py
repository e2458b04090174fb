"""The parts of a bring-up, one after the other: what each takes, and what it took last time."""

from collections.abc import Callable
from pathlib import Path

from causeway import took
from causeway.lab.clock import Watch


class Parts:
    """Times a bring-up's parts in seconds of wall time; what goes on is said with its part's time of the last one.

    The last one's times are in a file, which `keep` writes anew; without it nothing is said of them. Where all has to
    be as it was (`repeats`) nobody looks at such a file, or for it: that, too, moves a virtual clock.
    """

    def __init__(self, file: Path, say: Callable[[str], None], *, repeats: bool = False) -> None:
        self._file, self._say, self._repeats = file, say, repeats
        self._last: dict[str, float] = {} if repeats else took.known(file)
        self._watch = Watch()
        self._part = ""
        self.took_s: dict[str, float] = {}

    def begin(self, part: str) -> None:
        """End the part that goes on, and begin one."""
        self.end()
        self._part = part
        self.say("begins")

    def say(self, text: str) -> None:
        """Say what goes on in this part."""
        last_s = self._last.get(self._part)
        self._say(f"[{self._part}{'' if last_s is None else f', {last_s:.0f} s last time'}] {text}")

    def end(self) -> None:
        if self._part:
            self.took_s[self._part] = round(self._watch.wall_s - sum(self.took_s.values()), 2)
        self._part = ""

    def keep(self) -> None:
        """End the last part; from now on this bring-up is the last one."""
        self.end()
        if not self._repeats:
            took.keep(self._file, self.took_s)
