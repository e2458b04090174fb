"""Routes that are one of two ways, or the only way back."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import Route
from causeway.plan.delays import round_trip_ms
from causeway.plan.paths import Ambiguous, Hop, Unreachable, Ways, by_network, without_routes
from causeway.scenario.cast.base import Asking, reached, several


@dataclass(frozen=True)
class Detour:
    """A client that goes to a server directly by a host route, and without it by a gateway.

    `address` is the server's by which daemons know it, `gateway` who forwards for those that lack the host route.
    """

    client: str
    server: str
    address: IPv4Address
    gateway: str


@dataclass(frozen=True)
class WayBack:
    """A node whose static route to a network is its only way to answer others; `to` is the network's name."""

    node: str
    to: str


@dataclass(frozen=True)
class Newcomer:
    """A node that reaches a far one by its static routes alone; the far one answers by `back` alone."""

    node: str
    far: str
    back: list[Route]


@dataclass(frozen=True)
class Leased:
    """A node that holds a lease of another cluster, `owner`, and whom of those who hold one, too, it could lose.

    Without its static route to the network `to` it loses the `strangers`, with whose clusters it shares no filesystem,
    and them alone. A `neighbour`, whom the owner could do without, it reaches by a host route to `address`; the two
    have addresses in `subnet`, too. `bystander` is in that network, and forwards nothing.
    """

    node: str
    owner: str
    to: str
    strangers: list[str]
    neighbour: str
    address: IPv4Address
    subnet: IPv4Network
    bystander: IPv4Address


@dataclass(frozen=True)
class Distant:
    """A host, one of its cluster that is nearby, and one beyond cables that have a length: `trip_ms` there and back.

    The wires from nearby carry no more than those from afar.
    """

    node: str
    nearby: str
    far: str
    trip_ms: float


@dataclass(frozen=True)
class Transports:
    """A filesystem whose servers clients reach through gateways, which have two networks in common with them.

    `clients` go by `usual`, as their routes say, and could go by `other`, the slower one. `port` is a gateway's own
    in that.
    """

    filesystem: str
    clients: list[str]
    usual: str
    other: str
    port: Port


@dataclass(frozen=True)
class Short:
    """A client behind a gateway whose adapter takes shorter packets (`mtu`) than the client's own and the server's.

    The client's route to the server says so. `other` is behind a gateway that takes all.
    """

    client: str
    gateway: str
    server: str
    mtu: int
    other: str


@dataclass(frozen=True)
class Jumbo:
    """Hosts of one network: two with its full MTU, two whose adapters take less, and one farther off, with the full."""

    network: str
    full: tuple[str, str]
    short: tuple[str, str]
    far: str


