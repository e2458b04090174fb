"""Which member each end of the channels between two nodes chooses for a connection: by its own policy, and by any."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address
from typing import Any

from causeway.model.site import Site
from causeway.model.topology import ChannelEnd
from causeway.plan.hashing import member_for
from causeway.plan.paths import path
from causeway.plan.streams import frame_of


@dataclass(frozen=True)
class Party:
    """One end of a connection: a node, the address by which it is meant, and the port."""

    node: str
    address: IPv4Address
    port: int

    def __str__(self) -> str:
        return f"{self.node}:{self.port}"


@dataclass(frozen=True)
class Choice:
    """What one end of a channel does with the frames that go from one party to the other.

    `by_policy` has the member for each policy that such an end may have, None where nobody can compute it.
    """

    end: ChannelEnd
    sender: Party
    receiver: Party
    by_policy: dict[str, str | None]

    def as_data(self) -> dict[str, Any]:
        return {
            "node": self.end.node,
            "name": self.end.name,
            "members": self.end.members,
            "from": str(self.sender),
            "to": str(self.receiver),
            "hash_policy": self.end.hash_policy,
            "member": self.by_policy,
        }


def choices(site: Site, one: Party, other: Party) -> list[Choice]:
    """Each end that chooses a member for a TCP connection, in the order of passing, there and then back.

    Raises Unreachable and Ambiguous as plan.paths.path.
    """
    return [*_one_way(site, one, other), *_one_way(site, other, one)]


def _one_way(site: Site, sender: Party, receiver: Party) -> Iterator[Choice]:
    for hop in path(site, sender.node, receiver.address).hops:
        frame = frame_of(site, (sender.address, sender.port), (receiver.address, receiver.port), hop)
        for end in (segment.decided_by for segment in hop.segments):
            if end is not None:
                able = site.nodes[end.node].hash_policies
                members = {p: None if p == "balance-tcp" else member_for(frame, p, end.members) for p in able}
                yield Choice(end, sender, receiver, members)


def find(site: Site, name: str) -> tuple[str, IPv4Address]:
    """The node and the address that a name stands for; LookupError where nobody has it.

    A node's own name stands for the address by which daemons know it; a host name and an address stand for themselves.
    """
    if name in site.nodes:
        return name, site.known_by(name).address
    try:
        address: IPv4Address | None = IPv4Address(name)
    except AddressValueError:
        address = None
    for node, about in site.nodes.items():
        for leg in about.interfaces.values():
            if name in leg.names or leg.address == address:
                return node, leg.address
    raise LookupError(f"{site.name} has no node, host name or address {name!r}; name a node as in `causeway graph`")
