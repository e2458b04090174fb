"""The launcher: a process that runs one UML lab host, and ends when that does or when it is killed.

It starts the kernel so that the kernel dies with it, holds the other ends of the lab host's serial
lines, and hands one to each interactive shell.
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
from contextlib import contextmanager
from pathlib import Path

from causeway.hosts import mailbox
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
        self._lent: dict[socket.socket, int] = {}

    def run(self) -> int:
        """Until the kernel has ended; returns its exit code. 0 where it was not started: nobody wanted anything."""
        os.chdir(self._folder)  # also because a socket's path is short: at most 107 bytes
        if not self._wanted():
            return 0
        wanted = json.loads((self._folder / "kernel.json").read_text())
        argv: list[str] = wanted["argv"]
        slaves = []
        for number in range(SERIAL_LINES):
            master, slave = os.openpty()
            self._lines[number] = master
            slaves.append(slave)  # kept open: a line must not hang up between two shells
            # not by the terminal's name: the kernel makes random numbers of what it is told, alike for one seed
            argv.append(f"ssl{number}=tty:/proc/self/fd/{slave}")
        cpu = _idlest_cpu()
        with _memory_folder(wanted["memory"]) as memory:
            jail = Jail(
                look=[*map(Path, wanted["look"]), Path("/proc/cpuinfo")],
                names=[*map(Path, wanted["names"]), Path("/proc")],  # a clone of the kernel looks for its descriptors
                change=[*map(Path, wanted["change"]), memory],
                terminals=[*(Path(os.ttyname(slave)) for slave in slaves), Path("/dev/null")],
            )

            def before_exec() -> None:
                die_with_parent()
                os.sched_setaffinity(0, {cpu})
                jail.enter()

            kernel = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                preexec_fn=before_exec,
                pass_fds=[memory, *slaves],
                env={"HOME": str(self._folder), "TMPDIR": f"/proc/self/fd/{memory}"},
            )
        (self._folder / "pid").write_text(f"{kernel.pid}\n")
        for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(sign, lambda *_: kernel.kill())
        self._serve(kernel)
        return kernel.wait()

    def _wanted(self) -> bool:
        """Wait for the first job, with which the kernel starts; False where the power is to be off before that.

        An idle virtual clock runs on for as long as the machine likes: a job that came later would find the lab host
        at a time of the machine's choice, each time another one.
        """
        while True:
            if any(not name.startswith(".") for name in os.listdir("share/jobs")):
                return True
            if os.path.exists("share/poweroff"):
                return False
            time.sleep(mailbox.POLL_S)

    def _serve(self, kernel: "subprocess.Popen[bytes]") -> None:
        address = self._folder / "shell.sock"
        address.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(address.name)
        listener.listen()
        selector = selectors.DefaultSelector()
        selector.register(listener, selectors.EVENT_READ)
        selector.register(os.pidfd_open(kernel.pid), selectors.EVENT_READ, "ended")
        while True:
            for key, _ in selector.select():
                if key.data == "ended":
                    return
                if key.fileobj is listener:
                    client = listener.accept()[0]
                    if self._lend(client):
                        selector.register(client, selectors.EVENT_READ)
                elif isinstance(key.fileobj, socket.socket):
                    selector.unregister(key.fileobj)  # the shell has closed: its line is free again
                    self._lent.pop(key.fileobj)
                    key.fileobj.close()

    def _lend(self, client: socket.socket) -> bool:
        """Send a free line's number and our side of its terminal; False when all are lent, or nobody takes it."""
        free = sorted(set(self._lines) - set(self._lent.values()))
        if not free:
            client.close()
            return False
        try:
            socket.send_fds(client, [f"ttyS{free[0]}".encode()], [self._lines[free[0]]])
        except OSError:  # it has died meanwhile
            client.close()
            return False
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