class AskRoutes(Asking):
    """Questions for routes."""

    def detours(self, n: int = 1, *, diskless: bool = False) -> list[Detour]:
        """n pairs, no client and no server twice, with a gateway in common; of diskless clients on request."""
        found: dict[str, list[Detour]] = {}
        for client in sorted(self._hosts(), key=self._serves):
            if diskless and client not in self.site.diskless():
                continue
            for detour in self._detours_of(client):
                chosen = found.setdefault(detour.gateway, [])
                if detour.client not in [d.client for d in chosen] and detour.server not in [d.server for d in chosen]:
                    chosen.append(detour)
                    if len(chosen) == n:
                        self._give([name for d in chosen for name in (d.client, d.server)] + [detour.gateway])
                        return chosen
        whose = several(n, "host without a disk", "hosts without disks") if diskless else several(n, "host", "hosts")
        raise self._lacks(f"{whose} with a host route beside a longer way to the same server")

    def computable(self) -> None:
        """Unsupported where a route has several gateways, for of these nobody computes which a packet takes."""
        if any(len(route.via) > 1 for node in self.site.nodes.values() for route in node.routes):
            raise self._lacks("single gateway for each route, so that the way of every packet could be computed")

    def way_back(self, *, disk: bool = False) -> WayBack:
        """A host that can answer others only by its static route to their network; on request one with a disk.

        It forwards nothing: others would lose each other with the route.
        """
        for name in self._hosts():
            if (disk and name in self.site.diskless()) or self.site.nodes[name].forwards:
                continue
            for route in self.site.nodes[name].routes:
                if isinstance(route.to, str) and route.to in self.site.topology.networks:
                    lacking = Ways(without_routes(self.site, [name], [route.to]))
                    others = [h for h in self._hosts() if h != name]
                    if any(reached(self._ways, h, name) and not reached(lacking, h, name) for h in others):
                        self._give([name])
                        return WayBack(name, route.to)
        whose = "host with a disk" if disk else "host"
        raise self._lacks(f"{whose} that answers others by a static route to their network")

    def leased(self) -> Leased:
        """Who holds a lease, and could lose some others who do, by a route; rather one that has no task for others."""
        serving = {server for name in self.site.topology.filesystems for server in self.site.servers(name)}
        for node in sorted(self._hosts(), key=lambda host: self._serves(host) or host in serving):
            for owner in self._expelled_by(node):
                for route in self.site.nodes[node].routes:
                    strangers = self._only_by(node, owner, route) if route.to in self.site.topology.networks else []
                    if strangers and (near := next(self._neighbours(node, owner), None)):
                        self._give([node, *strangers, near[0]])
                        return Leased(node, owner, str(route.to), strangers, *near)
        raise self._lacks(
            "host of a cluster with `failure_detection_s` that mounts another's filesystems, and reaches by one route"
            " alone those who mount others of them, and by a host route one who has a network in common with it"
        )

    def _expelled_by(self, node: str) -> list[str]:
        """The other clusters whose filesystems a node mounts, and that may expel it."""
        cluster = self.site.nodes[node].cluster or ""
        known = self.site.topology.clusters
        owners = {f.owner for f in self.site.mounts(cluster).values()} - {cluster}
        leased = known[cluster].failure_detection_s is not None
        return [o for o in self.site.owners() if leased and o in owners and known[o].failure_detection_s is not None]

    def _only_by(self, node: str, owner: str, route: Route) -> list[str]:
        """Whom a node reaches by a route alone; nobody where one of them has anything to do with it."""
        lacking = Ways(without_routes(self.site, [node], [route.to]))
        own = self.site.mounts(self.site.nodes[node].cluster or "").keys()
        lost = [h for h in self._hosts() if h != node and self._talk(node, h) and not reached(lacking, node, h)]
        for cluster in {self.site.nodes[host].cluster or "" for host in lost}:
            holds = any(owner in self._expelled_by(host) for host in lost if self.site.nodes[host].cluster == cluster)
            if not holds or own & self.site.mounts(cluster).keys():
                return []
        return lost

    def _neighbours(self, node: str, owner: str) -> Iterator[tuple[str, IPv4Address, IPv4Network, IPv4Address]]:
        """Who of the owner a node reaches by a host route, and has a network in common with; who else is in that."""
        for route in self.site.nodes[node].routes:
            host = self._known_by(route) if isinstance(route.to, IPv4Address) else None
            if not host or self.site.nodes[host].cluster != owner or self._serves(host) or not self._spare(node, host):
                continue
            for leg in self.site.nodes[node].interfaces.values():
                if any(other.network == leg.network for other in self.site.nodes[host].interfaces.values()):
                    for fellow in self._fellows(node):
                        beside = self.site.known_by(fellow)
                        if beside.network == leg.network and not self.site.nodes[fellow].forwards:
                            subnet = self.site.topology.networks[leg.network].subnet
                            yield host, self._known(host), subnet, beside.address

    def _spare(self, node: str, host: str) -> bool:
        """Whether all that a node mounts can do without a host."""
        mounts = self.site.mounts(self.site.nodes[node].cluster or "")
        return all(f.parity > 0 for name, f in mounts.items() if host in self.site.servers(name))

    def newcomer(self) -> Newcomer:
        """A host with a disk that reaches another by static routes alone, and is answered by one alone, of a disk, too.

        Rather one that has no task for others.
        """
        disked = [h for h in self._hosts() if h not in self.site.diskless() and self.site.nodes[h].routes]
        for node in sorted(disked, key=self._serves):
            bare = Ways(self._routeless(node, self.site.nodes[node].routes))
            for far in (h for h in disked if h != node and self._talk(node, h)):
                address = self.site.known_by(node).address
                back = [r for r in self.site.nodes[far].routes if address in self.site.destination(r)]
                if back and not reached(bare, node, far) and not reached(Ways(self._routeless(far, back)), node, far):
                    self._give([node, far])
                    return Newcomer(node, far, back)
        raise self._lacks(
            "host with a disk that another, of a disk, too, reaches and is reached by with static routes alone"
        )

    def distant(self) -> Distant:
        """Who of all hosts are farthest from each other; neither has a task for others, if that can be."""
        long = any(cable.delay_ms for cable in self.site.cables)
        hosts = sorted(self._hosts() if long else [], key=self._serves)
        found: list[tuple[float, str, str, str]] = []
        for node in hosts:
            trips = {h: self._trip_ms(node, h) for h in hosts if h != node and self._talk(node, h)}
            near = [
                h for h, ms in trips.items() if not ms and self.site.nodes[h].cluster == self.site.nodes[node].cluster
            ]
            for far in (h for h, ms in trips.items() if ms):
                slower = [h for h in near if self._carries(h, node) <= self._carries(far, node)]
                found += [(trips[far], node, nearby, far) for nearby in slower[:1]]
        if not found:
            raise self._lacks("host with another beyond cables of some length (`delay_ms`), and one without on the way")
        trip_ms, node, nearby, far = max(found, key=lambda one: one[0])
        self._give([node, nearby, far])
        return Distant(node, nearby, far, trip_ms)

    def _carries(self, one: str, other: str) -> int:
        """What the slowest wire from one host to another carries, in Mbit/s; they talk."""
        segments = (segment for hop in self._ways.path(one, self._known(other)).hops for segment in hop.segments)
        return min(self.site.sends_mbit(segment.cables[0].sender) for segment in segments)

    def _trip_ms(self, one: str, other: str) -> float:
        return round_trip_ms(self._ways, one, self._known(one), self._known(other))

    def _known(self, host: str) -> IPv4Address:
        return self.site.known_by(host).address

    def _routeless(self, node: str, routes: list[Route]) -> Site:
        return without_routes(self.site, [node], [route.to for route in routes])

    def stranger(self, node: str) -> tuple[str, IPv4Address]:
        """A host that sends to a node from an address to which the node has no route; and that address."""
        for host in self._hosts():
            way = self._way(host, node) if host != node else None
            if way and way.hops:
                source = self.site.nodes[host].interfaces[way.hops[0].sender.device].address
                if not self._has_route(node, source):
                    return self._give([host])[0], source
        raise self._lacks(f"host that sends to {node} from an address to which that has no route")

    def _detours_of(self, client: str) -> Iterator[Detour]:
        for route in self.site.nodes[client].routes:
            if isinstance(route.to, IPv4Address) and (server := self._known_by(route)):
                lacking = Ways(without_routes(self.site, [client], [route.to]))
                direct = self._way(client, server)
                try:
                    longer = lacking.path(client, route.to).hops
                except (Unreachable, Ambiguous):
                    continue
                if direct and len(direct.hops) == 1 and len(longer) > 1 and reached(lacking, client, server):
                    yield Detour(client, server, route.to, longer[0].receiver.node)

    def _known_by(self, route: Route) -> str | None:
        """The host that daemons know by a host route's destination."""
        return next((h for h in self._hosts() if self.site.known_by(h).address == route.to), None)

    def transports(self, clients: int) -> Transports:
        """Clients of a filesystem that could reach all of its servers by another network than they do."""
        for name in self.site.topology.filesystems:
            for other in self.site.topology.networks:
                able = {h: way for h in self._hosts() if (way := self._detoured(h, name, other))}
                mounting = [h for h in able if name in self.site.mounts(self.site.nodes[h].cluster or "")]
                usual = {way[0].network for way in able.values()}
                slower = [h for h in mounting if self._sends(h, other) < self._sends(h, able[h][0].network)]
                if len(slower) >= clients and len(usual) == 1:
                    gateway = able[slower[0]][1].receiver.node
                    chosen, (port, *_) = self._give(slower[:clients]), self._ports(gateway, other)
                    self._give([gateway])
                    return Transports(name, chosen, usual.pop(), other, port)
        what = f"filesystem whose servers {clients} clients reach through gateways, and could by another network, too"
        raise self._lacks(what)

    def short(self) -> Short:
        """A client of a filesystem behind a gateway of shorter packets, and one behind another that takes its own."""
        for name in self.site.topology.filesystems:
            server = self.site.servers(name)[0]
            mounting = [h for h in self._hosts() if name in self.site.mounts(self.site.nodes[h].cluster or "")]
            found = {h: way.hops for h in mounting if (way := self._way(h, server)) and len(way.hops) > 1}
            sizes = {h: [self.site.mtu(hop.segments[0].cables[0].sender) for hop in hops] for h, hops in found.items()}
            mtus, own = {h: min(of) for h, of in sizes.items()}, {h: of[0] for h, of in sizes.items()}
            whole = [h for h in found if mtus[h] == own[h] and not self._serves(h) and self._talk(server, h)]
            for client, hops in found.items():
                route = self._ways.leaves(client, self._known(server)).route
                if (
                    not self._serves(client)
                    and mtus[client] < own[client]
                    and route
                    and route.mtu == mtus[client]
                    and whole
                ):
                    self._give([client, hops[0].receiver.node, server, whole[0]])
                    return Short(client, hops[0].receiver.node, server, mtus[client], whole[0])
        raise self._lacks("client whose route has the smaller MTU of its gateway's adapter, beside one that needs none")

    def jumbo(self) -> Jumbo:
        """Hosts of a jumbo network, of which some have adapters that take less."""
        for network, about in self.site.topology.networks.items():
            cabled = {end for cable in self.site.cables for end in cable.ends}
            ports = {h: ports[0] for h in self._hosts() if (ports := self._ports(h, network)) and ports[0] in cabled}
            full = [h for h, port in ports.items() if self.site.mtu(port) == about.mtu]
            short = [h for h, port in ports.items() if self.site.mtu(port) < about.mtu]
            if len(full) < 3 or len(short) < 2:
                continue
            one = min(full, key=lambda host: self._switches(short[0], host, network))
            near = sorted((h for h in full if h != one), key=lambda host: self._switches(one, host, network))
            if self._switches(one, near[-1], network) > self._switches(one, near[0], network):
                self._give([one, near[0], *short[:2], near[-1]])
                return Jumbo(network, (one, near[0]), (short[0], short[1]), near[-1])
        raise self._lacks(
            "network with two hosts whose adapters take less than its MTU, and three, one far off, that do not"
        )

    def _switches(self, one: str, other: str, network: str) -> int:
        """How many cables lead from one host to another of the same network."""
        hops = self._ways.path(one, self.site.address(other, network)).hops
        return sum(len(hop.segments) for hop in hops)

    def _sends(self, host: str, network: str) -> int:
        """What a host's wires in a network carry from it, those of its channel there, too."""
        ends = {end.name: end.members for _, end, _ in self.site.channel_ends() if end.node == host}
        wires = [Port(host, d) for port in self._ports(host, network) for d in ends.get(port.device, [port.device])]
        return sum(map(self.site.sends_mbit, wires))

    def _detoured(self, host: str, filesystem: str, other: str) -> tuple[Hop, Hop] | None:
        """The first hops to the first two servers, if all of them could begin in another network, and do not.

        Each of the two has a gateway of its own.
        """
        changed = Ways(by_network(self.site, host, other))
        found = []
        for server in self.site.servers(filesystem):
            usual, instead = (self._way(host, server, ways) for ways in (self._ways, changed))
            if not usual or not instead or len(usual.hops) < 2 or self._serves(host):
                return None
            if usual.hops[0].network == other or instead.hops[0].network != other:
                return None
            found.append(usual.hops[0])
        one, two, *_ = found
        return (one, two) if one.receiver.node != two.receiver.node else None
