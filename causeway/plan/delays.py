"""How long packets are under way, and what a window carries meanwhile.

Of a way only its cables' lengths count: a lab's nodes and switches hand on at once, and a queue is no length.
"""

from ipaddress import IPv4Address

from causeway.model.site import Site
from causeway.plan.paths import Path, Ways


def one_way_ms(site: Site, path: Path) -> float:
    """How long a packet is under way in the cables of a path, in milliseconds."""
    segments = (segment for hop in path.hops for segment in hop.segments)
    return sum(site.cable_at(segment.cables[0].sender).delay_ms for segment in segments)


def round_trip_ms(ways: Ways, node: str, source: IPv4Address, destination: IPv4Address) -> float:
    """How long a packet from a node's address is under way to another, and the answer to it, in milliseconds.

    The way back may be another one. Raises as `Ways.path` does.
    """
    there = ways.path(node, destination)
    far = there.hops[-1].receiver.node if there.hops else node
    return one_way_ms(ways.site, there) + one_way_ms(ways.site, ways.path(far, source))


def window_mbit(window: int, trip_ms: float) -> float:
    """The payload in Mbit/s of a TCP stream that has a window of so many bytes under way in each round trip.

    ZeroDivisionError where that takes no time. Source: RFC 7323, 1.1; Redpaper, "TCP/IP tuning".
    """
    return window * 8e-3 / trip_ms


def window_bytes(rate_mbit: float, trip_ms: float) -> int:
    """The window that a TCP stream takes to have a rate of payload (Mbit/s) over a way with this round trip."""
    return round(rate_mbit * trip_ms / 8e-3)
