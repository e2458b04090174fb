"""Start, use and end a UML lab host from the outside."""

import fcntl
import json
import os
import random
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from causeway import folders, interrupts, process
from causeway.errors import LabBroken
from causeway.hosts import artefacts, asking, disk, guests, mailbox, memory, terminal
from causeway.hosts.labs import is_ours

if TYPE_CHECKING:
    from causeway.model.site import Site

#: Nanoseconds since 1970 at which a seeded lab host's clock starts (2026-01-01), so that runs repeat.
_SEEDED_START_NS = 1_767_225_600_000_000_000
#: How many loop devices the kernel has from its start: a node gets those that are there when its container is made, and
#: each disk with a speed of its own takes one (nodes/base/mount.disk).
_DISKS = 64
#: How long a launcher may take to see that a kernel has ended: it may be making a clone of another.
_END_S = 60
#: How long it may take from the removal of what such a kernel had to its own end, in seconds.
_LET_GO_S = 1.0
#: How long a command that is ended from here may take for that.
_CANCEL_S = 10
#: How long a lab host may take to begin a command, which may be its first, and has it boot.
_BEGINS_S = 180.0


@dataclass(frozen=True)
class UmlHost:
    """A UML lab host, running or left behind; everything of it is in its folder."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def share(self) -> Path:
        """Of the guest that is the lab now."""
        return (self.folder / "now").resolve() / "share"

    @property
    def process(self) -> Path:
        """Of the guest that is the lab now, as /proc has it. OSError where none has begun."""
        return Path("/proc") / (self.folder / "pid").read_text().strip()

    @property
    def about(self) -> dict[str, Any]:
        """What it was started with: lab, clock; for a lab that people work in, counts."""
        text = (self.folder / "about.json").read_text()
        return dict(json.loads(text))

    def site(self) -> "Site":
        """The site of its lab, as it was handed over. OSError where that has not been done yet."""
        from causeway.model.load import load_site

        return load_site(self.share / "topology.yaml", self.about.get("counts"))

    def running(self) -> bool:
        """Whether its launcher lives: it holds a lock that the kernel takes from the dead."""
        try:
            with (self.folder / "lock").open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            pass
        return False

    def do(self, argv: list[str], begin: Callable[[], object] = lambda: None) -> int:
        """Have the tool inside do a command, its output passed on as it comes; returns its exit code.

        Ctrl-C goes to the command inside, which cleans up and ends; a second one gives up on it, and so does a kill.
        `begin` is called once it is asked for: where the lab is at rest until then, no time passes in it before the
        command. LabBroken where the lab ends, or does not take it up.
        """
        job = mailbox.submit(self.share, argv)
        tail = mailbox.Tail(job)
        with _interrupts_go_to(job), self._held(job):
            begin()
            late = time.monotonic() + _BEGINS_S
            while (rc := job.rc) is None:
                tail.copy()
                if time.monotonic() > late and not job.begun:
                    raise LabBroken(
                        f"the lab host hangs: it took no command up in {_BEGINS_S:.0f} s; {self._console()}"
                    )
                if not self._has(job):
                    tail.copy()
                    raise LabBroken(self._how_it_ended())
                time.sleep(mailbox.POLL_S)
        tail.copy()
        return rc

    @contextmanager
    def _held(self, job: mailbox.Job) -> Iterator[None]:
        """Have the launcher cancel it once this process is gone."""
        try:
            line = asking.connect(self.folder, asking.HOLD, job.folder.name)
        except LabBroken:  # the lab comes up, and dies with this process; or it has died
            yield
        else:
            with line:
                yield

    def lines(self, argv: list[str]) -> Generator[str, None, None]:
        """What the tool inside prints while it does a command, line by line; whoever ends this ends the command.

        Nothing of it is kept. They end, too, where the lab goes back to a checkpoint, in which nobody had asked for
        them. LabBroken where it fails, or its lab ends.
        """
        job = mailbox.submit(self.share, argv)
        try:
            rest = ""
            with self._held(job), (job.folder / "out").open() as out:
                while True:
                    rc = job.rc
                    *whole, rest = (rest + out.read()).split("\n")
                    yield from whole
                    if rc is not None:
                        break
                    if not self._has(job):
                        if not self._ends_within(_LET_GO_S):
                            return
                        raise LabBroken(self._how_it_ended())
                    time.sleep(mailbox.POLL_S)
            if rc:
                raise LabBroken((job.folder / "err").read_text().strip() or f"it ended with {rc}")
        finally:
            self._finish(job)

    def _finish(self, job: mailbox.Job) -> None:
        """Have a job end that may be at it still, and remove its folder."""
        if self._has(job) and job.rc is None:
            job.cancel()
        deadline = time.monotonic() + _CANCEL_S
        while self._has(job) and job.rc is None and time.monotonic() < deadline:
            time.sleep(mailbox.POLL_S)
        if job.rc is not None:
            shutil.rmtree(job.folder, ignore_errors=True)

    def terminal(self, argv: list[str]) -> int:
        """Have the tool inside do a command on a terminal of its own, joined to this one."""
        with asking.connect(self.folder, asking.LINE) as line:
            name, fds, _, _ = socket.recv_fds(line, 64, 1)
            if not fds:
                raise LabBroken("all serial lines of the lab host are in use; close another shell")
            with suppress(BlockingIOError):  # what the last shell left on the line
                os.set_blocking(fds[0], False)
                while os.read(fds[0], 65536):
                    pass
            job = mailbox.submit(self.share, argv, terminal=name.decode())
            try:
                with interrupts.raised():  # a terminal window that is closed must not take the line with it
                    rc = terminal.join(job, fds[0], lambda: self._has(job))
            finally:
                if job.rc is None and self._has(job):
                    job.cancel()
            if rc is None:
                raise LabBroken(self._how_it_ended())
            return rc

    def ask(self, *words: str) -> Any:
        """Have its launcher do something (see `checkpoints`). BadInput, LabBroken: all is as it was."""
        return asking.ask(self.folder, *words)

    def _has(self, job: mailbox.Job) -> bool:
        """Whether it is still at it."""
        return self.running() and job.folder.exists()

    def _how_it_ended(self) -> str:
        """Why its job is gone. A launcher whose kernel has ended removes the jobs, and then ends."""
        if self._ends_within(_LET_GO_S):
            return f"the lab host ended; {self._console()}"
        return "the lab has gone back to a checkpoint, in which nobody had asked for this"

    def _ends_within(self, seconds: float) -> bool:
        """Wait so long for its launcher's end; whether that has come."""
        deadline = time.monotonic() + seconds
        while (runs := self.running()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return not runs

    def _console(self) -> str:
        return f"its console: {self.folder / 'console'}"

    def end(self, graceful_s: float = 20) -> None:
        """End it and remove all of it: in order if it can, else by killing it. Works on remains, too."""
        if self.running() and graceful_s:
            (self.share / "poweroff").touch()
            self._ends_within(graceful_s)
        # the kernel first: its launcher may have other labs
        for file in ("pid", "launcher"):
            if self.running():
                self._kill(file)
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(OSError):  # it is not there, or has others
            folders.templates().rmdir()

    def _kill(self, file: str) -> None:
        """Kill what a file of its folder names, and wait for the end of all; a launcher may be busy with a clone."""
        with suppress(FileNotFoundError, ValueError, ProcessLookupError):
            os.kill(int((self.folder / file).read_text()), signal.SIGKILL)
            self._ends_within(_END_S)


def all_hosts() -> Iterator[UmlHost]:
    """Every lab of this user, running or left behind."""
    yield from _hosts(folders.state())


def templates() -> Iterator[UmlHost]:
    """Every template, whether it is at rest, comes up, or is left behind, or has ended before its labs."""
    yield from _hosts(folders.templates())


def _hosts(among: Path) -> Iterator[UmlHost]:
    for folder in sorted(among.iterdir()) if among.is_dir() else ():
        if (folder / "about.json").exists() or (folder / "guests").exists():
            host = UmlHost(folder)
            if host.running() or is_ours(folder):
                yield host


def sweep() -> list[str]:
    """Remove what killed lab hosts left behind; returns their names."""
    dead = [host for host in (*all_hosts(), *templates()) if not host.running()]
    for host in dead:
        host.end(graceful_s=0)
    return [host.name for host in dead]


def start(folder: Path, about: dict[str, Any], wish_mib: int, *, seed: int | None) -> UmlHost:
    """Make a lab host with so much memory, or less where there is less.

    It boots with its first job, and dies with this process until it is kept. With a seed its random numbers and its
    date are the same every time. BadInput where memory or disk would not do; nothing has been made then.
    """
    host = UmlHost(folder.resolve())
    memory_mib = memory.for_a_lab(wish_mib)
    disk.need_room()
    host.end(graceful_s=0)
    guests.make_folder(host.folder / "guests" / "1")
    (host.folder / "now").symlink_to(host.folder / "guests" / "1")
    folders.runs().mkdir(parents=True, exist_ok=True)
    image = artefacts.LABHOST.folder
    process.run(["cp", "--sparse=always", "--reflink=auto", str(image / "docker.img"), str(host.share)]).must()
    mounts = {"SHARE_DIR": host.share, "IMAGE_DIR": image, "REPO_DIR": folders.REPO, "RUNS_DIR": folders.runs()}
    (host.share / "env").write_text("".join(f"{k}='{v}'\n" for k, v in mounts.items()))
    (host.folder / "about.json").write_text(json.dumps(about | {"memory_mib": memory_mib}))
    wanted = _reach(host, image) | {"argv": _command_line(host, seed, memory_mib)}
    (host.folder / "kernel.json").write_text(json.dumps(wanted))
    (host.folder / "lock").touch()
    env = dict(os.environ) | {"PYTHONPATH": str(folders.REPO)}
    argv = [sys.executable, "-m", "causeway.hosts.launcher", str(host.folder)]
    its, _ours = os.pipe()  # ours stays open for as long as this process lives
    with (host.folder / "console").open("w") as console:
        pid = process.spawn_daemon(argv, log=console, env=env, starter=its)
    os.close(its)
    (host.folder / "launcher").write_text(f"{pid}\n")
    deadline = time.monotonic() + 10
    while not host.running():
        if time.monotonic() > deadline:
            raise LabBroken(f"the lab host did not start; its console: {host.folder / 'console'}")
        time.sleep(0.01)
    return host


def _reach(host: UmlHost, image: Path) -> dict[str, object]:
    """What of the machine the lab host's kernel may reach (see `jail`)."""
    kernel = str(artefacts.KERNEL.folder / "linux")
    libraries = [word for word in process.run(["ldd", kernel]).stdout.split() if word.startswith("/")]
    tool = [str(folders.REPO / part) for part in folders.INSIDE]
    return {
        "look": [kernel, *libraries, str(image / "initrd.gz"), str(image / "root.img"), *tool],
        "names": [str(folders.REPO)],
        "change": [str(host.folder / "guests"), str(folders.runs())],
        "memory": str(memory.FOLDER),
    }


def _command_line(host: UmlHost, seed: int | None, memory_mib: int) -> list[str]:
    seeded = [] if seed is None else [f"entropy-seed={seed}", f"time-travel-start={_SEEDED_START_NS}"]
    return [
        str(artefacts.KERNEL.folder / "linux"),
        f"mem={memory_mib}M",
        f"initrd={artefacts.LABHOST.folder / 'initrd.gz'}",
        f"share={host.share.relative_to(host.folder)}",
        "seccomp=on",
        "time-travel=inf-cpu",
        *seeded,
        f"uml_dir={host.share.with_name('uml')}",
        f"umid={random.getrandbits(32):08x}",
        "con0=null,fd:1",
        "con=null",
        "bonding.max_bonds=0",
        f"max_loop={_DISKS}",
        "loglevel=4",
    ]


@contextmanager
def _interrupts_go_to(job: mailbox.Job) -> Iterator[None]:
    asked = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        job.cancel()

    before = {s: signal.signal(s, interrupt) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
