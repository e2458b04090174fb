"""Filesystems behind nodes that forward to them, and their clients behind switches' uplinks."""

from collections.abc import Iterator
from dataclasses import dataclass

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.files import Share, bound_mb, share
from causeway.plan.paths import at_rate
from causeway.plan.storage import between
from causeway.scenario.cast.base import number
from causeway.scenario.cast.channels import Channel
from causeway.scenario.cast.clusters import AskClusters


@dataclass(frozen=True)
class Forwarded:
    """A filesystem on one server's disk, and of each client the node that forwards both ways between the two.

    As many clients go by each of these nodes.
    """

    filesystem: str
    by: dict[str, str]

    @property
    def clients(self) -> list[str]:
        return list(self.by)

    @property
    def gateways(self) -> list[str]:
        return list(dict.fromkeys(self.by.values()))


@dataclass(frozen=True)
class Arrays:
    """A filesystem whose files are each whole on one of several servers' disks; and by whom clients reach these.

    `by` has for each client and server the node that forwards both ways between the two. No two servers have such a
    node in common, and as many clients reach a server by each of its own. At least one client for each server.
    """

    filesystem: str
    by: dict[str, dict[str, str]]

    @property
    def clients(self) -> list[str]:
        return list(self.by)

    @property
    def servers(self) -> list[str]:
        return list(next(iter(self.by.values())))

    def gateways(self, server: str) -> list[str]:
        """Those of one server."""
        return list(dict.fromkeys(own[server] for own in self.by.values()))


@dataclass(frozen=True)
class Blocked:
    """Switches whose one cable to the others carries less than their clients' cables do together.

    `leaves` are such cables' ports at the clients' switches, each with its clients; `far` is that of the switch where
    all whom they go by are plugged in.
    """

    leaves: dict[Port, list[str]]
    far: Port


@dataclass(frozen=True)
class Striped:
    """A filesystem of stripes with parity, and the one cable of each of its servers: the server's own end.

    The clients' own cables carry at least what those do.
    """

    filesystem: str
    clients: list[str]
    ports: dict[str, Port]

    @property
    def servers(self) -> list[str]:
        return list(self.ports)


@dataclass(frozen=True)
class Sharing:
    """A filesystem, and two hosts that mount it and have no task for others."""

    filesystem: str
    clients: list[str]


