"""In a UML lab host: do the jobs that the launcher's side puts into the shared folder."""

import fcntl
import json
import os
import selectors
import signal
import struct
import sys
import termios
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from causeway.errors import LabBroken
from causeway.hosts.mailbox import POLL_S, SEEN, put
from causeway.meminfo import kib_of
from causeway.process import run_all

SHARE = Path("/share")
#: Of our kernel (images/kernel, the patch that clones it): which clone it is, and what has it rest.
_CLONE = Path("/proc/uml_clone")
_DROP_CACHES = Path("/proc/sys/vm/drop_caches")
#: What files have in memory is copied for each clone, and each clone without it reads them anew, many of them over NFS:
#: `mcgetstate -a` takes a second longer. More than this (MiB) takes longer to copy.
_WORTH_COPYING_MIB = 1024
_URANDOM, _PROC = Path("/dev/urandom"), Path("/proc")
#: ioctl(2) of random(4): draw from what was mixed in from now on, not only after minutes.
_RNDRESEEDCRNG = 0x5207
#: What a daemon for the time is told after a leap: ask your servers at once, as at your start (chrony.conf(5), iburst);
#: and how long after, for while it does so anyway it heeds nothing.
_ANEW, _ANEW_AFTER_S = ("chronyc", "burst", "4/8"), 8.0
_ANSWERS_S = 20
#: How often the outside is looked for in virtual time, twenty seconds of which pass in one: a quarter of all entries to
#: an idle lab's kernel were this loop's while it did so every POLL_S.
_VIRTUAL_POLL_S = 0.2


@dataclass
class Child:
    """A running job."""

    folder: Path
    pid: int
    terminal: str | None
    pipes: int = 0
    cancelled: bool = False
    size: str = ""
    rc: int | None = field(default=None)


class Agent:
    """One loop over the shared folder, the jobs' output and their ends.

    `do` is what a job's words are given to; `paced` tells whether people are waited for.
    """

    def __init__(self, do: Callable[[list[str]], int], paced: Callable[[], bool]) -> None:
        self._do, self._paced = do, paced
        self._look_again()
        self._selector = selectors.DefaultSelector()
        self._children: list[Child] = []
        self._seen: set[str] = set()
        self._anew_at: float | None = None  # when nodes are to measure the time anew

    def serve(self) -> None:
        """Until the outside wants the power off and no job is left."""
        while True:
            for name in sorted(os.listdir(SHARE / "jobs")):
                if not name.startswith(".") and name not in self._seen:
                    self._seen.add(name)
                    self._start(SHARE / "jobs" / name)
            if (SHARE / "rest").exists():
                self._rest("rest")
            if self._anew_at is not None and time.monotonic() > self._anew_at:
                self._anew_at = None
                _measure_anew()
            self._pump()
            for child in list(self._children):
                self._look_after(child)
            if not self._children:
                wanted = os.listdir(SHARE)
                if "template" in wanted:
                    self._rest("template")
                elif "poweroff" in wanted:
                    return

    def _start(self, folder: Path) -> None:
        request = json.loads((folder / "request").read_text())
        (folder / "begun").touch()
        for child in self._children:
            # a line is lent anew when whoever had it is gone, killed or by a lost connection: his job is nobody's
            if child.terminal and child.terminal == request["terminal"] and child.rc is None:
                _hang_up(child)
        out, err = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            os.environ[SEEN] = request.get("seen", "80 plain")  # an older version's outside says nothing
            _become_job(self._do, request["argv"], request["terminal"], out[1], err[1])
        child = Child(folder, pid, request["terminal"])
        for (reading, writing), name in ((out, "out"), (err, "err")):
            os.close(writing)
            self._selector.register(reading, selectors.EVENT_READ, (child, folder / name))
            child.pipes += 1
        self._children.append(child)

    def _rest(self, wanted: str) -> None:
        """Stop all of the lab host here, kernel and all, until the launcher has it go on; a clone of it begins anew."""
        (SHARE / wanted).unlink()
        if kib_of("Cached") // 1024 > _WORTH_COPYING_MIB:
            _DROP_CACHES.write_text("1\n")
        before = _CLONE.read_text()
        with _CLONE.open("wb", buffering=0) as kernel:
            kernel.write(f"@{_word('rest')}".encode())
        if _CLONE.read_text() != before:
            self._abandon()
        self._look_again()
        told = os.listdir(SHARE)
        if "chance" in told:
            _draw_from((SHARE / "chance").read_bytes())
            (SHARE / "chance").unlink()
        if "date" in told:
            time.clock_settime(time.CLOCK_REALTIME, float((SHARE / "date").read_text()))
            (SHARE / "date").unlink()
            self._anew_at = time.monotonic() + _ANEW_AFTER_S

    def _abandon(self) -> None:
        """Whoever has asked for these jobs is with the lab host that this one was cloned from."""
        for child in self._children:
            if child.rc is None:
                _hang_up(child)
        for key in list(self._selector.get_map().values()):
            self._selector.unregister(key.fd)
            os.close(key.fd)
        self._children.clear()
        self._seen.clear()

    def _pump(self) -> None:
        for key, _ in self._selector.select(self._poll_s):
            child, file = key.data
            data = os.read(key.fd, 65536)
            if data:
                # opened anew for each piece: hostfs writes to the host when a file is closed
                with suppress(OSError), open(file, "ab") as sink:  # a full disk costs that piece, not the lab
                    sink.write(data)
            else:
                self._selector.unregister(key.fd)
                os.close(key.fd)
                child.pipes -= 1

    def _look_after(self, child: Child) -> None:
        files = os.listdir(child.folder)
        if "cancel" in files and not child.cancelled:
            with suppress(ProcessLookupError):  # not its session's leader yet: the next time
                os.killpg(child.pid, signal.SIGHUP if child.terminal else signal.SIGINT)
                child.cancelled = True
        if child.terminal and "size" in files:
            size = (child.folder / "size").read_text()
            if size != child.size:
                child.size = size
                _resize(child.terminal, size)
        if child.rc is None:
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid:
                child.rc = os.waitstatus_to_exitcode(status)
        if child.rc is not None and child.pipes == 0:
            with suppress(OSError):  # a full disk: it is tried again, until there is room
                put(child.folder / "rc", str(child.rc))
                self._children.remove(child)
                self._look_again()

    def _look_again(self) -> None:
        """Which clock goes: a job may have changed it, and a clone may be of another one."""
        self._poll_s = POLL_S if self._paced() else _VIRTUAL_POLL_S


