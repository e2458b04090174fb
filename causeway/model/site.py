"""A site written out in full: every node and cable of its pools by itself; and what is asked of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

from causeway.model import pools
from causeway.model.document import Topology
from causeway.model.pools import BY_PLATFORM, Diskless, Pool
from causeway.model.pools.around import Around
from causeway.model.thing import Port
from causeway.model.topology import OVS_POLICIES, Channel, ChannelEnd, Filesystem, Interface, Link, Network, Node, Route

EVERYWHERE = IPv4Network("0.0.0.0/0")


@dataclass(frozen=True)
class Cable:
    """One cable, in the network of its ends; `rate_mbit` is its wire's from a to b, and from b to a.

    `delay_ms` is how long a frame is under way in it, either way.
    """

    a: Port
    b: Port
    network: str
    rate_mbit: tuple[int, int]
    delay_ms: float

    @property
    def ends(self) -> tuple[Port, Port]:
        return self.a, self.b

    @property
    def both_ways(self) -> int | list[int]:
        """The rates as a site's file has them: one where both are the same."""
        there, back = self.rate_mbit
        return there if there == back else [there, back]


@dataclass(frozen=True)
class Site:
    """The whole site; what the plan and the renderer work on.

    Nodes come in this order: plain pools', those that stand by themselves, other pools'. Cables: plain pools' links,
    network by network; other links; channels' members, pools' first; other pools' links. What a plan changes is
    changed here (`dataclasses.replace`), never in the topology: `mtus` are MTUs of ports and bonds in place of the
    file's, `down` the interfaces that are switched off, whose addresses their nodes have all the same, `slowed` what
    part of its rates the disk of a filesystem at a server has.
    """

    topology: Topology
    nodes: dict[str, Node]
    cables: tuple[Cable, ...]
    channels: tuple[Channel, ...]
    mtus: Mapping[Port, int] = field(default_factory=dict)
    down: frozenset[Port] = frozenset()
    slowed: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.topology.lab

    # cables

    @cached_property
    def _cable_at(self) -> dict[Port, Cable]:
        return {end: cable for cable in self.cables for end in cable.ends}

    @cached_property
    def _end_at(self) -> dict[Port, ChannelEnd]:
        return {Port(e.node, device): e for channel in self.channels for e in channel.ends for device in e.members}

    def cable_at(self, port: Port) -> Cable:
        """ValueError when the port carries no cable (a bond or a bridge does not; its members do)."""
        if port not in self._cable_at:
            raise ValueError(f"{port} carries no cable")
        return self._cable_at[port]

    def sends_mbit(self, port: Port) -> int:
        """What the wire at a port carries from it, in Mbit/s; ValueError without a cable."""
        cable = self.cable_at(port)
        return cable.rate_mbit[0] if port == cable.a else cable.rate_mbit[1]

    def network_of(self, port: Port) -> str:
        """The network of the cable at a port; ValueError without a cable."""
        return self.cable_at(port).network

    def mtu(self, port: Port) -> int:
        """The MTU that the port must have: its interface's, or else its network's. A bond or a bridge has one, too."""
        end = self.channel_of(port)
        for here in (port, Port(end.node, end.name) if end else port):
            if here in self.mtus:
                return self.mtus[here]
        interface = self.interface_at(port)
        if interface is not None and interface.mtu is not None:
            return interface.mtu
        network = interface.network if interface is not None else self.network_of(port)
        return self.topology.networks[network].mtu

    def interface_at(self, port: Port) -> Interface | None:
        """The interface of a port, or of the bond that the port is a member of."""
        end = self.channel_of(port)
        return self.nodes[port.node].interfaces.get(end.name if end else port.device)

    def channel_ends(self) -> Iterator[tuple[Channel, ChannelEnd, ChannelEnd]]:
        """Every channel from either side: (channel, this end, the other end)."""
        for channel in self.channels:
            a, b = channel.ends
            yield channel, a, b
            yield channel, b, a

    def channel_of(self, port: Port) -> ChannelEnd | None:
        """The channel end that the port is a member of."""
        return self._end_at.get(port)

    def is_linux_bond(self, end: ChannelEnd) -> bool:
        """Whether Linux puts an end's members together: a host's, and a switch's that has a policy of Cisco's.

        Open vSwitch's own bonds have no such policies, and are no channel without LACP: they take broadcasts by one
        member alone.
        """
        return self.nodes[end.node].switch is None or end.hash_policy not in OVS_POLICIES

    def end_of(self, node: str, peer: str) -> ChannelEnd:
        """A node's end of its channel to a peer; LookupError where there is none."""
        for _, here, there in self.channel_ends():
            if (here.node, there.node) == (node, peer):
                return here
        raise LookupError(f"{node} has no channel to {peer}")

    def switches(self) -> list[str]:
        """The nodes that switch a network."""
        return [name for name, node in self.nodes.items() if node.switch is not None]

    # addresses

    def known_by(self, node: str) -> Interface:
        """The interface by whose address daemons know a node: in its cluster's network for that, or its first.

        LookupError where there is none.
        """
        legs = self.nodes[node].interfaces.values()
        cluster = self.topology.clusters.get(self.nodes[node].cluster or "")
        network = cluster.known_by if cluster else None
        for leg in legs:
            if network in (None, leg.network):
                return leg
        raise LookupError(f"{node} has no interface in {network or 'any network'}")

    def address(self, node: str, network: str) -> IPv4Address:
        """A node's address in a network; KeyError where it has none."""
        for leg in self.nodes[node].interfaces.values():
            if leg.network == network:
                return leg.address
        raise KeyError(f"{node} has no address in {network}")

    def destination(self, route: Route) -> IPv4Network:
        """What a static route leads to: a network that it names, a prefix, one host, or everything."""
        if route.to == "default":
            return EVERYWHERE
        return self.topology.networks[route.to].subnet if isinstance(route.to, str) else IPv4Network(route.to)

    def shown_destination(self, route: Route) -> str:
        """The same as `ip route` prints it: default, a network, or a host without its prefix length."""
        return "default" if route.to == "default" else str(self.destination(route)).removesuffix("/32")

    # pools

    @cached_property
    def _pool_of(self) -> dict[str, str]:
        return {node: name for name, pool in self.topology.pools.items() for node in pools.names(pool)}

    def pool_name(self, node: str) -> str | None:
        """The name of the pool that a node is of."""
        return self._pool_of.get(node)

    def pool_of(self, node: str) -> Pool | None:
        """The pool that a node is of."""
        return self.topology.pools[self._pool_of[node]] if node in self._pool_of else None

    def nodes_of(self, pool: str) -> list[str]:
        """The nodes of a pool."""
        return [node for node in self.nodes if self._pool_of.get(node) == pool]

    def has_disks(self) -> bool:
        """Whether it says of some disk what that does."""
        disks = [filesystem.disk for filesystem in self.topology.filesystems.values()]
        return any([*disks, *(pool.boot.disk for pool in self.boot_pools().values())])

    def boot_pools(self) -> dict[str, Diskless]:
        """The pools whose nodes boot over the network."""
        return {name: pool for name, pool in self.topology.pools.items() if isinstance(pool, Diskless)}

    def boot_pool(self) -> Diskless | None:
        """The first of them, or None."""
        return next(iter(self.boot_pools().values()), None)

    def diskless(self) -> list[str]:
        """The nodes that boot over the network."""
        booting = self.boot_pools()
        return [node for node in self.nodes if self._pool_of.get(node) in booting]

    def comes_up(self, node: str) -> bool:
        """Whether a node is up when the lab is: those that boot over the network are where their block is booted."""
        pool = self.pool_of(node)
        return not isinstance(pool, Diskless) or node in pools.booted(pool)

    def hosts(self) -> list[str]:
        """The nodes of clusters that are up when the lab is."""
        return [name for name, node in self.nodes.items() if node.cluster and self.comes_up(name)]

    # clusters

    def members(self, cluster: str) -> list[str]:
        """The nodes of a cluster."""
        return [name for name, node in self.nodes.items() if node.cluster == cluster]

    def administrator(self, cluster: str) -> str | None:
        """The node on which a cluster's administrator works."""
        return self.topology.clusters[cluster].administrator

    def quorum(self, cluster: str) -> list[str]:
        """The nodes that must agree on a cluster's state: its administrator's, and its filesystems' servers."""
        first = self.administrator(cluster)
        serving = [s for name, f in self.topology.filesystems.items() if f.owner == cluster for s in self.servers(name)]
        return list(dict.fromkeys([*([first] if first else []), *serving]))

    def owners(self) -> list[str]:
        """The clusters that own filesystems."""
        return list(dict.fromkeys(f.owner for f in self.topology.filesystems.values()))

    def clients(self, owner: str | None = None) -> list[str]:
        """The clusters that mount what another owns, or what this owner does."""
        found = []
        for cluster in self.topology.clusters:
            foreign = {f.owner for f in self.mounts(cluster).values()} - {cluster}
            if owner in foreign or (owner is None and foreign):
                found.append(cluster)
        return found

    def mounts(self, cluster: str) -> dict[str, Filesystem]:
        """The filesystems that a cluster mounts, its own ones, too."""
        there = self.topology.filesystems
        return {name: there[name] for name in self.topology.clusters[cluster].mounts if name in there}

    def servers(self, filesystem: str) -> list[str]:
        """The servers of a filesystem, pools written out."""
        named = self.topology.filesystems[filesystem].servers
        return [n for name in named for n in (self.nodes_of(name) if name in self.topology.pools else [name])]

    def name_servers(self, node: str) -> list[str]:
        """Whom a node asks for names, in this order."""
        cluster = self.topology.clusters.get(self.nodes[node].cluster or "")
        return cluster.dns if cluster else []

    def all_name_servers(self) -> list[str]:
        """Those whom some cluster's nodes ask for names."""
        return list(dict.fromkeys(server for cluster in self.topology.clusters.values() for server in cluster.dns))

    def time_server(self, node: str) -> str | None:
        """Who gives a node the time; None also for who gives it to its cluster."""
        cluster = self.topology.clusters.get(self.nodes[node].cluster or "")
        return cluster.ntp if cluster and cluster.ntp != node else None


