"""What goes on between nodes while something is changed: a ping and a session of every pair, a file on every mount.

One thread sends all pings and keeps all sessions; a file that is written may hang, and so each mount has a thread
of its own. Both ends of a session are here, in their nodes' networks.
"""

import os
import resource
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.lab.probes.pairs import (
    PINGS_AT_ONCE,
    Pair,
    answered,
    by_source,
    call,
    echo,
    ping_socket,
)
from causeway.lab.probes.reach import hang_up, listening, network_of

SESSION_PORT = 4909
#: Seconds between two pings of a pair where there are few, and how many all pairs may send in a second.
_PING_S, _PINGS_A_SECOND = 0.1, 2000
_SAY_S = 0.5
#: An answer that comes later is none.
_LATE_S = 1.0
#: How long sessions may take to be opened, before anything is changed.
_OPEN_S = 5.0
#: Open files of a process that have to do with none of this, and of looks between parts.
_OTHERS = 700
#: What is taken from a socket before others have their turn.
_AT_A_TIME = 100
_WRITE_S = 0.2
#: A write that takes longer has stalled.
_STALL_S = 1.0


@dataclass
class Lost:
    """The pings of a pair, each by when it was sent: those that wait for an answer, those lost, those answered."""

    waiting: dict[int, float] = field(default_factory=dict)
    lost: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)

    def late(self, now: float) -> None:
        """Those that have waited for too long are lost."""
        for number, sent in list(self.waiting.items()):
            if now - sent <= _LATE_S:
                return  # they are in the order in which they were sent
            self.lost.append(self.waiting.pop(number))

    def answer(self, number: int) -> None:
        """One was answered; one that is late is not."""
        if number in self.waiting:
            self.answered.append(self.waiting.pop(number))

    @property
    def still(self) -> bool:
        """Whether the last one of which it is known is lost."""
        return bool(self.lost) and self.lost[-1] > (self.answered[-1] if self.answered else 0.0)

    def seconds(self, now: float) -> tuple[float, float]:
        """How long nobody answered, in all and at once: from each first one that is lost to the next that is not."""
        total = longest = 0.0
        over = sorted(self.answered)
        since: float | None = None
        for sent in self.lost:
            if since is not None and sent < since:
                continue
            until = next((when for when in over if when > sent), now)
            total, longest, since = total + until - sent, max(longest, until - sent), until
        return total, longest


@dataclass
class Session:
    """A connection that stays, and says a word now and then: what became of it."""

    line: socket.socket
    opened: bool = False
    broke: str = ""
    silent_s: float = 0.0
    heard_at: float = 0.0

    def hears(self, now: float) -> None:
        self.silent_s = max(self.silent_s, now - self.heard_at - _SAY_S)
        self.heard_at = now


@dataclass(frozen=True)
class Io:
    """What a node had of a filesystem meanwhile: seconds in which writes hung (all, the longest), and what failed."""

    node: str
    filesystem: str
    stalled_s: float
    longest_s: float
    failed: str


@dataclass(frozen=True)
class Watched:
    """What went on: lost seconds of each pair (in all, and the longest), sessions that broke and why, files.

    `every_s` is how far apart a pair's pings are: nothing shorter is seen. Pings of `still` were lost at the end.
    """

    every_s: float
    seconds: float
    lost: Mapping[Pair, tuple[float, float]]
    broke: Mapping[Pair, str]
    silent: Mapping[Pair, float]
    files: list[Io]
    still: frozenset[Pair] = frozenset()


