"""nuttcp streams whose ports are chosen beforehand, measured as the Redpaper does.

Source: Redpaper, "Performance measurements with nuttcp". (Its text has -P and -p the wrong way round:
-P is nuttcp's control port, -p its data port.)
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path

from causeway import interrupts
from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.process import Background
from causeway.wait import until

#: Kernel's TCP states, as /proc/net/tcp has them.
_STATES = {"01": "ESTABLISHED", "0A": "LISTEN"}
#: (local, remote, state); an end is (address, port).
Socket = tuple[tuple[IPv4Address, int], tuple[IPv4Address, int], str]
CONTROL_PORT = 5000
#: How often nuttcp tells what it has transferred, and how long TCP gets to find its share, in seconds.
INTERVAL_S = 0.25
SETTLE_S = 1.0
#: How long somebody may have one of the few ports that a stream gets (seconds): a connection that is closed has its
#: own for a minute.
_FREE_S = 90
_LINE = re.compile(r"^.*?(?P<megabytes>[\d.]+) MB / +(?P<seconds>[\d.]+) sec = .*$", re.MULTILINE)
_RANGE = "/proc/sys/net/ipv4/ip_local_port_range"


@dataclass(frozen=True)
class Stream:
    """One stream to start: from client (which types the command) to or from the node at address.

    direction "t": the client transmits; "r": the node at the other end does, and opens the data
    connection; "s": it does, and the client opens the data connection to it, as to a daemon that serves.
    source_port is the sender's data port, data_port the receiver's; of these that of who opens is even. buffers are
    asked for at both ends, as nuttcp's -w takes them; with none they are the kernel's to make (tcp_rmem, tcp_wmem).
    """

    client: str
    server: str
    address: IPv4Address
    label: str
    direction: str
    source_port: int
    data_port: int
    buffers: str = "1m"

    @property
    def sender(self) -> str:
        return self.client if self.direction == "t" else self.server

    @property
    def opener(self) -> str:
        """Who opens the data connection."""
        return self.server if self.direction == "r" else self.client

    @property
    def opened_from(self) -> int:
        return self.data_port if self.direction == "s" else self.source_port

    @property
    def opened_to(self) -> int:
        return self.source_port if self.direction == "s" else self.data_port


@dataclass(frozen=True)
class Measured:
    """What nuttcp says of a stream, and the addresses and ports that its data really had.

    line and megabytes are of the whole stream (as the Redpaper has them), rate_mbit is TCP payload per
    second while all streams that were started together transmit.
    """

    stream: Stream
    line: str
    megabytes: float
    rate_mbit: float
    retransmits: int
    source: tuple[IPv4Address, int]
    destination: tuple[IPv4Address, int]


@dataclass(frozen=True)
class _Started:
    stream: Stream
    background: Background
    socket: "Socket"
    at_s: float


@contextmanager
def servers(lab: Lab, nodes: Sequence[str]) -> Iterator[None]:
    """`nuttcp -S` on nodes, ended afterwards; where one serves already, as on a block for testing, it is used."""
    nodes = [node for node in nodes if _not_listening(lab, node)]
    for node in nodes:
        lab.on(node, "nuttcp", "-S", f"-P{CONTROL_PORT}").must()
    try:
        for node in nodes:
            until(f"nuttcp listens on {node}", partial(_not_listening, lab, node), deadline_s=10, poll_s=0.01)
        yield
    finally:
        with interrupts.held():
            for node in nodes:
                lab.on(node, "pkill", "-x", "nuttcp")


def _not_listening(lab: Lab, node: str) -> str:
    ports = [local[1] for local, _, state in sockets(lab, node) if state == "LISTEN"]
    return "" if CONTROL_PORT in ports else f"listening ports {ports}"


class Running:
    """Streams that transmit now."""

    def __init__(self, started: list[_Started], seconds: float) -> None:
        self._started, self.seconds = started, seconds

    def results(self) -> list[Measured]:
        """Wait for their ends. LabBroken when a stream fails."""
        limit_s = 10 * self.seconds + 60
        begin = max(s.at_s for s in self._started) + SETTLE_S
        end = min(s.at_s for s in self._started) + self.seconds
        return [_read(s, s.background.result(limit_s).must(), begin, end) for s in self._started]


@contextmanager
def running(lab: Lab, streams: Sequence[Stream], seconds: float, told_every_s: float = INTERVAL_S) -> Iterator[Running]:
    """Start streams one right after the other, each as soon as the one before transmits.

    A stream gets its port from a range of one, or, where the client opens the data connection, of two: there nuttcp
    takes one for control, one for data. Until nobody else has one of them none is started: what is sent in vain would
    count, too. In virtual time eight starts take a third of a second, which nuttcp spends on its control connections.
    Nothing is left running afterwards.
    """
    started: list[_Started] = []
    ranges = {s.opener: lab.on(s.opener, "cat", _RANGE).must() for s in streams}
    backgrounds: list[Background] = []
    try:
        try:
            until("the streams' ports are free", partial(_in_use, lab, streams), deadline_s=_FREE_S, poll_s=1)
            for stream in streams:
                low = stream.opened_from
                _set_range(lab, stream.opener, f"{low} {low + (stream.opener == stream.client)}")
                # -F: the data connection is opened by the other one
                way = ["-r", "-F"] if stream.direction == "s" else [f"-{stream.direction}"]
                window = [f"-w{stream.buffers}"] if stream.buffers else []
                argv = [
                    "nuttcp", *way, *window, f"-T{seconds:g}", f"-i{told_every_s:g}", f"-P{CONTROL_PORT}",
                    f"-p{stream.opened_to}", f"-I{stream.label}", str(stream.address),
                ]  # fmt: skip
                backgrounds.append(lab.start_on(stream.client, *argv))
                socket = _data_socket(lab, stream, backgrounds[-1])
                started.append(_Started(stream, backgrounds[-1], socket, time.monotonic()))
        finally:
            with interrupts.held():
                for node, ports in ranges.items():
                    _set_range(lab, node, " ".join(ports.split()))
        yield Running(started, seconds)
    finally:
        with interrupts.held():
            for background in backgrounds:
                background.kill()


def _in_use(lab: Lab, streams: Sequence[Stream]) -> str:
    """The sockets that have a port that a stream's opener may get."""
    wanted = {(s.opener, s.opened_from + n) for s in streams for n in (0, 1)}
    found = [(node, *socket) for node in {s.opener for s in streams} for socket in sockets(lab, node)]
    return ", ".join(
        f"{node} {own[1]} to {there} ({state})" for node, own, there, state in found if (node, own[1]) in wanted
    )