class AskStorage(AskClusters):
    """Questions for what is between clients and a disk."""

    def forwarded(self, gateways: int) -> Forwarded:
        """A filesystem that clients reach by so many nodes that forward, or more."""
        for name, about in self.site.topology.filesystems.items():
            servers = self.site.servers(name)
            by = self._by(name, servers[0]) if about.disk and len(servers) == 1 else {}
            each = {gateway: list(by.values()).count(gateway) for gateway in by.values()}
            if len(each) >= gateways and len(set(each.values())) == 1:
                self.unsought(name)
                self._give([*by, *each, *servers])
                return Forwarded(name, by)
        what = f"filesystem on a disk that clients reach by {gateways} nodes that forward, as many by each"
        raise self._lacks(what)

    def arrays(self, servers: int, gateways: int = 1) -> Arrays:
        """A filesystem on so many disks, or more, each behind so many nodes that forward to it alone, or more."""
        for name, found in self._whole():
            each = {server: self._by(name, server) for server in found}
            by = {c: {s: each[s][c] for s in found} for c in self._mounting(name) if all(c in each[s] for s in found)}
            if len(found) < servers or len(by) < len(found):
                continue
            arrays = Arrays(name, by)
            used = [gateway for server in found for gateway in arrays.gateways(server)]
            counts = [[own[s] for own in by.values()].count(g) for s in found for g in arrays.gateways(s)]
            enough = all(len(arrays.gateways(server)) >= gateways for server in found)
            if enough and len(set(used)) == len(used) and len(set(counts)) == 1:
                self.unsought(name)
                self._give([*by, *used, *found])
                return arrays
        behind = "a node that forwards" if gateways == 1 else f"{number(gateways)} nodes that forward"
        what = f"filesystem of whole files on {number(servers)} disks, each behind {behind} to it alone"
        raise self._lacks(what)

    def _whole(self) -> Iterator[tuple[str, list[str]]]:
        """The filesystems whose files are each whole on one of several disks, with the servers that have these."""
        for name, about in self.site.topology.filesystems.items():
            if about.disk and about.layout == "whole":
                yield name, self.site.servers(name)

    def striped(self, *, bound: bool = False) -> Striped:
        """A filesystem of stripes whose servers have one cable each, all alike; and as few clients as these bear.

        bound: the servers' cables bound what the clients write, and not what is between them.
        """
        for name, about in self.site.topology.filesystems.items():
            servers = self.site.servers(name)
            ends = [end for cable in self.site.cables for end in cable.ends]
            ports = {server: [end for end in ends if end.node == server] for server in servers}
            rates = {self.site.sends_mbit(port) for those in ports.values() for port in those}
            if about.layout != "stripe" or about.disk or len(rates) > 1 or any(len(p) != 1 for p in ports.values()):
                continue
            able = [c for c in self._mounting(name) if c not in servers and not self.site.nodes[c].forwards]
            able = [c for c in able if all(self._by(name, server).get(c) for server in servers)]
            left, clients = len(servers) * rates.pop(), list[str]()
            for client in able:
                if left > 0:
                    hop = self._ways.path(client, self.site.known_by(servers[0]).address).hops[0]
                    left -= self.site.sends_mbit(hop.sender)
                    clients.append(client)
            found = Striped(name, clients, {server: those[0] for server, those in ports.items()})
            if len(clients) >= 2 and left <= 0 and (not bound or self._bound_by_each(found)):
                self._give([*clients, *servers])
                return found
        cable = "one cable for each of its servers" + (", which bounds what is written" if bound else "")
        raise self._lacks(f"filesystem of stripes behind nodes that forward, with {cable}")

    def _bound_by_each(self, striped: Striped) -> bool:
        """Whether clients write half as much as soon as one server's cable carries half."""
        port = striped.ports[striped.servers[0]]
        half = at_rate(self.site, port, self.site.sends_mbit(port) // 2)
        return self._written_mb(half, striped) < 0.51 * self._written_mb(self.site, striped)

    def _written_mb(self, site: Site, striped: Striped) -> float:
        """What the clients write together, in MB/s, by connections of any ports."""

        def connection(client: str, server: str) -> Share:
            there = site.known_by(server).address
            here = site.nodes[client].interfaces[self._ways.leaves(client, there).device].address
            return share(site, striped.filesystem, (client, (here, 0)), (server, (there, 0)), "write")

        return bound_mb(site, {c: [connection(c, server) for server in striped.servers] for c in striped.clients})

    def sharing(self, *, disks: bool = False, parity: bool = False) -> Sharing:
        """The first filesystem that two such hosts mount.

        disks: both have one. parity: the filesystem bears the loss of a server.
        """
        for name, about in self.site.topology.filesystems.items():
            if parity and not about.parity:
                continue
            without = {*self.site.servers(name), *(self.site.diskless() if disks else ())}
            able = [c for c in self._mounting(name) if c not in without and not self.site.nodes[c].forwards]
            if len(able) >= 2:
                self._give(able[:2])
                return Sharing(name, able[:2])
        what, who = "filesystem with parity" if parity else "filesystem", "hosts with disks" if disks else "hosts"
        raise self._lacks(f"{what} that two {who} mount, and no others need them")

    def two_ports(self, arrays: Arrays) -> dict[str, Channel]:
        """The channel of two by which each node that forwards to such disks is plugged into their network."""
        found: dict[str, Channel] = {}
        for server in arrays.servers:
            network = self.site.known_by(server).network
            for _, here, there in self.site.channel_ends():
                leg = self.site.nodes[here.node].interfaces.get(here.name)
                if leg and leg.network == network and here.node in arrays.gateways(server) and len(here.members) == 2:
                    found[here.node] = Channel(here, there, network)
        if set(found) != {gateway for server in arrays.servers for gateway in arrays.gateways(server)}:
            raise self._lacks("two ports to the disks of each node that forwards to them")
        return found

    def blocked(self, forwarded: Forwarded) -> Blocked:
        """The switches that the clients of such a filesystem are plugged into, all with an uplink that is too slow."""
        (server,), far = self.site.servers(forwarded.filesystem), set[Port]()
        leaves: dict[Port, dict[str, int]] = {}
        for client in forwarded.by:
            segments = self._ways.path(client, self.site.known_by(server).address).hops[0].segments
            if len(segments) == 4 and all(len(segment.cables) == 1 for segment in segments):
                own, up, down, _ = (segment.cables[0] for segment in segments)
                leaves.setdefault(up.sender, {})[client] = self.site.sends_mbit(own.sender)
                far.add(down.receiver)
        tight = all(self.site.sends_mbit(uplink) < sum(rates.values()) for uplink, rates in leaves.items())
        if not leaves or not tight or len(far) > 1:
            raise self._lacks("switches whose clients share an uplink that carries less than their own cables")
        return Blocked({uplink: list(rates) for uplink, rates in leaves.items()}, far.pop())

    def couples(self, forwarded: Forwarded, blocked: Blocked, n: int) -> list[tuple[str, str]]:
        """So many hosts of no cluster at the switch of those who forward, each with another that is elsewhere."""
        network = self.site.known_by(forwarded.clients[0]).network
        near, away = list[str](), list[str]()
        for name, node in self.site.nodes.items():
            ports = self._ports(name, network) if not node.cluster and not node.switch and not node.forwards else []
            for cable in map(self.site.cable_at, ports[:1]):
                (near if blocked.far.node in [end.node for end in cable.ends] else away).append(name)
        if min(len(near), len(away)) < n:
            where = f"at {blocked.far.node}, and as many elsewhere in its network"
            raise self._lacks(f"{number(n)} hosts of no cluster {where}")
        self._give([*near[:n], *away[:n]])
        return list(zip(near[:n], away[:n], strict=True))

    def _mounting(self, filesystem: str) -> list[str]:
        """The clients of a filesystem that have no task for others."""
        mounting = [c for c in self.site.topology.clusters if filesystem in self.site.mounts(c)]
        return [h for h in self._hosts() if self.site.nodes[h].cluster in mounting and not self._serves(h)]

    def _by(self, filesystem: str, server: str) -> dict[str, str]:
        """Who forwards between a filesystem's clients and one of its servers; without those that nobody does for."""
        found = {client: between(self._ways, client, server) for client in self._mounting(filesystem)}
        return {client: gateway for client, gateway in found.items() if gateway}
