"""What each TCP connection of a node has carried."""

import re
from ipaddress import IPv4Address

from causeway.lab.lab import Lab
from causeway.plan.filesystems.spread import Direction
from causeway.process import run

#: One end of a connection: address and port.
End = tuple[IPv4Address, int]
#: Both ends, the node's own first.
Ends = tuple[End, End]


def carried(lab: Lab, node: str, direction: Direction) -> dict[Ends, int]:
    """The payload in bytes that each connection which a node has now has carried so far, from it or to it."""
    return parse_carried(run(lab.plug(node, ["ss", "-tinHO"])).must(), direction)


def parse_carried(text: str, direction: Direction) -> dict[Ends, int]:
    """Read `ss -tinHO`: the established connections, and what they have sent ("write") or received ("read")."""
    count = {"write": "bytes_acked", "read": "bytes_received"}[direction]
    found: dict[Ends, int] = {}
    for line in text.splitlines():
        fields = line.split()
        if fields[0] != "ESTAB":
            continue
        here, there = (field.rsplit(":", 1) for field in fields[3:5])
        bytes_so_far = re.search(rf"\b{count}:(\d+)", line)
        ends = (IPv4Address(here[0]), int(here[1])), (IPv4Address(there[0]), int(there[1]))
        found[ends] = int(bytes_so_far[1]) if bytes_so_far else 0
    return found