def build_site(topology: Topology) -> Site:
    """Write a topology out in full.

    One whose rules are not checked yet may name what is not there: a cable's network is then "", what has no address
    is left out, and the questions above may raise KeyError.
    """
    around = surroundings(topology)
    booting: dict[str, Node] = {}
    for pool in _other(topology):
        booting |= BY_PLATFORM[pool.platform].nodes(pool, around)
    nodes = dict(around.nodes) | {name: node for name, node in booting.items() if name not in around.nodes}
    channels = tuple(channel for _, channel in written_channels(topology))
    bonds = {Port(e.node, d): e.name for channel in channels for e in channel.ends for d in e.members}

    def network(port: Port) -> str:
        node = nodes.get(port.node)
        leg = node.interfaces.get(bonds.get(port, port.device)) if node else None
        return leg.network if leg else (node.switch if node and node.switch else "")

    def cable(link: Link) -> Cable:
        a, b = link.ends
        where = network(a) or network(b)
        usual = topology.networks.get(where, _NOWHERE)
        rate = link.rate_mbit or [usual.rate_mbit]
        return Cable(a, b, where, (rate[0], rate[-1]), usual.delay_ms if link.delay_ms is None else link.delay_ms)

    return Site(topology, nodes, tuple(cable(link) for link in written_links(topology)), channels)