class Watch:
    """Watches from when it is entered; `result` is there afterwards."""

    def __init__(self, lab: Lab, targets: Mapping[Pair, IPv4Address], files: Mapping[tuple[str, str], Path]) -> None:
        """Of `targets` all answer now; `files` are written: (node, filesystem) -> a file as the host sees it."""
        self._lab, self._targets = lab, targets
        self._pairs = list(targets)
        self._every_s = max(_PING_S, len(self._pairs) / _PINGS_A_SECOND)
        self._turns = max(1, -(-len(self._pairs) // PINGS_AT_ONCE))
        self._lost = {pair: Lost() for pair in self._pairs}
        self._sessions: dict[Pair, Session] = {}
        self._served: list[socket.socket] = []
        self._error: Exception | None = None
        self._over = threading.Event()
        self._writers = [_Writer(*where, file) for where, file in files.items()]
        self.result: Watched | None = None

    def quiet(self) -> str:
        """Whose pings are lost now, and whose writes hang; "" where there is nobody."""
        bad = [f"{one} > {port}" for (one, port), lost in self._lost.items() if lost.still]
        bad += [f"{w.node}: {w.filesystem}" for w in self._writers if w.hangs()]
        return ", ".join(bad)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch meanwhile."""
        nodes = sorted({name for one, port in self._pairs for name in (one, port.node)})
        _room_for(2 * len(self._pairs) + 2 * len(nodes) + _OTHERS)
        with ExitStack() as stack:
            listeners = stack.enter_context(listening(self._lab, nodes, SESSION_PORT))
            pings = {one: stack.enter_context(ping_socket(self._lab, one)) for one in by_source(self._pairs)}
            for one, pairs in by_source(self._pairs).items():
                with network_of(self._lab.board(one)):
                    for pair in pairs:
                        line, _ = call(self._targets[pair], SESSION_PORT)
                        self._sessions[pair] = Session(line)
            begun = time.monotonic()
            thread = threading.Thread(target=self._run, args=(listeners, pings), daemon=True)
            thread.start()
            for writer in self._writers:
                writer.start()
            try:
                while time.monotonic() < begun + _OPEN_S and not all(one.opened for one in self._sessions.values()):
                    time.sleep(_PING_S)
                yield
            finally:
                self._over.set()
                thread.join()
                if self._error is not None:
                    raise self._error
                self._take(time.monotonic() - begun)

    def _take(self, seconds: float) -> None:
        now = time.monotonic()
        opened = {pair: one for pair, one in self._sessions.items() if one.opened}
        for one in opened.values():
            if not one.broke:
                one.hears(now)
        for one in self._sessions.values():
            hang_up(one.line)
        self.result = Watched(
            self._every_s,
            seconds,
            {pair: lost.seconds(now) for pair, lost in self._lost.items()},
            {pair: one.broke for pair, one in opened.items() if one.broke},
            {pair: one.silent_s for pair, one in opened.items() if one.silent_s > _STALL_S},
            [writer.end() for writer in self._writers],
            frozenset(pair for pair, lost in self._lost.items() if lost.still),
        )

    def _run(self, listeners: list[socket.socket], pings: Mapping[str, socket.socket]) -> None:
        try:
            self._go(listeners, pings)
        except Exception as error:  # nobody sees it in a thread
            self._error = error

    def _go(self, listeners: list[socket.socket], pings: Mapping[str, socket.socket]) -> None:
        selector = selectors.DefaultSelector()
        for listener in listeners:
            selector.register(listener, selectors.EVENT_READ, self._accepts(selector))
        for line in pings.values():
            selector.register(line, selectors.EVENT_READ, self._hears_ping)
        for one in self._sessions.values():
            selector.register(one.line, selectors.EVENT_WRITE, self._opens(one, selector))
        ping_at = say_at = time.monotonic()
        number = 0
        while not self._over.is_set():
            for key, _ in selector.select(max(0.0, min(ping_at, say_at) - time.monotonic())):
                key.data(key.fileobj)
            now = time.monotonic()
            if now >= ping_at:  # after all answers that are there are read
                number += 1
                self._ping(pings, number, now)
                ping_at = max(ping_at + self._every_s / self._turns, now)
            if now >= say_at:
                self._say(selector)
                say_at = max(say_at + _SAY_S, now)
        for line in self._served:
            hang_up(line)
        selector.close()

    def _ping(self, pings: Mapping[str, socket.socket], number: int, now: float) -> None:
        identifier = (os.getpid() + 1) & 0xFFFF
        for place in range(number % self._turns, len(self._pairs), self._turns):
            pair = self._pairs[place]
            lost = self._lost[pair]
            lost.late(now)
            lost.waiting[number] = now
            with suppress(OSError):  # no route, say: nobody answers then
                message = echo(identifier, struct.pack("!II", place, number))
                pings[pair[0]].sendto(message, (str(self._targets[pair]), 0))

    def _hears_ping(self, line: socket.socket) -> None:
        identifier = (os.getpid() + 1) & 0xFFFF
        with suppress(BlockingIOError):
            for _ in range(_AT_A_TIME):
                who, said, _ = answered(line.recv(2048))
                if who == identifier and len(said) >= 8:
                    place, number = struct.unpack_from("!II", said)
                    self._lost[self._pairs[place]].answer(number)

    def _accepts(self, selector: selectors.BaseSelector) -> Callable[[socket.socket], None]:
        def accept(listener: socket.socket) -> None:
            with suppress(BlockingIOError):
                for _ in range(_AT_A_TIME):
                    line, _ = listener.accept()
                    line.setblocking(False)
                    self._served.append(line)
                    selector.register(line, selectors.EVENT_READ, echoes)

        def echoes(line: socket.socket) -> None:
            try:
                said = line.recv(4096)
                if said:
                    line.send(said)
                    return
            except BlockingIOError:
                return
            except OSError:
                pass
            selector.unregister(line)

        return accept

    def _opens(self, one: Session, selector: selectors.BaseSelector) -> Callable[[socket.socket], None]:
        def hears(line: socket.socket) -> None:
            try:
                if line.recv(4096):
                    one.hears(time.monotonic())
                    return
                one.broke = "hung up"
            except BlockingIOError:
                return
            except OSError as error:
                one.broke = str(error.strerror)
            selector.unregister(line)

        def opens(line: socket.socket) -> None:
            if line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                selector.unregister(line)
                return
            one.opened, one.heard_at = True, time.monotonic()
            selector.modify(line, selectors.EVENT_READ, hears)

        return opens

    def _say(self, selector: selectors.BaseSelector) -> None:
        for one in self._sessions.values():
            if one.opened and not one.broke:
                try:
                    one.line.send(b"a word")
                except BlockingIOError:
                    pass
                except OSError as error:
                    one.broke = str(error.strerror)
                    with suppress(KeyError):
                        selector.unregister(one.line)


def _room_for(files: int) -> None:
    """Have this process be allowed so many open files at least; LabBroken where it may not."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if now != resource.RLIM_INFINITY and now < files:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, max(files, most)))
        except ValueError:
            raise LabBroken(f"this takes {files} open files, and {most} are allowed (ulimit -n)") from None


class _Writer:
    """Writes a file again and again, each time to its server's disk."""

    def __init__(self, node: str, filesystem: str, file: Path) -> None:
        self.node, self.filesystem = node, filesystem
        self._file = file
        self._begun: float | None = None
        self._stalls: list[float] = []
        self._failed = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def hangs(self) -> bool:
        """Whether a write has stalled that is not done yet."""
        begun = self._begun
        return begun is not None and time.monotonic() - begun > _STALL_S

    def end(self) -> Io:
        self._over.set()
        self._thread.join(_STALL_S)
        begun = self._begun
        hanging = time.monotonic() - begun if begun is not None else 0.0
        stalls = [*self._stalls, *([hanging] if hanging > _STALL_S else [])]
        if not self._thread.is_alive():
            with suppress(OSError):
                self._file.unlink()
        return Io(self.node, self.filesystem, sum(stalls), max(stalls, default=0.0), self._failed)

    def _go(self) -> None:
        while not self._over.wait(_WRITE_S):
            self._begun = time.monotonic()
            try:
                with self._file.open("wb") as file:
                    file.write(bytes(4096))
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                self._failed = self._failed or str(error.strerror)
            took, self._begun = time.monotonic() - self._begun, None
            if took > _STALL_S:
                self._stalls.append(took)