def _set_range(lab: Lab, node: str, ports: str) -> None:
    lab.on(node, "sysctl", "-qw", f"net.ipv4.ip_local_port_range={ports}").must()


def _data_socket(lab: Lab, stream: Stream, background: Background) -> Socket:
    """The sender's socket of the stream's data connection, as soon as it is there."""
    found: list[Socket] = []

    def missing() -> str:
        if background.ended():
            background.result(1).must()
        for socket in sockets(lab, stream.sender):
            if is_its(stream, socket):
                found.append(socket)
                return ""
        return f"no connection from port {stream.source_port} to port {stream.data_port} on {stream.sender}"

    until(f"stream {stream.label} transmits", missing, deadline_s=10, poll_s=0.001)
    return found[0]


def is_its(stream: Stream, socket: Socket) -> bool:
    """Whether a sender's socket is a stream's data connection: who opens it has its even port, or the next one."""
    (_, here), (_, there), state = socket
    opened_from, opened_to = (there, here) if stream.direction == "s" else (here, there)
    pair = opened_from // 2 == stream.opened_from // 2
    return state == "ESTABLISHED" and opened_to == stream.opened_to and pair


def _read(started: _Started, output: str, begin_s: float, end_s: float) -> Measured:
    try:
        printed = parse(output)
        rate_mbit = rate_between(printed.intervals, started.at_s, begin_s, end_s)
    except LabBroken as error:
        raise LabBroken(f"stream {started.stream.label}: {error}") from None
    return Measured(
        stream=started.stream,
        line=printed.line,
        megabytes=printed.megabytes,
        rate_mbit=rate_mbit,
        retransmits=printed.retransmits,
        source=started.socket[0],
        destination=started.socket[1],
    )


@dataclass(frozen=True)
class Printed:
    """What nuttcp says of a stream: (megabytes, seconds) of each interval, and of the whole its last line."""

    intervals: list[tuple[float, float]]
    line: str
    megabytes: float
    retransmits: int


def parse(output: str) -> Printed:
    """Read nuttcp's lines: LABEL: N MB / T sec = R Mbps ..., one an interval, and one of the whole at the end."""
    found = list(_LINE.finditer(output))
    if len(found) < 2:
        raise LabBroken(f"nuttcp printed {output!r}")
    *intervals, whole = found
    retransmits = re.search(r"(\d+) retrans", whole[0])
    if retransmits is None:
        raise LabBroken(f"nuttcp did not say what TCP sent again: {whole[0]!r}")
    parts = [(float(interval["megabytes"]), float(interval["seconds"])) for interval in intervals]
    return Printed(parts, whole[0].strip(), float(whole["megabytes"]), int(retransmits[1]))


def rate_between(intervals: Sequence[tuple[float, float]], at_s: float, begin_s: float, end_s: float) -> float:
    """Mbit/s of those intervals of a stream that began at at_s which lie wholly between two times.

    LabBroken where none does. (nuttcp's MB are of 2^20 bytes, its Mbit of 10^6 bits.)
    """
    megabytes, seconds = 0.0, 0.0
    for size, duration in intervals:
        if at_s >= begin_s and at_s + duration <= end_s:
            megabytes += size
            seconds += duration
        at_s += duration
    if not seconds:
        raise LabBroken("at no time did all streams transmit")
    return megabytes * 2**20 * 8 / 1e6 / seconds


def sockets(lab: Lab, node: str) -> Iterator[Socket]:
    """A node's TCP sockets (local, remote, state), without a process on the node."""
    for family in ("tcp", "tcp6"):
        for line in Path(f"/proc/{lab.pids[node]}/net/{family}").read_text().splitlines()[1:]:
            words = line.split()
            yield _end(words[1]), _end(words[2]), _STATES.get(words[3], words[3])


def _end(text: str) -> tuple[IPv4Address, int]:
    """ADDRESS:PORT of /proc/net/tcp; of an IPv6 address the last 32 bits, which a mapped IPv4 one has."""
    address, port = text.split(":")
    return IPv4Address(bytes.fromhex(address[-8:])[::-1]), int(port, 16)