_NOWHERE = Network(subnet=EVERYWHERE)


def surroundings(topology: Topology) -> Around:
    """What pools that are not plain find: all else."""
    around = Around(topology.networks, topology.clusters, topology.nodes)
    plain: dict[str, Node] = {}
    for pool in topology.pools.values():
        if pool.platform == "plain":
            plain |= BY_PLATFORM[pool.platform].nodes(pool, around)
    return Around(topology.networks, topology.clusters, plain | topology.nodes)


def _other(topology: Topology) -> Iterator[Pool]:
    return (pool for pool in topology.pools.values() if pool.platform != "plain")


def written_channels(topology: Topology) -> Iterator[tuple[str, Channel]]:
    """Every channel, with the name of the pool that it is of ("": it stands by itself)."""
    for name, pool in topology.pools.items():
        if pool.platform == "plain":
            yield from ((name, channel) for channel in BY_PLATFORM[pool.platform].channels(pool))
    yield from (("", channel) for channel in topology.channels)


def written_links(topology: Topology) -> Iterator[Link]:
    """Every cable as a link, in the order that Site has them."""
    plain = [pool for pool in topology.pools.values() if pool.platform == "plain"]
    from_pools = [pair for pool in plain for pair in BY_PLATFORM[pool.platform].links(pool)]
    for network in dict.fromkeys([*topology.networks, *(name for name, _ in from_pools)]):
        yield from (link for name, link in from_pools if name == network)
    yield from topology.links
    for _, channel in written_channels(topology):
        yield from member_links(channel)
    for pool in _other(topology):
        yield from (link for _, link in BY_PLATFORM[pool.platform].links(pool))


def member_links(channel: Channel) -> Iterable[Link]:
    """The cables of a channel: member i of one end to member i of the other."""
    left, right = channel.ends
    for a, b in zip(left.members, right.members, strict=False):
        yield Link(ends=[Port(left.node, a), Port(right.node, b)], rate_mbit=channel.rate_mbit)
