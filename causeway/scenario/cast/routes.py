"""Routes that are one of two ways, or the only way back."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import Route
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
        """A host that can answer others only by its static route to their network; on request one with a disk."""
        for name in self._hosts():
            if disk and name in self.site.diskless():
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

    def _sends(self, host: str, network: str) -> int:
        return sum(self.site.sends_mbit(port) for port in self._ports(host, network))

    def _detoured(self, host: str, filesystem: str, other: str) -> tuple[Hop, Hop] | None:
        """The first hops to the first two servers, if all of them could begin in another network, and do not."""
        changed = Ways(by_network(self.site, host, other))
        found = []
        for server in self.site.servers(filesystem):
            usual, instead = (self._way(host, server, ways) for ways in (self._ways, changed))
            if not usual or not instead or len(usual.hops) < 2 or self._serves(host):
                return None
            if usual.hops[0].network == other or instead.hops[0].network != other:
                return None
            found.append(usual.hops[0])
        return found[0], found[1]
