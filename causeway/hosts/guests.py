"""The guests of a launcher: the kernel that it has started, and clones of that, made while it was at rest.

A guest is a process of the machine's with a folder of its own:

    share/   what the guest sees as /share: the mailbox, docker.img, the user's files
    uml/     the kernel's own folder
"""

import os
import shutil
import signal
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from causeway.errors import BadInput, LabBroken
from causeway.hosts import mailbox

#: How long a guest may take to come to rest: its agent looks every 20 ms of its own time, which load stretches.
_REST_S = 60


def make_folder(folder: Path) -> None:
    """What a guest's folder has from the start. It is nobody else's: the lab's private keys are in its docker.img."""
    folder.mkdir(mode=0o700, parents=True)
    (folder / "share" / "jobs").mkdir(parents=True)
    (folder / "uml").mkdir()


def ear() -> tuple[socket.socket, socket.socket]:
    """Where a guest is talked to while it is at rest: our end, and that which its kernel holds."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


@dataclass(frozen=True)
class Guest:
    """A kernel that runs, or is at rest."""

    folder: Path
    pid: int
    ear: socket.socket

    @property
    def share(self) -> Path:
        return self.folder / "share"

    @property
    def process(self) -> Path:
        return Path("/proc") / str(self.pid)

    def come_to_rest(self) -> None:
        """Have it stop where it is, until it is to go on. LabBroken where it does not."""
        wanted = self.share / "rest"
        wanted.touch()
        self.ear.settimeout(_REST_S)
        try:
            said = self._hear()
        except TimeoutError:
            try:
                wanted.unlink()
            except FileNotFoundError:  # its agent has just seen that
                said = self._hear()
            else:
                raise LabBroken(f"the lab did not come to rest within {_REST_S} s") from None
        if said != "resting":
            raise LabBroken("the lab's kernel has ended")

    def is_at_rest(self) -> None:
        """Wait until it is, as its agent was told beforehand (see `mailbox`: template). LabBroken where it is not."""
        self.ear.settimeout(_REST_S)
        try:
            said = self._hear()
        except TimeoutError:
            raise LabBroken(f"the lab did not come to rest within {_REST_S} s") from None
        if said != "resting":
            raise LabBroken("the lab's kernel has ended")

    def clone(self, folder: Path, terminals: Iterable[str], instead: Iterable[tuple[str, str]] = ()) -> "Guest":
        """One more guest, at rest as this one is; it opens the same serial lines, so only one of both may go on.

        But for those that it has `instead` (path, other path). BadInput where there is no room, or something is under
        way that cannot be had twice; nothing is left then.
        """
        make_folder(folder)
        ours, its = ear()
        try:
            # docker.img is copied by the kernel, which knows the moment
            for place in self.share.iterdir():
                if place.name not in ("jobs", "docker.img"):
                    _copy(place, folder / "share" / place.name)
            pairs = [str(self.folder), str(folder), *(path for path in terminals for _ in range(2))]
            pairs += [path for pair in instead for path in pair]
            self.ear.settimeout(None)
            socket.send_fds(self.ear, ["\n".join(("clone", *pairs)).encode()], [its.fileno()])
            made, _, words = self._hear().partition(" ")
            if made != "made":
                raise BadInput(f"the lab cannot be cloned, and goes on as it was: {words or 'its kernel has ended'}")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            ours.close()
            raise
        finally:
            its.close()
        return Guest(folder, int(words), ours)

    def use_cpu(self, cpu: int) -> None:
        """From now on it and its processes run there."""
        left = [self.pid]
        while left:
            pid = left.pop()
            with suppress(OSError):  # ended meanwhile
                for thread in Path(f"/proc/{pid}/task").iterdir():
                    os.sched_setaffinity(int(thread.name), {cpu})
                    left += map(int, (thread / "children").read_text().split())

    def go_on(self) -> None:
        """The end of its rest."""
        self.ear.send(b"go")

    def under_way(self) -> list[str]:
        """The commands that it carries out for somebody outside, but for those on terminals."""
        return [" ".join(job.argv) for job in mailbox.jobs(self.share) if job.rc is None and job.terminal is None]

    def kill(self) -> None:
        """From now on it does nothing any more."""
        os.kill(self.pid, signal.SIGKILL)

    def end(self) -> int:
        """Kill it if it has not ended, and remove what it has; returns its exit code."""
        self.kill()
        status = os.waitpid(self.pid, 0)[1]
        self.ear.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return os.waitstatus_to_exitcode(status)

    def _hear(self) -> str:
        return self.ear.recv(4096).decode()


def _copy(place: Path, to: Path) -> None:
    if place.is_dir():
        shutil.copytree(place, to, symlinks=True)
    else:
        shutil.copy2(place, to, follow_symlinks=False)
