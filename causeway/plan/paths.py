"""Where a packet goes: routes hop by hop, and the cables and channels of each hop."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network

from causeway.model.site import Port, Site
from causeway.model.topology import ChannelEnd


class Unreachable(Exception):
    """The site has no way for the packet; the text says where it ends and why."""


@dataclass(frozen=True)
class DirectedCable:
    """A cable in the direction of a frame."""

    sender: Port
    receiver: Port

    def __str__(self) -> str:
        return f"{self.sender}>{self.receiver}"


@dataclass(frozen=True)
class Segment:
    """A link, or a channel with all its cables, in the direction of a frame.

    A frame takes one of `cables`. Of a channel, `decided_by` is the sending end, whose hash policy and
    members choose which (Redpaper, Figure 3: each end governs what it sends); None for a link.
    """

    cables: tuple[DirectedCable, ...]
    decided_by: ChannelEnd | None

    @property
    def receiving_node(self) -> str:
        return self.cables[0].receiver.node


@dataclass(frozen=True)
class Hop:
    """From one IP node to the next, within one layer-2 network.

    `sender` and `receiver` are the interfaces (a bond's name, a switch's br-NETWORK) whose MAC addresses
    every frame of the hop carries as source and destination. `next_hop` is the receiver's address:
    the gateway's, or on the last hop to a connected network the destination itself.
    """

    network: str
    sender: Port
    receiver: Port
    next_hop: IPv4Address
    segments: tuple[Segment, ...]

    @property
    def switches(self) -> tuple[str, ...]:
        """The nodes that forward the frame between two segments."""
        return tuple(segment.receiving_node for segment in self.segments[:-1])


@dataclass(frozen=True)
class Path:
    """The hops of a packet, one way; none when the source itself has the destination address."""

    hops: tuple[Hop, ...]


def path(site: Site, source_node: str, destination: IPv4Address) -> Path:
    """The way of a packet from a node to an address; the way back may differ.

    Each node takes the longest prefix of its connected networks and static routes. The packet ends at
    the first node that has the address on any interface (Linux's weak host model), so a server's
    address in one network can be reached through its leg in another. Only nodes with the role `router`
    forward. Where switches are connected by several ways, the shortest is taken.
    Raises Unreachable when there is no route, nobody has the next hop's address, no cable leads to it,
    a node on the way does not forward, or the routes run in a circle; KeyError for an unknown node.
    Source: Redpaper, "Routing setup for cross-cluster connectivity".
    """
    hops: list[Hop] = []
    here = source_node
    visited = {source_node}
    while not _has_address(site, here, destination):
        if hops and site.nodes[here].role != "router":
            raise Unreachable(f"{here} gets packets for {destination} and is no router")
        hop = _hop(site, here, destination)
        here = hop.receiver.node
        if here in visited:
            raise Unreachable(f"the routes to {destination} come back to {here}")
        visited.add(here)
        hops.append(hop)
    return Path(tuple(hops))


def reaches(site: Site, one: str, other: str, rp_filter: int = 0) -> bool:
    """Whether two nodes can talk: each finds the other's first address, by which daemons know each other.

    `rp_filter` is the reverse-path filter that all nodes have, as `filtered_by` takes it.
    """
    a, b = site.first_leg(one).address, site.first_leg(other).address
    try:
        return not (filtered_by(site, one, a, b, rp_filter) or filtered_by(site, other, b, a, rp_filter))
    except Unreachable:
        return False


def filtered_by(site: Site, node: str, source: IPv4Address, destination: IPv4Address, rp_filter: int) -> str:
    """The node that drops a packet because it does not like the way by which it came; "" where none does.

    A reverse-path filter asks for the route back to the packet's source. With 1, strict, it must leave by the
    interface that the packet came in by; with 2, loose, there must be one at all; 0 is no filter.
    Raises Unreachable as `path` does. Source: RFC 3704; Linux, networking/ip-sysctl.rst, rp_filter.
    """
    for hop in path(site, node, destination).hops:
        try:
            back, _ = _lookup(site, hop.receiver.node, source)
        except Unreachable:
            back = ""
        if (rp_filter == 1 and back != hop.receiver.device) or (rp_filter == 2 and not back):
            return hop.receiver.node
    return ""


def without_routes(site: Site, nodes: Iterable[str], to: Iterable[IPv4Address | str]) -> Site:
    """The site as it is when nodes lack their static routes to networks (names) or addresses."""
    gone = set(to)
    fewer = {
        name: site.nodes[name].model_copy(update={"routes": [r for r in site.nodes[name].routes if r.to not in gone]})
        for name in nodes
    }
    return replace(site, nodes=site.nodes | fewer)


def without_member(site: Site, port: Port) -> Site:
    """The site as it is when a channel's cable is pulled: the channel goes on with its other members."""
    cable = next(c for c in site.cables if port in c.ends)
    gone = {(end.node, end.device) for end in cable.ends}

    def left(end: ChannelEnd) -> ChannelEnd:
        return end.model_copy(update={"members": [m for m in end.members if (end.node, m) not in gone]})

    channels = [c.model_copy(update={"ends": [left(end) for end in c.ends]}) for c in site.topology.channels]
    topology = site.topology.model_copy(update={"channels": channels})
    return replace(site, topology=topology, cables=tuple(c for c in site.cables if c is not cable))


def link_rate_mbit(site: Site, port: Port) -> int:
    """The wire rate in Mbit/s of the cable at a port, in each direction.

    Raises ValueError when the port carries no cable (a bond or a bridge does not; its members do).
    """
    for cable in site.cables:
        if port in cable.ends:
            return site.topology.networks[cable.network].rate_mbit
    raise ValueError(f"{port} carries no cable")


def _has_address(site: Site, node: str, address: IPv4Address) -> bool:
    return any(leg.address == address for leg in site.nodes[node].interfaces.values())


def _hop(site: Site, node: str, destination: IPv4Address) -> Hop:
    device, next_hop = _lookup(site, node, destination)
    network = site.nodes[node].interfaces[device].network
    receiver = _interface(site, network, next_hop)
    sender = Port(node, device)
    return Hop(network, sender, receiver, next_hop, _carry(site, sender, receiver))


def _lookup(site: Site, node: str, destination: IPv4Address) -> tuple[str, IPv4Address]:
    """The route of a node to an address: (outgoing interface, next hop)."""
    connected = _connected(site, node, destination)
    routes = [(prefix, device, destination) for prefix, device in connected]
    for route in site.nodes[node].routes:
        subnet = site.destination(route)
        if destination in subnet:
            gateways = _connected(site, node, route.via)
            routes += [(subnet, device, route.via) for _, device in gateways[:1]]
    if not routes:
        raise Unreachable(f"{node} has no route to {destination}")
    # Of two equal prefixes the first counts: Linux has the connected one already and refuses the other.
    _, device, next_hop = max(routes, key=lambda route: route[0].prefixlen)
    return device, next_hop


def _connected(site: Site, node: str, address: IPv4Address) -> list[tuple[IPv4Network, str]]:
    """A node's own networks that hold an address, the longest prefix first, with their interfaces."""
    legs = [(site.topology.networks[i.network].subnet, d) for d, i in site.nodes[node].interfaces.items()]
    return sorted((leg for leg in legs if address in leg[0]), key=lambda leg: -leg[0].prefixlen)


def _interface(site: Site, network: str, address: IPv4Address) -> Port:
    """Who answers ARP for an address in a network."""
    for name, node in site.nodes.items():
        for device, leg in node.interfaces.items():
            if leg.network == network and leg.address == address:
                return Port(name, device)
    raise Unreachable(f"nobody in network {network} has the address {address}")


def _carry(site: Site, sender: Port, receiver: Port) -> tuple[Segment, ...]:
    """The segments from one interface to another of the same network, by the fewest switches."""
    segments = _segments(site)
    ways: dict[Port, tuple[Segment, ...]] = {sender: ()}
    reached = deque([sender])
    while reached:
        here = reached.popleft()
        if here == receiver:
            return ways[here]
        for segment in segments.get(here, ()):
            there = _attachment(site, segment.cables[0].receiver)
            if there not in ways:
                ways[there] = (*ways[here], segment)
                reached.append(there)
    raise Unreachable(f"no cables lead from {sender} to {receiver}")


def _segments(site: Site) -> dict[Port, list[Segment]]:
    """All segments of the site in both directions, by the interface or bridge that sends on them."""
    cables: dict[Port, list[DirectedCable]] = {}
    for cable in site.cables:
        for one_way in DirectedCable(cable.a, cable.b), DirectedCable(cable.b, cable.a):
            end = site.channel_of(one_way.sender)
            sender = Port(end.node, end.name) if end else one_way.sender
            cables.setdefault(sender, []).append(one_way)
    segments: dict[Port, list[Segment]] = {}
    for together in cables.values():
        first = together[0].sender
        segment = Segment(tuple(together), site.channel_of(first))
        segments.setdefault(_attachment(site, first), []).append(segment)
    return segments


def _attachment(site: Site, port: Port) -> Port:
    """What a cable's end belongs to: the node's interface, its bond, or the bridge of a switch."""
    end = site.channel_of(port)
    device = end.name if end else port.device
    node = site.nodes[port.node]
    return Port(port.node, device if device in node.interfaces else f"br-{node.switch}")
