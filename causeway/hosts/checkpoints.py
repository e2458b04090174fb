"""A lab and its checkpoints: clones of it at rest, each a moment to which it can go back."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from causeway.errors import BadInput
from causeway.hosts import memory
from causeway.hosts.guests import Guest

#: What a launcher does for who asks; each takes the name of a checkpoint, but for the list.
MAKE, BACK, DROP, LIST = "checkpoint", "back", "drop", "checkpoints"


@dataclass(frozen=True)
class Checkpoint:
    """A moment of the lab, kept."""

    guest: Guest
    made: datetime


class Checkpoints:
    """The guest that is the lab now, of which others tell by `now` and `pid`, and those at rest."""

    def __init__(self, folder: Path, lab: Guest, terminals: list[str], numbers: Iterator[int]) -> None:
        self.lab = lab
        self._folder = folder
        self._terminals = terminals
        self._kept: dict[str, Checkpoint] = {}
        self._numbers = numbers  # of guests to come, the launcher's: several labs may be clones of one guest
        self._show()

    def do(self, what: str, words: list[str]) -> Any:
        """What somebody asks for; returns what there is to say of it. BadInput, LabBroken: the lab is as it was."""
        doers: dict[str, Callable[..., Any]] = {MAKE: self._make, BACK: self._back, DROP: self._drop, LIST: self._list}
        if what not in doers:
            raise BadInput(f"this lab was brought up by another version, which knows no {what}")
        return doers[what](*words)

    def end(self) -> int:
        """Kill all of them; returns the lab's exit code."""
        for one in self._kept.values():
            one.guest.end()
        return self.lab.end()

    def _make(self, name: str) -> Any:
        if name in self._kept:
            raise BadInput(f"there is a checkpoint {name} already; `causeway checkpoints --drop {name}` removes it")
        if busy := self.lab.under_way():
            raise BadInput(f"`causeway {busy[0]}` is under way in the lab; wait until it has ended, or interrupt it")
        memory.for_a_clone(memory.taken_mib(self.lab.process))
        begun = time.monotonic()
        self.lab.come_to_rest()
        try:
            self._kept[name] = Checkpoint(self._clone(self.lab), datetime.now(UTC))
        finally:
            self.lab.go_on()
        return self._about(name) | {"took_s": time.monotonic() - begun}

    def _back(self, name: str) -> Any:
        one = self._find(name)
        memory.for_a_clone(memory.taken_mib(one.guest.process))
        begun = time.monotonic()
        before, self.lab = self.lab, self._clone(one.guest)
        self._show()
        cut_off = before.under_way()
        before.kill()  # both have the same serial lines
        self.lab.go_on()
        took_s = time.monotonic() - begun
        before.end()
        return self._about(name) | {"took_s": took_s, "cut_off": cut_off}

    def _drop(self, name: str) -> Any:
        self._find(name).guest.end()
        del self._kept[name]
        return self._list()

    def _list(self) -> Any:
        return [self._about(name) for name in self._kept]

    def _find(self, name: str) -> Checkpoint:
        if name not in self._kept:
            raise BadInput(f"there is no checkpoint {name}; there are: {', '.join(self._kept) or 'none'}")
        return self._kept[name]

    def _about(self, name: str) -> dict[str, Any]:
        one = self._kept[name]
        return {
            "name": name,
            "made": one.made.isoformat(timespec="seconds"),
            "memory_mib": memory.taken_mib(one.guest.process),
        }

    def _clone(self, guest: Guest) -> Guest:
        return guest.clone(guest.folder.with_name(str(next(self._numbers))), self._terminals)

    def _show(self) -> None:
        """Whose folder and process the lab's are now."""
        link = self._folder / ".now"
        link.unlink(missing_ok=True)
        link.symlink_to(self.lab.folder)
        os.replace(link, self._folder / "now")
        (self._folder / "pid").write_text(f"{self.lab.pid}\n")
