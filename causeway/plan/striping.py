"""How fast clients can write and read files that are striped over servers: computed, before it is measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from causeway.model.site import Site
from causeway.plan.fairshare import fair_share, tcp_goodput_mbit
from causeway.plan.paths import link_rate_mbit
from causeway.plan.streams import StreamEnds, expect


@dataclass(frozen=True)
class Share:
    """A connection in the direction of the data, and the bytes on it for each byte of the client's files."""

    ends: StreamEnds
    part: float


def bound_mb(site: Site, clients: Mapping[str, Sequence[Share]]) -> float:
    """The rate of all clients' files together in MB/s (10^6), when the network is all that bounds.

    A client's connections go at one pace, as each stripe needs all of them. With four servers, one of them for
    parity, a file that is written puts a third of its bytes on each connection: 4/3 of it go over the client's
    link. Which member of a channel carries a connection is computed from its real ports and hardware addresses.
    Clients share what they have in common max-min fairly.
    """
    expected = expect(site, [share.ends for own in clients.values() for share in own])
    capacity: dict[str, float] = {}
    loads: dict[str, dict[str, float]] = {client: {} for client in clients}
    for client, own in clients.items():
        for share in own:
            for cable in expected.cables[share.ends.label]:
                mbit = tcp_goodput_mbit(link_rate_mbit(site, cable.sender), expected.mtus[share.ends.label])
                capacity[str(cable)] = mbit / 8
                loads[client][str(cable)] = loads[client].get(str(cable), 0.0) + share.part
    return sum(fair_share(loads, capacity).values())
