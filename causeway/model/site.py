"""A checked topology written out in full: I/O nodes made from their pool, every cable by itself."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network

from causeway.model.topology import Channel, ChannelEnd, Interface, IoNodes, Node, Route, Topology


@dataclass(frozen=True)
class Port:
    """One end of a cable."""

    node: str
    device: str

    def __str__(self) -> str:
        return f"{self.node}:{self.device}"


@dataclass(frozen=True)
class Cable:
    """One cable, in the network that its switch end (or its only named end) belongs to."""

    a: Port
    b: Port
    network: str

    @property
    def ends(self) -> tuple[Port, Port]:
        return self.a, self.b


@dataclass(frozen=True)
class Site:
    """The whole site; what the plan and the renderer work on."""

    topology: Topology
    nodes: dict[str, Node]
    cables: tuple[Cable, ...]

    @property
    def name(self) -> str:
        return self.topology.lab

    def mtu(self, port: Port) -> int:
        """The MTU that the port must have: its interface's, or else its network's."""
        return port_mtu(self.topology, self.nodes, port, self.network_of(port))

    def first_leg(self, node: str) -> Interface:
        """A node's first interface, by whose address daemons know it: f in JUMP, b in JUBL."""
        return next(iter(self.nodes[node].interfaces.values()))

    def members(self, cluster: str) -> list[str]:
        """The nodes of a cluster."""
        return [name for name, node in self.nodes.items() if node.cluster == cluster]

    def destination(self, route: Route) -> IPv4Network:
        """What a static route leads to: a network that it names, or one host."""
        return self.topology.networks[route.to].subnet if isinstance(route.to, str) else IPv4Network(route.to)

    def network_of(self, port: Port) -> str:
        return next(c.network for c in self.cables if port in c.ends)

    def channel_ends(self) -> Iterator[tuple[Channel, ChannelEnd, ChannelEnd]]:
        """Every channel from either side: (channel, this end, the other end)."""
        for channel in self.topology.channels:
            a, b = channel.ends
            yield channel, a, b
            yield channel, b, a

    def channel_of(self, port: Port) -> ChannelEnd | None:
        """The channel end that the port is a member of."""
        for _, end, _ in self.channel_ends():
            if end.node == port.node and port.device in end.members:
                return end
        return None


def build_site(topology: Topology) -> Site:
    """Write a checked topology out in full."""
    nodes = dict(topology.nodes) | io_node_objects(topology)
    cables = tuple(
        Cable(a, b, network) for a, b in cable_ports(topology) if (network := cable_network(topology, nodes, a, b))
    )
    return Site(topology, nodes, cables)


def locations(pool: IoNodes) -> list[str]:
    """Location codes in the order of the machine: rack, midplane, node card, Ethernet connector.

    Source: Redpaper, "IP names and addresses of the Blue Gene I/O nodes" (Figure 2).
    """
    return [
        f"{rack}-M{midplane}-N{card:X}-{connector}"
        for group in pool.locations
        for rack in group.racks
        for midplane in range(2)
        for card in range(16)
        for connector in group.connectors
    ]


def io_node_addresses(topology: Topology) -> dict[str, IPv4Address]:
    """The address of every location that gets one.

    Handed out in order from `addresses_from`, past the addresses of others and past .0 and .255, which
    are valid in a /22 and trouble at home, up to the network's broadcast address.
    """
    pool = topology.io_nodes
    if pool is None or pool.network not in topology.networks:
        return {}
    taken = {i.address for n in topology.nodes.values() for i in n.interfaces.values()}
    subnet = topology.networks[pool.network].subnet
    given: dict[str, IPv4Address] = {}
    address = pool.addresses_from
    for location in locations(pool):
        while address in taken or int(address) & 0xFF in (0, 255):
            address += 1
        if address not in subnet or address == subnet.broadcast_address:
            break
        given[location] = address
        address += 1
    return given


def powered(pool: IoNodes) -> list[str]:
    """The `count` locations from `first` on, in a ring."""
    everywhere = locations(pool)
    start = everywhere.index(pool.first) if pool.first in everywhere else 0
    return (everywhere[start:] + everywhere[:start])[: pool.count]


def block_nodes(pool: IoNodes, block: str, nodes: Iterable[str]) -> list[str]:
    """Those of the nodes that are in a block."""
    return [name for name in nodes if fnmatchcase(name, pool.blocks[block])]


def io_node_objects(topology: Topology) -> dict[str, Node]:
    """The powered I/O nodes as nodes: one interface, eth0, named by the location."""
    pool = topology.io_nodes
    if pool is None:
        return {}
    addresses = io_node_addresses(topology)
    return {
        name: Node(
            role="ion",
            cluster=pool.cluster,
            interfaces={"eth0": Interface(network=pool.network, address=addresses[name], names=[name])},
            routes=pool.routes,
        )
        for name in powered(pool)
        if name in addresses
    }


def cable_ports(topology: Topology) -> Iterator[tuple[Port, Port]]:
    """Both ends of every cable: the links, the channels' members, the I/O nodes' links."""
    for link in topology.links:
        a, b = (Port(*end.split(":", 1)) for end in link.ends)
        yield a, b
    for channel in topology.channels:
        left, right = channel.ends
        for a_device, b_device in zip(left.members, right.members, strict=False):
            yield Port(left.node, a_device), Port(right.node, b_device)
    if pool := topology.io_nodes:
        for name in powered(pool):
            yield Port(name, "eth0"), Port(pool.switch, name)


def port_network(topology: Topology, nodes: dict[str, Node], port: Port) -> str | None:
    """The network of a port: its interface's (or its bond's), or else the one its node switches."""
    node = nodes.get(port.node)
    if node is None:
        return None
    interface = port_interface(topology, node, port)
    return interface.network if interface else node.switch


def port_interface(topology: Topology, node: Node, port: Port) -> Interface | None:
    """The interface of a port of the node, or of the bond that the port is a member of."""
    for channel in topology.channels:
        for end in channel.ends:
            if end.node == port.node and port.device in end.members:
                return node.interfaces.get(end.name)
    return node.interfaces.get(port.device)


def cable_network(topology: Topology, nodes: dict[str, Node], a: Port, b: Port) -> str | None:
    return port_network(topology, nodes, a) or port_network(topology, nodes, b)


def port_mtu(topology: Topology, nodes: dict[str, Node], port: Port, network: str) -> int:
    interface = port_interface(topology, nodes[port.node], port)
    if interface is not None and interface.mtu is not None:
        return interface.mtu
    return topology.networks[network].mtu