def _hang_up(child: Child) -> None:
    with suppress(ProcessLookupError):  # it may not be its session's leader yet
        os.killpg(child.pid, signal.SIGHUP)
    os.kill(child.pid, signal.SIGKILL)
    child.rc = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])


def _draw_from(chance: bytes) -> None:
    """Have all random numbers to come, the kernel's own, too, depend on this as well."""
    with _URANDOM.open("wb", buffering=0) as kernel:
        kernel.write(chance)
        fcntl.ioctl(kernel, _RNDRESEEDCRNG)


def _measure_anew() -> None:
    """Have each node's chronyd measure anew: it takes a leap of the date for a fault, and has forgotten all.

    On a virtual machine that was suspended the host's tools do that. One that does not answer is left alone.
    """
    found = [comm.parent.name for comm in _PROC.glob("[0-9]*/comm") if _is_chronyd(comm)]
    with suppress(LabBroken):
        run_all([["nsenter", "-a", "-t", pid, *_ANEW] for pid in found], timeout_s=_ANSWERS_S)


def _is_chronyd(comm: Path) -> bool:
    try:
        return comm.read_text() == "chronyd\n"
    except OSError:  # it has ended meanwhile
        return False


def _word(name: str) -> str:
    """What the kernel's command line has by this name."""
    words = (word.partition("=") for word in Path("/proc/cmdline").read_text().split())
    return next(value for key, _, value in words if key == name)


def _resize(terminal: str, size: str) -> None:
    rows, columns = (int(word) for word in size.split())
    with open(f"/dev/{terminal}", "rb") as device:
        fcntl.ioctl(device, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _become_job(do: Callable[[list[str]], int], argv: list[str], terminal: str | None, out: int, err: int) -> None:
    """In the forked child: do what these words say, never return."""
    rc = 70
    try:
        os.setsid()
        if terminal is not None:
            device = os.open(f"/dev/{terminal}", os.O_RDWR)
            fcntl.ioctl(device, termios.TIOCSCTTY, 0)
            os.dup2(device, 0)
            os.dup2(device, 1)
            os.dup2(device, 2)
        else:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(err, 2)
        os.closerange(3, 256)
        sys.argv[0] = "causeway"
        rc = do(argv)
    except Exception:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(rc)
