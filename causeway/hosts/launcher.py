"""The launcher: a process that runs one UML lab host and clones of it, and ends when those do or when it is killed.

It starts the kernel so that the kernel dies with it, holds the other ends of the lab hosts' serial lines, hands one to
each interactive shell, and keeps clones at rest: a lab's checkpoints, and the lab as it came up, the template, of which
it makes one lab after the other. What is asked of it comes by sockets, one in each lab's folder.
"""

import ctypes
import fcntl
import itertools
import json
import os
import random
import re
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from causeway.errors import BadInput, LabBroken
from causeway.hosts import asking, disk, mailbox, memory
from causeway.hosts.guests import Guest, ear
from causeway.hosts.jail import Jail
from causeway.hosts.labs import MOST_LABS, Lab, Lines, refuse_a_second

#: After so long without a lab made of it a template ends.
_UNUSED_S = 3600.0
_PR_SET_PDEATHSIG = 1
_LOOK_S = 0.2
#: A launcher's standard input is the end of a pipe, whose other end is with who has started it and dies with him.
_STARTER = 0


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
    # a container's /proc/stat may leave out CPUs that it is allowed (lxcfs)
    idle = {cpu: after.get(cpu, 0) - before.get(cpu, 0) for cpu in os.sched_getaffinity(0)}
    return max(idle, key=lambda cpu: (idle[cpu], random.random()))


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


@dataclass
class Template:
    """The lab as it came up, at rest."""

    guest: Guest
    pidfd: int
    made: datetime = field(default_factory=lambda: datetime.now(UTC))
    used: datetime = field(default_factory=lambda: datetime.now(UTC))
    #: When it was used last, by a clock that nobody sets.
    touched: float = field(default_factory=time.monotonic)

    def touch(self) -> None:
        self.used, self.touched = datetime.now(UTC), time.monotonic()


