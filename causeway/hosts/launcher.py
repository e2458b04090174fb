"""The launcher: a process that runs one UML lab host, and ends when that does or when it is killed.

It starts the kernel so that the kernel dies with it, holds the other ends of the lab host's serial lines, hands one to
each interactive shell, and keeps clones of the lab at rest, the checkpoints. What is asked of it comes by its socket.
"""

import ctypes
import fcntl
import json
import os
import random
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from causeway.errors import BadInput, LabBroken
from causeway.hosts import asking, mailbox
from causeway.hosts.checkpoints import Checkpoints
from causeway.hosts.guests import Guest, ear
from causeway.hosts.jail import Jail

SERIAL_LINES = 4
_PR_SET_PDEATHSIG = 1
_LOOK_S = 0.2


def _idle_ticks() -> dict[int, int]:
    """How long each CPU has been idle since the machine's start."""
    rows = (line.split() for line in Path("/proc/stat").read_text().splitlines() if re.match(r"cpu\d", line))
    return {int(row[0][3:]): int(row[4]) + int(row[5]) for row in rows}


def _idlest_cpu() -> int:
    """The CPU for the kernel and its processes: of those allowed the one that is idle most, looked at for a moment.

    Only one of them runs at a time, and each system call in the lab host is a hand-over between two: on
    one CPU it takes 13 microseconds, across two 60 (measured; the whole lab comes up twice as fast).
    """
    before = _idle_ticks()
    time.sleep(_LOOK_S)
    after = _idle_ticks()
    return max(os.sched_getaffinity(0), key=lambda cpu: (after[cpu] - before[cpu], random.random()))


def die_with_parent() -> None:
    """Between fork and exec: have the kernel kill this process when its parent is gone."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def _memory_folder(where: str) -> Iterator[int]:
    """A folder for the guest's memory, a file without a name: by its descriptor alone, for it has no name either.

    So the guest has no other's files in reach, and nothing is left however it ends.
    """
    name = tempfile.mkdtemp(prefix="causeway-", dir=where)
    fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
    os.rmdir(name)
    try:
        yield fd
    finally:
        os.close(fd)


class Launcher:
    """Runs the command line in `kernel.json` of the lab host's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: dict[int, int] = {}  # number of the serial line -> our side of its terminal
        self._slaves: list[int] = []  # the lab host's side, kept open: a line must not hang up between two shells
        self._lent: dict[socket.socket, int] = {}

    def run(self) -> int:
        """Until the lab's kernel has ended; returns its exit code, or 0 where nobody wanted anything of it."""
        os.chdir(self._folder)  # also because a socket's path is short: at most 107 bytes
        if not self._wanted():
            return 0
        for number in range(SERIAL_LINES):
            self._lines[number], slave = os.openpty()
            self._slaves.append(slave)
        terminals = [os.ttyname(slave) for slave in self._slaves]
        kept = Checkpoints(self._folder, self._start(terminals), terminals)
        for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(sign, lambda *_: os.kill(kept.lab.pid, signal.SIGKILL))
        self._serve(kept)
        return kept.end()

    def _wanted(self) -> bool:
        """Wait for the first job, with which the kernel starts; False where the power is to be off before that.

        An idle virtual clock runs on for as long as the machine likes: a job that came later would find the lab host
        at a time of the machine's choice, each time another one.
        """
        share = Path("now/share")
        while not mailbox.jobs(share):
            if (share / "poweroff").exists():
                return False
            time.sleep(mailbox.POLL_S)
        return True

    def _start(self, terminals: list[str]) -> Guest:
        wanted = json.loads((self._folder / "kernel.json").read_text())
        # not by the terminals' names: the kernel makes random numbers of what it is told, alike for one seed
        lines = [f"ssl{number}=tty:/proc/self/fd/{slave}" for number, slave in enumerate(self._slaves)]
        ours, its = ear()
        cpu = _idlest_cpu()
        with _memory_folder(wanted["memory"]) as memory, its:
            jail = Jail(
                look=[*map(Path, wanted["look"]), Path("/proc/cpuinfo")],
                names=[*map(Path, wanted["names"]), Path("/proc")],  # a clone of the kernel looks for its descriptors
                change=[*map(Path, wanted["change"]), memory],
                terminals=[*map(Path, terminals), Path("/dev/null")],
            )

            def before_exec() -> None:
                die_with_parent()
                os.sched_setaffinity(0, {cpu})
                jail.enter()

            kernel = subprocess.Popen(
                [*wanted["argv"], *lines, f"rest={its.fileno()}"],
                stdin=subprocess.DEVNULL,
                preexec_fn=before_exec,
                pass_fds=[memory, its.fileno(), *self._slaves],
                env={"HOME": str(self._folder), "TMPDIR": f"/proc/self/fd/{memory}"},
            )
        kernel.returncode = 0  # it is reaped like its clones, which no Popen knows
        return Guest((self._folder / "now").resolve(), kernel.pid, ours)

    def _serve(self, kept: Checkpoints) -> None:
        """Until the guest ends that is the lab now."""
        selector = selectors.DefaultSelector()
        listener = asking.listen(self._folder)
        selector.register(listener, selectors.EVENT_READ)
        lab, ended = None, -1
        while True:
            if lab is not kept.lab:
                if lab is not None:
                    selector.unregister(ended)
                    os.close(ended)
                lab, ended = kept.lab, os.pidfd_open(kept.lab.pid)
                selector.register(ended, selectors.EVENT_READ)
            for key, _ in selector.select():
                if key.fileobj == ended:
                    return
                if key.fileobj is listener:
                    client = listener.accept()[0]
                    if self._answer(client, kept):
                        selector.register(client, selectors.EVENT_READ)
                    else:
                        client.close()
                elif isinstance(key.fileobj, socket.socket):
                    selector.unregister(key.fileobj)  # the shell has closed: its line is free again
                    self._lent.pop(key.fileobj)
                    key.fileobj.close()

    def _answer(self, client: socket.socket, kept: Checkpoints) -> bool:
        """Do what a client asks; whether it has a serial line from now on."""
        with suppress(OSError, ValueError):  # it has died meanwhile, or talks nonsense
            what, words = asking.hear(client)
            if what == asking.LINE:
                return self._lend(client)
            try:
                answer: dict[str, Any] = {"done": kept.do(what, words)}
            except (BadInput, LabBroken) as error:
                answer = {type(error).__name__: str(error)}
            asking.answer(client, answer)
        return False

    def _lend(self, client: socket.socket) -> bool:
        """Send a free line's number and our side of its terminal; False when all are lent."""
        free = sorted(set(self._lines) - set(self._lent.values()))
        if not free:
            return False
        socket.send_fds(client, [f"ttyS{free[0]}".encode()], [self._lines[free[0]]])
        self._lent[client] = free[0]
        return True


def main(folder: Path, *, with_parent: bool) -> int:
    """Run the lab host of a folder, holding its lock: who can take that knows that we are gone."""
    if with_parent:
        die_with_parent()
    with (folder / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Launcher(folder).run()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), with_parent="--die-with-parent" in sys.argv))
