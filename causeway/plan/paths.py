"""Where a packet goes: routes hop by hop, and the cables and channels of each hop."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from itertools import islice

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import ChannelEnd, Route
from causeway.plan.forwarding import is_static, table


class Unreachable(Exception):
    """The site has no way for the packet; the text says where it ends and why."""


class Ambiguous(Exception):
    """A packet may take any of several gateways, and which one is not computed; the text says where."""


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


@dataclass(frozen=True)
class Leaving:
    """By which interface a packet leaves a node, to whom next, and by which route (None: a network of its own)."""

    device: str
    next_hop: IPv4Address
    route: Route | None


@dataclass(frozen=True)
class _Choice:
    """A line of a node's routing table: where it leads (as numbers), and by which interfaces and gateways."""

    prefix: int
    mask: int
    ways: list[tuple[str, IPv4Address]]
    route: Route | None


def _choice(to: IPv4Network, ways: list[tuple[str, IPv4Address]], route: Route | None) -> _Choice:
    return _Choice(int(to.network_address), int(to.netmask), ways, route)


def _first(devices: Iterator[str]) -> Iterator[str]:
    """The first of some, if there is one."""
    yield from islice(devices, 1)


class Ways:
    """Every way of a packet through a site. Indexed once, for who asks for many: 90,000 of 300 nodes take a second."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._tables: dict[str, dict[Port, str]] = {}
        self._choices: dict[str, list[_Choice]] = {}
        self._hops: dict[tuple[Port, IPv4Address], Hop] = {}
        self._own = {name: {leg.address for leg in node.interfaces.values()} for name, node in site.nodes.items()}

    def path(self, source_node: str, destination: IPv4Address) -> Path:
        """The way of a packet from a node to an address; the way back may differ.

        Each node takes the longest prefix of its connected networks and static routes, and of equal ones the
        smallest metric. The packet ends at the first node that has the address on any interface (Linux's weak
        host model), so a server's address in one network can be reached through its leg in another. Only nodes
        that say so forward. Where switches are connected by several ways, the shortest is taken.
        Raises Unreachable when there is no route, nobody has the next hop's address, no cable leads to it,
        a node on the way does not forward, or the routes run in a circle; Ambiguous where a route has several
        gateways; KeyError for an unknown node.
        Source: Redpaper, "Routing setup for cross-cluster connectivity".
        """
        hops: list[Hop] = []
        here = source_node
        visited = {source_node}
        while destination not in self._own[here]:
            if hops and not self.site.nodes[here].forwards:
                raise Unreachable(f"{here} gets packets for {destination} and does not forward")
            hop = self._hop(here, destination)
            here = hop.receiver.node
            if here in visited:
                raise Unreachable(f"the routes to {destination} come back to {here}")
            visited.add(here)
            hops.append(hop)
        return Path(tuple(hops))

    def leaves(self, node: str, destination: IPv4Address) -> Leaving:
        """By what a node sends a packet; raises as `path` does."""
        wanted = int(destination)
        for choice in self._choices_of(node):
            if wanted & choice.mask == choice.prefix:
                break
        else:
            raise Unreachable(f"{node} has no route to {destination}")
        if choice.route is None:
            return Leaving(choice.ways[0][0], destination, None)
        if len(choice.ways) > 1:
            gateways = ", ".join(str(gateway) for _, gateway in choice.ways)
            raise Ambiguous(f"{node} sends packets for {destination} through any of {gateways}")
        return Leaving(*choice.ways[0], choice.route)

    def filters(self, hop: Hop, source: IPv4Address, rp_filter: int) -> bool:
        """Whether a hop's receiver drops a packet from an address because of the way by which it came."""
        try:
            back = self.leaves(hop.receiver.node, source).device
        except Unreachable:
            back = ""
        return (rp_filter == 1 and back != hop.receiver.device) or (rp_filter == 2 and not back)

    def filtered_by(self, node: str, source: IPv4Address, destination: IPv4Address, rp_filter: int) -> str:
        """The node that drops a packet because it does not like the way by which it came; "" where none does.

        A reverse-path filter asks for the route back to the packet's source. With 1, strict, it must leave by the
        interface that the packet came in by; with 2, loose, there must be one at all; 0 is no filter.
        Raises Unreachable as `path` does. Source: RFC 3704; Linux, networking/ip-sysctl.rst, rp_filter.
        """
        hops = self.path(node, destination).hops
        return next((hop.receiver.node for hop in hops if self.filters(hop, source, rp_filter)), "")

    def reaches(self, one: str, other: str, rp_filter: int = 0) -> bool:
        """Whether two nodes can talk: each finds the address by which daemons know the other.

        `rp_filter` is the reverse-path filter that all nodes have, as `filtered_by` takes it.
        """
        a, b = self.site.known_by(one).address, self.site.known_by(other).address
        try:
            return not (self.filtered_by(one, a, b, rp_filter) or self.filtered_by(other, b, a, rp_filter))
        except Unreachable:
            return False

    def _choices_of(self, node: str) -> list[_Choice]:
        """A node's connected networks and routes, the one first that counts most.

        Of equal ones the first counts: Linux has the connected one already and refuses the other.
        """
        if node not in self._choices:
            about, networks = self.site.nodes[node], self.site.topology.networks
            legs = {d: leg for d, leg in about.interfaces.items() if Port(node, d) not in self.site.down}
            near = [(networks[leg.network].subnet, device) for device, leg in legs.items()]
            near.sort(key=lambda leg: -leg[0].prefixlen)
            found = [(net.prefixlen, 0, _choice(net, [(device, net[0])], None)) for net, device in near]
            for route in about.routes:
                ways = [(device, via) for via in route.via for device in _first(d for net, d in near if via in net)]
                if ways:
                    to = self.site.destination(route)
                    found.append((to.prefixlen, -route.metric, _choice(to, ways, route)))
            found.sort(key=lambda ranked: (-ranked[0], -ranked[1]))
            self._choices[node] = [choice for _, _, choice in found]
        return self._choices[node]

    def _hop(self, node: str, destination: IPv4Address) -> Hop:
        leaving = self.leaves(node, destination)
        sender = Port(node, leaving.device)
        key = sender, leaving.next_hop
        if key not in self._hops:
            network = self.site.nodes[node].interfaces[leaving.device].network
            receiver = self._holders.get((network, leaving.next_hop))
            if receiver is None:
                raise Unreachable(f"nobody in network {network} has the address {leaving.next_hop}")
            self._hops[key] = Hop(network, sender, receiver, leaving.next_hop, self._carry(sender, receiver))
        return self._hops[key]

    @cached_property
    def _holders(self) -> dict[tuple[str, IPv4Address], Port]:
        """Who answers ARP for an address in a network."""
        found: dict[tuple[str, IPv4Address], Port] = {}
        for name, node in self.site.nodes.items():
            for device, leg in node.interfaces.items():
                if (port := Port(name, device)) not in self.site.down:
                    found.setdefault((leg.network, leg.address), port)
        return found

    def _carry(self, sender: Port, receiver: Port) -> tuple[Segment, ...]:
        """The segments from one interface to another of the same network, by the fewest switches.

        A switch whose tables are made beforehand sends by the port that its table has for the receiver.
        """
        if sender == receiver:
            return ()
        ways: dict[Port, tuple[Segment, ...]] = {sender: ()}
        reached = deque([sender])
        while reached:
            here = reached.popleft()
            onward = self._segments.get(here, {})
            switches = self._switches.get(here, {})
            if is_static(self.site, here.node) and here.device == f"br-{self.site.nodes[here.node].switch}":
                if here.node not in self._tables:
                    self._tables[here.node] = table(self.site, here.node)
                port = self._tables[here.node].get(receiver)
                onward = {to: way for to, way in onward.items() if way.cables[0].sender.device == port}
                switches = {to: way for to, way in switches.items() if to in onward}
            if receiver in onward:
                return (*ways[here], onward[receiver])
            for there, segment in switches.items():
                if there not in ways:
                    ways[there] = (*ways[here], segment)
                    reached.append(there)
        raise Unreachable(f"no cables lead from {sender} to {receiver}")

    @cached_property
    def _segments(self) -> dict[Port, dict[Port, Segment]]:
        """All segments in both directions, by the interface or bridge that sends on them, and the one that receives."""
        cables: dict[Port, list[DirectedCable]] = defaultdict(list)
        for cable in self.site.cables:
            for one_way in DirectedCable(cable.a, cable.b), DirectedCable(cable.b, cable.a):
                end = self.site.channel_of(one_way.sender)
                cables[Port(end.node, end.name) if end else one_way.sender].append(one_way)
        segments: dict[Port, dict[Port, Segment]] = defaultdict(dict)
        for sender, together in cables.items():
            first = together[0]
            receiver = self.site.channel_of(first.receiver)
            ends = {sender, Port(receiver.node, receiver.name) if receiver else first.receiver}
            if not ends & self.site.down:
                segment = Segment(tuple(together), self.site.channel_of(first.sender))
                segments[self._attachment(first.sender)].setdefault(self._attachment(first.receiver), segment)
        return segments

    @cached_property
    def _switches(self) -> dict[Port, dict[Port, Segment]]:
        """Of these the segments that lead to bridges."""
        bridges = {Port(name, f"br-{node.switch}") for name, node in self.site.nodes.items() if node.switch}
        return {here: {to: s for to, s in ways.items() if to in bridges} for here, ways in self._segments.items()}

    def _attachment(self, port: Port) -> Port:
        """What a cable's end belongs to: the node's interface, its bond, or the bridge of a switch."""
        end = self.site.channel_of(port)
        device = end.name if end else port.device
        node = self.site.nodes[port.node]
        return Port(port.node, device if device in node.interfaces else f"br-{node.switch}")


