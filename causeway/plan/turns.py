"""What programs get of a network that send, wait for each other and send again: ping-pong, and rings."""

from collections.abc import Sequence

from causeway.model.site import Site
from causeway.plan.streams import StreamEnds, expect

#: Any will do: without channels no port counts.
_PORTS = 6000, 5020


def late_mbit(alone_mbit: float, shared_mbit: float, late: float) -> float:
    """What each of two ping-pongs gets that share a cable in both directions, one of them later than the other.

    `late` is that in messages sent alone, 0 to 1. A message goes alone until the other's begins, shares until it is
    through, and then it is the other that is alone: two that take turns stay as far apart as they started.
    """
    return alone_mbit / (late + (1 - late) * alone_mbit / shared_mbit)


def ring_mbit(site: Site, network: str, ring: Sequence[str]) -> float:
    """What each node of a ring sends if all send a message to both of their neighbours, and wait for the slowest."""
    return 2 * min(expect(site, ring_ends(site, network, ring)).rates.values())


def ring_ends(site: Site, network: str, ring: Sequence[str]) -> list[StreamEnds]:
    """The messages of a step: from each node to the next one and to the one before."""
    mine, theirs = _PORTS
    pairs = [(a, b) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]
    return [
        StreamEnds(f"{a}>{b}", a, (site.address(a, network), mine), (site.address(b, network), theirs))
        for pair in pairs
        for a, b in (pair, pair[::-1])
    ]