class Launcher:
    """Runs the command line in `kernel.json` of the lab host's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sets = [Lines() for _ in range(MOST_LABS + 1)]
        self._terminals = [path for lines in self._sets for path in lines.paths]
        self._numbers = itertools.count(2)  # of guests to come
        self._labs: list[Lab] = []
        self._template: Template | None = None
        self._selector = selectors.DefaultSelector()
        self._rc = 0

    def run(self) -> int:
        """Until no lab and no template is left; returns the last one's exit code, or 0 where nobody wanted any."""
        os.chdir(self._folder)
        if not self._wanted():
            return 0
        first = Lab(self._folder, self._start(), self._sets[0], self._terminals, self._numbers)
        first.owner = _STARTER
        self._take_in(first)
        for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(sign, lambda *_: self._kill())
        while self._labs or self._template:
            # one at a time: what is done for it may be the end of others
            for key, _ in self._selector.select(self._patience_s())[:1]:
                key.data()
            if self._template and self._patience_s() == 0:
                self._end_template()
        return self._rc

    def _wanted(self) -> bool:
        """Wait for the first job, with which the kernel starts; False where there will be none.

        An idle virtual clock runs on for as long as the machine likes: a job that came later would find the lab host
        at a time of the machine's choice, each time another one.
        """
        starter = selectors.DefaultSelector()
        starter.register(_STARTER, selectors.EVENT_READ)
        share = Path("now/share")
        while not mailbox.jobs(share):
            if (share / "poweroff").exists():
                return False
            if starter.select(mailbox.POLL_S):
                self._leave_nothing()
                return False
        return True

    def _start(self) -> Guest:
        wanted = json.loads((self._folder / "kernel.json").read_text())
        # not by the terminals' names: the kernel makes random numbers of what it is told, alike for one seed
        lines = [f"ssl{number}=tty:{path}" for number, path in enumerate(_by_descriptor(self._sets[0]))]
        slaves = [slave for one in self._sets for slave in one.slaves]
        ours, its = ear()
        cpu = _idlest_cpu()
        with _memory_folder(wanted["memory"]) as memory_folder, its:
            jail = Jail(
                look=[*map(Path, wanted["look"]), Path("/proc/cpuinfo")],
                names=[*map(Path, wanted["names"]), Path("/proc")],  # a clone of the kernel looks for its descriptors
                change=[*map(Path, wanted["change"]), memory_folder],
                terminals=[*map(Path, self._terminals), Path("/dev/null")],
            )

            def before_exec() -> None:
                die_with_parent()
                os.sched_setaffinity(0, {cpu})
                jail.enter()

            kernel = subprocess.Popen(
                [*wanted["argv"], *lines, f"rest={its.fileno()}"],
                stdin=subprocess.DEVNULL,
                preexec_fn=before_exec,
                pass_fds=[memory_folder, its.fileno(), *slaves],
                env={"HOME": str(self._folder), "TMPDIR": f"/proc/self/fd/{memory_folder}"},
            )
        kernel.returncode = 0  # it is reaped like its clones, which no Popen knows
        return Guest((self._folder / "now").resolve(), kernel.pid, ours)

    # what goes on

    def _take_in(self, lab: Lab) -> None:
        self._labs.append(lab)
        self._selector.register(lab.listener, selectors.EVENT_READ, lambda: self._answer(lab))
        if lab.owner is not None:
            self._selector.register(lab.owner, selectors.EVENT_READ, lambda: self._orphan(lab))
        self._watch(lab)

    def _watch(self, lab: Lab) -> None:
        """Be told when the guest ends that is this lab now."""
        if lab.pidfd >= 0:
            self._selector.unregister(lab.pidfd)
            os.close(lab.pidfd)
        lab.pidfd = os.pidfd_open(lab.kept.lab.pid)
        self._selector.register(lab.pidfd, selectors.EVENT_READ, lambda: self._ended(lab))

    def _forget(self, lab: Lab) -> None:
        """It is asked no more, and not watched."""
        self._disown(lab)
        for watched in (lab.listener, lab.pidfd):
            self._selector.unregister(watched)
        os.close(lab.pidfd)
        self._labs.remove(lab)

    def _disown(self, lab: Lab) -> None:
        """It may outlive whoever asked for it."""
        if lab.owner is not None:
            self._selector.unregister(lab.owner)
            if isinstance(lab.owner, socket.socket):
                lab.owner.close()
            lab.owner = None

    def _orphan(self, lab: Lab) -> None:
        """Who asked for it is gone."""
        self._disown(lab)
        lab.orphaned = True
        lab.kept.lab.kill()

    def _ended(self, lab: Lab) -> None:
        self._forget(lab)
        self._rc = lab.end()
        if not self._labs and not self._template and (lab.orphaned or lab.folder != self._folder):
            self._leave_nothing()
        lab.let_go()

    def _kill(self) -> None:
        """Their ends are seen as any others."""
        for lab in self._labs:
            lab.kept.lab.kill()
        if self._template:
            self._template.guest.kill()

    # what is asked

    def _answer(self, lab: Lab) -> None:
        client = lab.listener.accept()[0]
        with suppress(OSError, ValueError):  # it has died meanwhile, or talks nonsense
            what, words = asking.hear(client)
            if what == asking.LINE:
                if lab.lines.lend(client):
                    self._selector.register(client, selectors.EVENT_READ, lambda: self._line_is_back(lab, client))
                    return
            elif what == asking.HOLD:
                job = mailbox.Job(lab.kept.lab.share / "jobs" / words[0])
                self._selector.register(client, selectors.EVENT_READ, lambda: self._let_go(job, client))
                return
            else:
                try:
                    answer: dict[str, Any] = {"done": self._do(lab, what, words, client)}
                except (BadInput, LabBroken) as error:
                    answer = {type(error).__name__: str(error)}
                asking.answer(client, answer)
        if all(one.owner is not client for one in self._labs):  # else it holds a lab, if only until its end is seen
            client.close()

    def _line_is_back(self, lab: Lab, client: socket.socket) -> None:
        self._selector.unregister(client)
        lab.lines.has_back(client)
        client.close()

    def _let_go(self, job: mailbox.Job, client: socket.socket) -> None:
        self._selector.unregister(client)
        client.close()
        if job.rc is None:
            with suppress(FileNotFoundError):  # the lab has gone back to before it
                job.cancel()

    def _do(self, lab: Lab, what: str, words: list[str], client: socket.socket) -> Any:
        if lab not in self._labs:  # it came up in the launcher's own folder, and became the template
            ours: dict[str, Callable[..., Any]] = {
                asking.LAB: lambda folder, about, *spare: self._make_a_lab(Path(folder), about, client, *spare),
                asking.ABOUT: self._about,
                asking.END: self._end_template,
            }
            if what not in ours or not self._template:
                raise BadInput(f"{self._folder.name} is no template any more, or knows no {what}")
            return ours[what](*words)
        if what == asking.KEEP:
            return self._keep(lab)
        if what in (asking.GO, asking.STAY):
            if what == asking.STAY:
                self._disown(lab)
            return lab.kept.lab.go_on()
        try:
            return lab.kept.do(what, words)
        finally:
            self._watch(lab)

    # the template

    def _keep(self, lab: Lab) -> None:
        """What has come up is at rest from now on."""
        guest = lab.kept.lab
        guest.is_at_rest()
        listener = lab.listener
        self._forget(lab)
        self._selector.register(listener, selectors.EVENT_READ, lambda: self._answer(lab))
        self._template = Template(guest, os.pidfd_open(guest.pid))
        self._selector.register(self._template.pidfd, selectors.EVENT_READ, self._end_template)
        (self._folder / asking.KEEP).touch()

    def _make_a_lab(self, folder: Path, about: str, client: socket.socket, spare: str = "") -> dict[str, Any]:
        """One more lab, at rest: a clone of the template, or the template itself, if it is spare or nothing else does.

        `why` says what kept it from being kept.
        """
        assert self._template
        template, mine = self._template, self._read_about()
        refuse_a_second(folder)
        template.touch()
        free = [lines for lines in self._sets[1:] if not lines.of_a_lab]
        if not free:
            raise BadInput(f"{MOST_LABS} labs of {mine['lab']} are up, as many as can be of one template")
        lines, why = free[0], spare or memory.lacks_for(mine["memory_mib"]) or "; ".join(disk.lacking())
        if not why:
            other = zip(_by_descriptor(self._sets[0]), _by_descriptor(lines), strict=True)
            place = template.guest.folder.with_name(str(next(self._numbers)))
            try:
                guest = template.guest.clone(place, self._terminals, other)
            except BadInput as error:
                why = str(error)
        if asking.gone(client):  # what comes up for nobody would be in the way of the next one's
            if not why:
                guest.end()
            raise LabBroken("who asked is gone")
        if why:
            guest, lines = template.guest, self._sets[0]
            self._is_none_any_more(template)
        guest.use_cpu(_idlest_cpu())
        console = self._folder / "console"
        try:
            lab = Lab.of_a_template(folder, about, console, guest, lines, self._terminals, self._numbers)
        except OSError as error:
            guest.end()
            raise LabBroken(f"{folder} cannot be made: {error}") from None
        lab.owner = client
        self._take_in(lab)
        return {"why": why, "made": template.made.isoformat(timespec="seconds")}

    def _about(self) -> dict[str, Any]:
        assert self._template
        mine = self._read_about()
        return {
            "site": mine["lab"],
            "clock": mine["clock"],
            "counts": mine["counts"],
            "memory_mib": memory.taken_mib(self._template.guest.process),
            "made": self._template.made.isoformat(timespec="seconds"),
            "used": self._template.used.isoformat(timespec="seconds"),
            "labs": len(self._labs),
        }

    def _read_about(self) -> dict[str, Any]:
        return dict(json.loads((self._folder / "about.json").read_text()))

    def _end_template(self) -> None:
        """It was asked to, was not used for long, or its kernel has ended; the labs of it go on."""
        assert self._template
        template = self._template
        self._is_none_any_more(template)
        template.guest.end()
        if not self._labs:
            self._leave_nothing()

    def _leave_nothing(self) -> None:
        """Nobody will look at what is in our folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):  # other templates have theirs there
            self._folder.parent.rmdir()

    def _is_none_any_more(self, template: Template) -> None:
        (self._folder / asking.KEEP).unlink(missing_ok=True)
        self._selector.unregister(template.pidfd)
        os.close(template.pidfd)
        self._template = None

    def _patience_s(self) -> float | None:
        """How long the template may go on unused."""
        return max(0.0, self._template.touched + _UNUSED_S - time.monotonic()) if self._template else None


def _by_descriptor(lines: Lines) -> list[str]:
    """How a guest opens its serial lines; its kernel is told so, and it has the launcher's descriptors."""
    return [f"/proc/self/fd/{slave}" for slave in lines.slaves]


def main(folder: Path) -> int:
    """Run the lab host of a folder, holding its lock: who can take that knows that we are gone."""
    with (folder / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return Launcher(folder).run()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
