"""A lab as its launcher has it: the guest that it is, its checkpoints, its serial lines, and where it is asked."""

import fcntl
import os
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from causeway.errors import BadInput
from causeway.hosts import asking
from causeway.hosts.checkpoints import Checkpoints
from causeway.hosts.guests import Guest

SERIAL_LINES = 4
#: What is in the folder of a lab or a template (a lesson's notes, too).
_OURS = re.compile(
    r"about\.json|console|guests|keep|kernel\.json|lab-\d+|launcher|launcher\.sock|\.?lesson\.json|lock|\.?now|pid"
)
#: How many labs of one template may be up at once: the jail knows all terminals from the start.
MOST_LABS = 8


class Lines:
    """The other ends of a guest's serial lines, each a terminal, and who has which."""

    def __init__(self) -> None:
        ends = [os.openpty() for _ in range(SERIAL_LINES)]
        self._ours = [ours for ours, _ in ends]
        #: The lab host's side, kept open: a line must not hang up between two shells.
        self.slaves = [slave for _, slave in ends]
        self.paths = [os.ttyname(slave) for slave in self.slaves]
        self.of_a_lab = False
        self._lent: dict[socket.socket, int] = {}

    def lend(self, client: socket.socket) -> bool:
        """Send a free line's number and our side of its terminal; False when all are lent."""
        free = sorted(set(range(SERIAL_LINES)) - set(self._lent.values()))
        if not free:
            return False
        socket.send_fds(client, [f"ttyS{free[0]}".encode()], [self._ours[free[0]]])
        self._lent[client] = free[0]
        return True

    def has_back(self, client: socket.socket) -> None:
        """A shell has closed: its line is free again."""
        del self._lent[client]


class Lab:
    """A lab, from its guest's start on, or from when it was cloned, at rest, of a template."""

    def __init__(self, folder: Path, guest: Guest, lines: Lines, terminals: list[str], numbers: Iterator[int]) -> None:
        self.folder = folder
        self.kept = Checkpoints(folder, guest, terminals, numbers)
        self.lines = lines
        self.listener = asking.listen(folder)
        #: By its end whoever has asked for the lab is known to be gone, and the lab goes, too; None: it is nobody's.
        self.owner: socket.socket | int | None = None
        #: Whoever has asked for it is gone, so nobody looks at what it leaves.
        self.orphaned = False
        self.pidfd = -1
        self._lock = -1
        lines.of_a_lab = True

    @classmethod
    def of_a_template(
        cls,
        folder: Path,
        about: str,
        console: Path,
        guest: Guest,
        lines: Lines,
        all_: list[str],
        numbers: Iterator[int],
    ) -> "Lab":
        """A lab with a folder of its own, which nobody sees half made. BadInput where one of its name is up."""
        new = console.with_name(f"lab-{guest.folder.name}")
        new.mkdir(mode=0o700)
        (new / "about.json").write_text(about)
        (new / "launcher").write_text(f"{os.getpid()}\n")
        os.link(console, new / "console")
        lock = os.open(new / "lock", os.O_RDONLY | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder, ignore_errors=True)  # what a killed one has left
        new.rename(folder)
        lab = cls(folder, guest, lines, all_, numbers)
        lab._lock = lock
        return lab

    def end(self) -> int:
        """Kill all guests of it; returns the lab's exit code. Who waits for its end still does."""
        self.listener.close()
        self.lines.of_a_lab = False
        return self.kept.end()

    def let_go(self) -> None:
        """Its end may be seen; what nobody will look at is removed first."""
        if self.orphaned:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)


def is_ours(folder: Path) -> bool:
    """Whether nothing is in a folder but what a lab's has: one that is up, half made, or half removed."""
    try:
        return not folder.is_symlink() and all(_OURS.fullmatch(entry.name) for entry in folder.iterdir())
    except OSError:
        return False


def refuse_a_second(folder: Path) -> None:
    """BadInput where a lab of this folder is up, or the folder is somebody else's."""
    try:
        with (folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadInput(f"{folder.name} is up already; `causeway down {folder.name}` ends it") from None
    except (FileNotFoundError, NotADirectoryError):
        pass
    if os.path.lexists(folder) and not is_ours(folder):
        raise BadInput(f"{folder} is in the way of the lab {folder.name}, and not Causeway's; move it away")
