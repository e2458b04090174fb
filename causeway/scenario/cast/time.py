"""Who gives the time to whom, and who else could."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Address

from causeway.model.site import Site
from causeway.model.topology import Interface, Route
from causeway.plan.paths import Ambiguous, Unreachable, Ways, without_routes
from causeway.scenario.cast.base import Asking


@dataclass(frozen=True)
class AwayTime:
    """A host that could serve time to a node, by one route that the node has not, or needs.

    `address` is the host's in `network`, `name` what it is called there; `gateway` would know the way there, and is
    None where the node has the route. The node that is `near` to the host can ask it as it is.
    """

    host: str
    address: IPv4Address
    name: str
    network: str
    gateway: IPv4Address | None
    near: str


class AskTime(Asking):
    """Questions for the time."""

    def time_server(self, node: str) -> str:
        """Whose time a node takes, which is another's."""
        server = self.site.time_server(node)
        if server is None or server == node:
            raise self._lacks(f"time server for {node}")
        return self._give([server])[0]

    def timed_away(self) -> tuple[str, AwayTime]:
        """A node that takes its time from another, rather one without a disk, and who could give it by one route more.

        Where there is nobody: one that gives it by a route that the node has, and needs for nothing that is mounted.
        """
        timed = [host for host in self._hosts() if self.site.time_server(host) not in (None, host)]
        timed.sort(key=lambda host: host not in self.site.diskless())
        for question in (self._away, self._needed):
            for node in timed:
                if away := next(question(node), None):
                    self._give([node, away.host, away.near])
                    return node, away
        raise self._lacks(
            "node that takes its time from another, and somebody to give it by a route that it could lose"
        )

    def away_time(self, node: str) -> AwayTime:
        """A host that could serve time to a node, but for a route."""
        away = next(self._away(node), None)
        if away is None:
            raise self._lacks(f"host with an address to which {node} has no route, while a gateway has")
        self._give([away.host, away.near])
        return away

    def _away(self, node: str) -> Iterator[AwayTime]:
        """Hosts without a time server, with an address that a node would reach by one more route."""
        for host, leg in self._untimed():
            if not self._has_route(node, leg.address):
                for gateway in self._gateways(node, host):
                    if self._answered(node, host, leg.address, Ways(self._with_route(node, leg.address, gateway))):
                        yield from self._with_near(node, host, leg, gateway)

    def _needed(self, node: str) -> Iterator[AwayTime]:
        """Hosts without a time server, with an address that a node reaches by its route to that network alone.

        None where the node's cluster mounts filesystems, for they might come by the same route.
        """
        if not self.site.mounts(self.site.nodes[node].cluster or ""):
            for host, leg in self._untimed():
                lacking = AskTime(without_routes(self.site, [node], [leg.network]))
                if self._answered(node, host, leg.address) and not lacking._has_route(node, leg.address):
                    yield from self._with_near(node, host, leg, None)

    def _untimed(self) -> Iterator[tuple[str, Interface]]:
        servers = {cluster.ntp for cluster in self.site.topology.clusters.values()}
        for host in self._hosts():
            if host not in servers and self.site.time_server(host) is None:
                yield from ((host, leg) for leg in self.site.nodes[host].interfaces.values())

    def _with_near(self, node: str, host: str, leg: Interface, gateway: IPv4Address | None) -> Iterator[AwayTime]:
        able = (h for h in self._askers(host) if h != node and self._answered(h, host, leg.address))
        for near in list(able)[:1]:
            yield AwayTime(host, leg.address, leg.names[0] if leg.names else host, leg.network, gateway, near)

    def _askers(self, host: str) -> list[str]:
        """Other hosts, those first that serve no files."""
        servers = {s for f in self.site.topology.filesystems for s in self.site.servers(f)}
        return sorted(
            (h for h in self._hosts() if h != host), key=lambda h: (h in servers, self.site.time_server(h) is not None)
        )

    def _gateways(self, node: str, host: str) -> Iterator[IPv4Address]:
        """Addresses in a node's networks: of those that forward, and the host's own."""
        networks = {leg.network for leg in self.site.nodes[node].interfaces.values()}
        for name in [*(n for n, about in self.site.nodes.items() if about.forwards and n != node), host]:
            yield from (leg.address for leg in self.site.nodes[name].interfaces.values() if leg.network in networks)

    def _with_route(self, node: str, to: IPv4Address, gateway: IPv4Address) -> Site:
        about = self.site.nodes[node]
        routes = [*about.routes, Route(to=to, via=[gateway])]
        return replace(self.site, nodes=self.site.nodes | {node: about.model_copy(update={"routes": routes})})

    def _answered(self, node: str, host: str, address: IPv4Address, ways: Ways | None = None) -> bool:
        """Whether a packet from a node to an address of a host, and its answer, arrive."""
        ways = ways or self._ways
        try:
            there = ways.path(node, address).hops
            mine = self.site.nodes[node].interfaces
            return bool(there and ways.path(host, mine[there[0].sender.device].address).hops)
        except (Unreachable, Ambiguous):
            return False
