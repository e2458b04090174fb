"""A filesystem that several clusters use: by gateways, directly, and from an archive."""

from dataclasses import dataclass

from causeway.plan.storage import between
from causeway.scenario.cast.base import number
from causeway.scenario.cast.storage import AskStorage


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

    @property
    def even(self) -> list[str]:
        """As many of the servers as there are gateways: all of their links may have as many files to carry."""
        return self.servers[: len(self.gateways)]


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


class AskPlatforms(AskStorage):
    """Questions for who uses a filesystem."""

    def platforms(self, servers: int = 4, gateways: int = 4) -> Platforms:
        """A filesystem on so many disks that one cluster reaches by so many nodes that forward, and one directly."""
        for name, found in self._whole():
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
        for name, found in self._whole():
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


def _numbered(node: str) -> tuple[int, str]:
    """Nodes alike by their numbers."""
    return len(node), node
