"""Striped filesystems behind gateways, the clients of each, and other ways to their servers."""

from dataclasses import dataclass, replace
from ipaddress import IPv4Address

from causeway.model.thing import Port
from causeway.model.topology import ChannelEnd, Route
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import slb_member
from causeway.plan.paths import Ambiguous, DirectedCable, Unreachable, Ways, without_routes
from causeway.plan.storage import between
from causeway.scenario.cast.base import several
from causeway.scenario.cast.storage import AskStorage


@dataclass(frozen=True)
class Gateways:
    """A striped filesystem, and clients of which each reaches all of its servers by a node of its own that forwards.

    `by` has for each client that node, its gateway. `narrow` is a cable that all clients' data goes by, at the port
    that what they write leaves from; it carries less than all gateways together, and more than one.
    """

    filesystem: str
    by: dict[str, str]
    narrow: Port

    @property
    def clients(self) -> list[str]:
        return list(self.by)

    @property
    def gateways(self) -> list[str]:
        return list(self.by.values())


@dataclass(frozen=True)
class Defaulted:
    """A client of a filesystem that reaches its servers by `routes` of its own, or else by its default route.

    `device` is where its own routes lead it, `other` where the default one does, which is slower.
    """

    filesystem: str
    client: str
    routes: list[Route]
    device: str
    other: str


@dataclass(frozen=True)
class Answered:
    """A striped filesystem of which each server answers one client by a node of its own, and others by that, too.

    `by` has for each server that node, and its route for the client and for none of `others`.
    """

    filesystem: str
    client: str
    by: dict[str, tuple[str, str]]
    others: list[str]


@dataclass(frozen=True)
class Private:
    """Gateways, and nodes of the clients' cluster beside them that are in the servers' own networks, and forward, too.

    `adapters` are the ports by which each of these (`servers`) is in the network of each server.
    """

    gateways: Gateways
    adapters: dict[str, dict[str, Port]]

    @property
    def servers(self) -> list[str]:
        return list(self.adapters)


@dataclass(frozen=True)
class Apart:
    """A client that reaches its files by a gateway, and a peer of it in that network (`usual`) and in another one.

    The other one is as fast, and more than the gateway passes on.
    """

    client: str
    peer: str
    usual: str
    other: str


@dataclass(frozen=True)
class Trunk:
    """A channel between switches that deals by MAC address, and hosts with a link each at its near end.

    There is one of these for each member, by which all that it sends leaves. `receiver` is beyond the far end, with a
    wire for all of them; `behind` are as many hosts behind a cable (`narrow`) that carries less than all, and more
    than one.
    """

    near: ChannelEnd
    network: str
    senders: list[str]
    receiver: str
    behind: list[str]
    narrow: Port


