"""What each TCP connection of a node has carried, what it may have under way, and whether anybody listens."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.lab.lab import Lab
from causeway.plan.filesystems.spread import Direction
from causeway.plan.streams import End
from causeway.process import run

#: Both ends, the node's own first.
Ends = tuple[End, End]


@dataclass(frozen=True)
class Window:
    """What the other end of a connection has room for, in bytes, and how long a round trip takes, in seconds."""

    size: int
    round_trip_s: float


def told(lab: Lab, node: str) -> str:
    """What `ss -tinHO` says of a node's TCP connections, a line each."""
    return run(lab.plug(node, ["ss", "-tinHO"])).must()


def listens(lab: Lab, node: str, port: int) -> bool:
    """Whether anybody listens at a TCP port of a node; no daemon starts a process for that."""
    return bool(run(lab.plug(node, ["ss", "-tlnHO", f"sport = :{port}"])).must().strip())


def windows(lab: Lab, node: str) -> dict[Ends, Window]:
    """The window that each connection of a node sends into now."""
    return parse_windows(told(lab, node))


def parse_windows(text: str) -> dict[Ends, Window]:
    """Read `ss -tinHO`: of the established connections those whose other end has told its window."""
    found: dict[Ends, Window] = {}
    for ends, line in _established(text):
        size, round_trip = re.search(r"\bsnd_wnd:(\d+)", line), re.search(r"\brtt:([\d.]+)/", line)
        if size and round_trip:
            found[ends] = Window(int(size[1]), float(round_trip[1]) / 1000)
    return found


def carried(lab: Lab, node: str, direction: Direction) -> dict[Ends, int]:
    """The payload in bytes that each connection which a node has now has carried so far, from it or to it."""
    return parse_carried(told(lab, node), direction)


def parse_carried(text: str, direction: Direction) -> dict[Ends, int]:
    """Read `ss -tinHO`: the established connections, and what they have sent ("write") or received ("read")."""
    count = {"write": "bytes_acked", "read": "bytes_received"}[direction]
    found: dict[Ends, int] = {}
    for ends, line in _established(text):
        bytes_so_far = re.search(rf"\b{count}:(\d+)", line)
        found[ends] = int(bytes_so_far[1]) if bytes_so_far else 0
    return found


def _established(text: str) -> Iterator[tuple[Ends, str]]:
    for line in text.splitlines():
        fields = line.split()
        if fields[0] == "ESTAB":
            here, there = (field.rsplit(":", 1) for field in fields[3:5])
            yield ((IPv4Address(here[0]), int(here[1])), (IPv4Address(there[0]), int(there[1]))), line