def path(site: Site, source_node: str, destination: IPv4Address) -> Path:
    """One way, as `Ways.path` has it."""
    return Ways(site).path(source_node, destination)


def without_routes(site: Site, nodes: Iterable[str], to: Iterable[IPv4Address | IPv4Network | str]) -> Site:
    """The site as it is when nodes lack their static routes to what the site's file calls so."""
    gone = set(to)
    fewer = {
        name: site.nodes[name].model_copy(update={"routes": [r for r in site.nodes[name].routes if r.to not in gone]})
        for name in nodes
    }
    return replace(site, nodes=site.nodes | fewer)


def by_network(site: Site, node: str, network: str) -> Site:
    """The site as it is when a node's static routes lead to the same gateways by their addresses in another network.

    Routes to gateways that have none there stay.
    """
    owner = {leg.address: name for name, about in site.nodes.items() for leg in about.interfaces.values()}

    def other(gateway: IPv4Address) -> IPv4Address:
        legs = site.nodes[owner[gateway]].interfaces.values() if gateway in owner else ()
        return next((leg.address for leg in legs if leg.network == network), gateway)

    own = site.nodes[node]
    routes = [route.model_copy(update={"via": [other(gateway) for gateway in route.via]}) for route in own.routes]
    return replace(site, nodes=site.nodes | {node: own.model_copy(update={"routes": routes})})


def without_member(site: Site, port: Port) -> Site:
    """The site as it is when a channel's cable is pulled: the channel goes on with its other members."""
    cable = site.cable_at(port)
    gone = {(end.node, end.device) for end in cable.ends}

    def left(end: ChannelEnd) -> ChannelEnd:
        return end.model_copy(update={"members": [m for m in end.members if (end.node, m) not in gone]})

    channels = tuple(c.model_copy(update={"ends": [left(end) for end in c.ends]}) for c in site.channels)
    return replace(site, channels=channels, cables=tuple(c for c in site.cables if c is not cable))


def at_rate(site: Site, port: Port, rate_mbit: int) -> Site:
    """The site as it is when the wire at a port has another rate, both ways."""
    cable = site.cable_at(port)
    other = replace(cable, rate_mbit=(rate_mbit, rate_mbit))
    return replace(site, cables=tuple(other if c is cable else c for c in site.cables))
