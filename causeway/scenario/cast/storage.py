"""Filesystems behind nodes that forward to them, and their clients behind switches' uplinks."""

from dataclasses import dataclass

from causeway.model.thing import Port
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
class Platforms:
    """A filesystem whose files are each whole on one of several servers' disks, and two clusters that use it.

    The first's clients reach all servers by a node each that forwards both ways (`by`), as many by each of these. The
    second's (`direct`) are in a network of the servers, with one cable each. Servers have `networks` in common with
    those who forward: a leg in each.
    """

    filesystem: str
    servers: list[str]
    networks: list[str]
    by: dict[str, str]
    direct: list[str]

    @property
    def clients(self) -> list[str]:
        return [*self.by, *self.direct]

    @property
    def gateways(self) -> list[str]:
        return list(dict.fromkeys(self.by.values()))


@dataclass(frozen=True)
class Shared:
    """A filesystem that several clusters mount of its owner, and of each (cluster -> nodes) hosts that use it."""

    filesystem: str
    owner: str
    users: dict[str, list[str]]


@dataclass(frozen=True)
class Archive:
    """A filesystem of whole files on disks, clients of it, and those whom it is moved to and from.

    Clients (`movers`) have a leg each in `network`, where hosts are that have nothing of the filesystem (`archive`).
    """

    filesystem: str
    servers: list[str]
    movers: list[str]
    network: str
    archive: list[str]

    @property
    def clients(self) -> list[str]:
        return self.movers


@dataclass(frozen=True)
class Blocked:
    """Switches whose one cable to the others carries less than their clients' cables do together.

    `leaves` are such cables' ports at the clients' switches, each with its clients; `far` is that of the switch where
    all whom they go by are plugged in.
    """

    leaves: dict[Port, list[str]]
    far: Port


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
        for name, about in self.site.topology.filesystems.items():
            found = self.site.servers(name) if about.disk and about.layout == "whole" else []
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

    def platforms(self, servers: int = 4, gateways: int = 4) -> Platforms:
        """A filesystem on so many disks that one cluster reaches by so many nodes that forward, and one directly."""
        for name, about in self.site.topology.filesystems.items():
            found = self.site.servers(name) if about.disk and about.layout == "whole" else []
            clients = self._mounting(name) if len(found) >= servers else []
            each = {client: {between(self._ways, client, server) for server in found} for client in clients}
            by = {client: those.copy().pop() for client, those in each.items() if len(those) == 1}
            behind = self._fellows_of({client: gateway for client, gateway in by.items() if gateway})
            counts = {list(behind.values()).count(gateway) for gateway in behind.values()}
            direct = self._fellows_of({client: client for client in clients if self._near(client, found)})
            if len(set(behind.values())) >= gateways and len(counts) == 1 and direct:
                legs = [
                    {leg.network for leg in self.site.nodes[n].interfaces.values()} for n in (*found, *behind.values())
                ]
                networks = [leg.network for leg in self.site.nodes[found[0]].interfaces.values()]
                shared = [network for network in networks if all(network in own for own in legs)]
                self._give([*behind, *dict.fromkeys(behind.values()), *direct, *found])
                return Platforms(name, sorted(found, key=_numbered), shared, behind, sorted(direct, key=_numbered))
        what = (
            f"filesystem of whole files on {number(servers)} disks that a cluster reaches by {number(gateways)} nodes"
        )
        raise self._lacks(f"{what} that forward, as many clients by each, and another cluster directly")

    def shared(self, clusters: int) -> Shared:
        """A filesystem that so many clusters mount of another, or more."""
        for name, about in self.site.topology.filesystems.items():
            mounting = [c for c in self.site.topology.clusters if name in self.site.mounts(c) and c != about.owner]
            hosts = self._mounting(name)
            users = {c: [h for h in hosts if self.site.nodes[h].cluster == c] for c in mounting}
            if len(users) >= clusters and all(users.values()):
                self.unsought(name)
                self._give([those[0] for those in users.values()])
                return Shared(name, about.owner, users)
        raise self._lacks(f"filesystem that {number(clusters)} clusters mount of another")

    def archive(self, movers: int) -> Archive:
        """A filesystem with so many clients in a network where hosts of no cluster are, and none of its servers."""
        for name, about in self.site.topology.filesystems.items():
            found = self.site.servers(name) if about.disk and about.layout == "whole" else []
            for network in self.site.topology.networks:
                at = {node for node in self.site.nodes if self._ports(node, network)}
                those = [client for client in self._mounting(name) if client in at]
                alone = [n for n in self.site.nodes if n in at and self._outside(n)]
                if alone and not at & set(found) and len(those) >= movers:
                    self._give([*those, *alone, *found])
                    return Archive(name, sorted(found, key=_numbered), sorted(those, key=_numbered), network, alone)
        what = f"filesystem of whole files on disks, and {number(movers)} clients of it in a network with hosts of no"
        raise self._lacks(f"{what} cluster and none of its servers")

    def _outside(self, host: str) -> bool:
        """Whether a node is of no cluster, and neither switches nor forwards."""
        node = self.site.nodes[host]
        return not node.cluster and not node.switch and not node.forwards

    def _fellows_of(self, clients: dict[str, str]) -> dict[str, str]:
        """Those of the first client's cluster."""
        cluster = next((self.site.nodes[client].cluster for client in clients), None)
        return {client: to for client, to in clients.items() if self.site.nodes[client].cluster == cluster}

    def _near(self, client: str, servers: list[str]) -> bool:
        """Whether a client has one cable, and nobody forwards between it and servers."""
        if sum(end.node == client for cable in self.site.cables for end in cable.ends) != 1:
            return False
        ways = (self._way(*pair) for server in servers for pair in ((client, server), (server, client)))
        return all(way is not None and len(way.hops) == 1 for way in ways)

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


def _numbered(node: str) -> tuple[int, str]:
    """Nodes alike by their numbers."""
    return len(node), node