class AskGateways(AskStorage):
    """Questions for what is between clients and a filesystem's servers."""

    def gateways(self, least: int) -> Gateways:
        """A striped filesystem whose clients have so many gateways, or more, before a cable for all of them."""
        for name, about in self.site.topology.filesystems.items():
            by: dict[str, str] = {}
            for client in self._mounting(name) if about.layout == "stripe" else []:
                found = {between(self._ways, client, server) for server in self.site.servers(name)}
                gateway = found.pop() if len(found) == 1 else None
                if gateway and gateway not in by.values() and self._passes(client, name):
                    by[client] = gateway
            rates = {client: self._passes(client, name) for client in by}
            one, together = min(rates.values(), default=0), sum(rates.values())
            narrow = [p for p in self._common(list(by), name) if one < self.site.sends_mbit(p) < together]
            if len(by) >= least and narrow:
                self.unsought(name)
                self._give([*by, *by.values(), *self.site.servers(name)])
                return Gateways(name, by, min(narrow, key=self.site.sends_mbit))
        who = several(least, "a node that forwards", "nodes that forward")
        raise self._lacks(f"striped filesystem that clients reach by {who}, before a cable for all")

    def beside(self, gateways: Gateways) -> str:
        """A client of another cluster, by the same cable, with wires of its own for all that this carries."""
        name, cluster = gateways.filesystem, self.site.nodes[gateways.clients[0]].cluster
        for host in self._hosts():
            mounts = name in self.site.mounts(self.site.nodes[host].cluster or "")
            if mounts and self.site.nodes[host].cluster != cluster and gateways.narrow in self._common([host], name):
                first = self._ways.path(host, self._server(name)).hops[0].segments[0].cables[0].sender
                if self.site.sends_mbit(first) > self.site.sends_mbit(gateways.narrow):
                    return self._give([host])[0]
        raise self._lacks(f"client of another cluster than {cluster} by {gateways.narrow}, with a wider wire")

    def trunk(self, gateways: Gateways) -> Trunk:
        """A channel between switches, and of those who forward for a filesystem's clients one for each member."""
        for _, near, _ in self.site.channel_ends():
            network = self.site.nodes[near.node].switch
            if not network or near.hash_policy != "balance-slb":
                continue
            hosts = [host for host in gateways.gateways if self._ports(host, network)]
            by = {self._dealt(host, near, network): host for host in reversed(hosts)}
            senders = [by[member] for member in near.members if by.get(member)]
            if len(senders) < len(near.members) or None in by:
                continue
            sends = sum(self.site.sends_mbit(self._ports(sender, network)[0]) for sender in senders)
            far = [h for h in self._hosts() if h not in senders and self._ports(h, network)]
            ways = {h: self._cables(senders[0], h, network) for h in far}
            wide = [
                h
                for h, own in ways.items()
                if near.node in {c.sender.node for c in own}
                and self.site.sends_mbit(self._ports(h, network)[0]) >= sends
            ]
            behind = [h for h, own in ways.items() if gateways.narrow in {c.sender for c in own}]
            if wide and len(behind) >= len(senders):
                self._give([near.node, *senders, wide[0], *behind[: len(senders)]])
                return Trunk(near, network, senders, wide[0], behind[: len(senders)], gateways.narrow)
        raise self._lacks("channel between switches that deals by MAC address, with a gateway for each member")

    def _dealt(self, host: str, near: ChannelEnd, network: str) -> str | None:
        """The member by which a switch sends what a host's port there sends; None where it has no such port."""
        (port, *_) = self._ports(host, network)
        there = any(port in cable.ends and near.node in {end.node for end in cable.ends} for cable in self.site.cables)
        return slb_member(mac_address(self.site, port), near.members) if there else None

    def _cables(self, one: str, other: str, network: str) -> list[DirectedCable]:
        """The cables that may carry what a host sends to another one's address in a network."""
        hops = self._ways.path(one, self.site.address(other, network)).hops
        return [cable for hop in hops for segment in hop.segments for cable in segment.cables]

    def private(self, least: int, *, spare: bool = False) -> Private:
        """So many nodes, or more, by whom clients could reach all servers in the networks of these.

        spare: they reach the servers without their adapters there, too.
        """
        gateways = self.gateways(1)
        cluster, found = self.site.nodes[gateways.clients[0]].cluster, dict[str, dict[str, Port]]()
        servers = self.site.servers(gateways.filesystem)
        for host in self._hosts():
            near = {server: self._ports(host, self.site.known_by(server).network) for server in servers}
            near = {
                server: [port for port in those if self._wired(host, port.device)] for server, those in near.items()
            }
            node = self.site.nodes[host]
            if node.cluster == cluster and node.forwards and all(near.values()):
                ports = {server: those[0] for server, those in near.items()}
                if not spare or self._spared(host, ports):
                    found[host] = ports
        if len(found) < least:
            who = several(least, f"a node of {cluster}", f"nodes of {cluster}")
            what, other = "in the networks of all servers", " that reaches them by another way, too" if spare else ""
            raise self._lacks(f"{who} {what}, which forwards{other}")
        self._give([*found])
        return Private(gateways, found)

    def _spared(self, host: str, ports: dict[str, Port]) -> bool:
        """Whether a host without these ports reaches servers, and is answered."""
        left = Ways(replace(self.site, down=frozenset(ports.values())))
        try:
            for server in ports:
                hops = left.path(host, self.site.known_by(server).address).hops
                left.path(server, self.site.nodes[host].interfaces[hops[0].sender.device].address)
        except (Unreachable, Ambiguous):
            return False
        return True

    def apart(self, gateways: Gateways) -> Apart:
        """A client of such gateways that has a second network with another one, as fast as the first."""
        for client in gateways.by:
            usual, passes = self.site.known_by(client).network, self._passes(client, gateways.filesystem)
            legs = {network: self._ports(client, network)[0] for network in self._networks(client)}
            rates = {network: self.site.sends_mbit(port) for network, port in legs.items()}
            for other in legs:
                peers = [p for p in gateways.by if p != client and {usual, other} <= self._networks(p)]
                if other != usual and passes < rates[usual] <= rates[other] and peers:
                    self._give([client, peers[0]])
                    return Apart(client, peers[0], usual, other)
        raise self._lacks("client behind a gateway with a second network, as fast, that another one has, too")

    def _networks(self, host: str) -> set[str]:
        """The networks that a host is plugged into by a cable."""
        legs = self.site.nodes[host].interfaces
        return {leg.network for device, leg in legs.items() if self._wired(host, device)}

    def defaulted(self) -> Defaulted:
        """A client whose default route would take it to all of a filesystem's servers, too, by a slower network."""
        for name in self.site.topology.filesystems:
            servers = [self.site.known_by(server).address for server in self.site.servers(name)]
            for client in self._mounting(name):
                own = [route for route in self.site.nodes[client].routes if route.to != "default"]
                lacking = Ways(without_routes(self.site, [client], [route.to for route in own]))
                ways = [self._devices(client, to, lacking) for to in servers]
                if not all(ways) or len(set(ways)) > 1:
                    continue
                (device, other), *_ = [way for way in ways if way]
                rates = [self.site.sends_mbit(Port(client, leg)) for leg in (device, other)]
                if device != other and rates[1] < rates[0]:
                    self.unsought(name)
                    self._give([client])
                    return Defaulted(name, client, own, device, other)
        raise self._lacks(
            "client with routes of its own to a filesystem's servers, beside a slower default route to them"
        )

    def _devices(self, client: str, to: IPv4Address, lacking: Ways) -> tuple[str, str] | None:
        """The cables' ports where a client's ways to an address begin, with its own routes and without.

        None where one is no single cable, or it is not answered by both.
        """
        try:
            ways = [self._ways.path(client, to).hops, lacking.path(client, to).hops]
            if not all(hops and len(hops[0].segments[0].cables) == 1 for hops in ways):
                return None
            own, other = (hops[0].sender.device for hops in ways)
            for device in (own, other):
                lacking.path(ways[0][-1].receiver.node, self.site.nodes[client].interfaces[device].address)
        except (Unreachable, Ambiguous):
            return None
        return (own, other) if self._wired(client, own) and self._wired(client, other) else None

    def _wired(self, host: str, device: str) -> bool:
        """Whether an interface is a cable's port, and no bond."""
        return any(Port(host, device) in cable.ends for cable in self.site.cables)

    def answered(self) -> Answered:
        """A client of a striped filesystem whom each server answers by a node of its own; and others of the clients."""
        for name, about in self.site.topology.filesystems.items():
            servers = self.site.servers(name) if about.layout == "stripe" else []
            for client in self._mounting(name):
                by = {server: self._last_route(server, client) for server in servers}
                known = {server: way for server, way in by.items() if way}
                others = [
                    o for o in self._mounting(name) if not {self._last_route(s, o) for s in servers} & {*by.values()}
                ]
                if known and len({node for node, _ in known.values()}) == len(servers) and others:
                    self.unsought(name)
                    self._give([client, *others, *(node for node, _ in known.values())])
                    return Answered(name, client, known, others)
        what = "striped filesystem whose servers each answer one client, and not all, by a route of a node of its own"
        raise self._lacks(what)

    def _last_route(self, server: str, client: str) -> tuple[str, str] | None:
        """Who forwards first what a server sends a client, and its static route to a prefix; None where none is."""
        way, to = self._way(server, client), self.site.known_by(client).address
        if way is None or len(way.hops) < 2:
            return None
        node = way.hops[0].receiver.node
        route = self._ways.leaves(node, to).route
        return (node, str(self.site.destination(route))) if route and route.to != "default" else None

    def _passes(self, client: str, filesystem: str) -> int:
        """What a client's gateway passes on of what it is sent, in Mbit/s of wire; 0 where that takes channels."""
        first, second, *_ = self._ways.path(client, self._server(filesystem)).hops
        sides = (first.segments[-1], second.segments[0])
        if any(len(segment.cables) > 1 for segment in sides):
            return 0
        return min(self.site.sends_mbit(segment.cables[0].sender) for segment in sides)

    def _common(self, clients: list[str], filesystem: str) -> list[Port]:
        """The ports from which a single cable carries what each of some clients sends to each server."""
        ports: list[set[Port]] = []
        for client in clients:
            for server in self.site.servers(filesystem):
                hops = self._ways.path(client, self.site.known_by(server).address).hops
                single = (s.cables[0].sender for hop in hops for s in hop.segments if len(s.cables) == 1)
                ports.append(set(single))
        return sorted(set.intersection(*ports), key=str) if ports else []

    def _server(self, filesystem: str) -> IPv4Address:
        """The address of a filesystem's first server."""
        return self.site.known_by(self.site.servers(filesystem)[0]).address
