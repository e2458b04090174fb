"""Who is there, and how an answer is given or refused."""

from collections import Counter
from collections.abc import Callable, Collection
from functools import cached_property
from ipaddress import IPv4Address
from typing import TypeVar

from causeway.errors import Unsupported
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.paths import Ambiguous, Path, Unreachable, Ways

T = TypeVar("T")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


class Asking:
    """A site that is asked; `players` are the nodes that were given in answer, in that order."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._players: dict[str, None] = {}

    @property
    def players(self) -> list[str]:
        return list(self._players)

    def maybe(self, question: Callable[[], T]) -> T | None:
        """What a scenario can do without: None where the site cannot give it."""
        try:
            return question()
        except Unsupported:
            return None

    def hosts(self) -> list[str]:
        """Every node of a cluster that is up when the lab is: it has an sshd and a root user."""
        return self._give(self._hosts())

    def forwarders(self) -> list[str]:
        """The nodes that forward and are of no cluster."""
        nodes = self.site.nodes.items()
        return self._give([name for name, node in nodes if node.forwards and not node.cluster])

    def colleagues(self, least: int = 2) -> list[str]:
        """Two or three hosts of one cluster that all talk: a centre, another with a disk, one that has rather none.

        The centre is rather the node that diskless ones boot from, or an administrator's.
        """
        for centre in sorted(self._hosts(), key=self._centre):
            theirs = [h for h in self._fellows(centre) if self._talk(centre, h)]
            for other in (h for h in theirs if h not in self.site.diskless()):
                third = [h for h in theirs if h != other and self._talk(other, h)]
                third.sort(key=lambda host: host not in self.site.diskless())
                if 2 + len(third[:1]) >= least:
                    return self._give([centre, other, *third[:1]])
        raise self._lacks(f"{number(least)} hosts of one cluster that all talk with each other")

    def caller(self, *nodes: str, but: Collection[str] = ()) -> str:
        """Another host of these nodes' cluster that talks with each of them; one with a disk if there is one."""
        able = [h for h in self._fellows(nodes[0]) if h not in (*nodes, *but) and all(self._talk(h, n) for n in nodes)]
        if not able:
            raise self._lacks(
                f"another host in {self.site.nodes[nodes[0]].cluster} that talks with {' and '.join(nodes)}"
            )
        return self._give([min(able, key=lambda host: host in self.site.diskless())])[0]

    def leaf(self) -> tuple[Port, str]:
        """A host's only cable, rather that of one with a disk, and another that talks with it, rather one nearby."""
        plugged = Counter(port.node for cable in self.site.cables for port in cable.ends)
        single = sorted((h for h in self._hosts() if plugged[h] == 1), key=lambda host: host in self.site.diskless())
        for host in single:
            (port,) = (port for cable in self.site.cables for port in cable.ends if port.node == host)
            others = {other: way for other in self._fellows(host) if (way := self._both_ways(host, other))}
            if others:
                other = min(others, key=lambda name: others[name])
                self._give([host, other])
                return port, other
        raise self._lacks("host with a single cable that another of its cluster talks with")

    def _lacks(self, what: str) -> Unsupported:
        """The sentence of what a site has not; what begins with a number is counted, all else is "no ..."."""
        counted = what.split()[0] in (*_NUMBERS, "another")
        return Unsupported(f"{self.site.name} has not {what}" if counted else f"{self.site.name} has no {what}")

    def _give(self, nodes: list[str]) -> list[str]:
        self._players |= dict.fromkeys(nodes)
        return nodes

    def _hosts(self) -> list[str]:
        return self.site.hosts()

    def _serves(self, host: str) -> bool:
        """Whether a node has a task for others: its loss or its load would be felt beyond what is looked at."""
        administrators = [self.site.administrator(cluster) for cluster in self.site.topology.clusters]
        return host in administrators or any(host == pool.boot.server for pool in self.site.boot_pools().values())

    def _centre(self, host: str) -> tuple[bool, bool]:
        return all(host != pool.boot.server for pool in self.site.boot_pools().values()), not self._serves(host)

    def _fellows(self, node: str) -> list[str]:
        cluster = self.site.nodes[node].cluster
        return [host for host in self._hosts() if host != node and self.site.nodes[host].cluster == cluster]

    def _talk(self, one: str, other: str) -> bool:
        return reached(self._ways, one, other) and reached(self._ways, other, one)

    def _both_ways(self, one: str, other: str) -> int:
        """How often what two nodes send each other is sent, there and back; 0 where they do not talk."""
        ways = [self._way(a, b) for a, b in ((one, other), (other, one))] if self._talk(one, other) else []
        return sum(len(way.hops) for way in ways if way)

    @cached_property
    def _ways(self) -> Ways:
        """The site's, as it is."""
        return Ways(self.site)

    def _way(self, source: str, target: str, ways: Ways | None = None) -> Path | None:
        """A packet's way between two nodes, as the site is or by other ways; None where there is none to compute."""
        try:
            return (ways or self._ways).path(source, self.site.known_by(target).address)
        except (Unreachable, Ambiguous):
            return None

    def _has_route(self, node: str, address: IPv4Address) -> bool:
        about = self.site.nodes[node]
        nets = [self.site.topology.networks[leg.network].subnet for leg in about.interfaces.values()]
        return any(address in net for net in (*nets, *(self.site.destination(route) for route in about.routes)))

    def _ports(self, host: str, network: str) -> list[Port]:
        return [Port(host, d) for d, leg in self.site.nodes[host].interfaces.items() if leg.network == network]


def reached(ways: Ways, one: str, other: str) -> bool:
    """As the plan's; where it cannot be computed they count as who do not."""
    try:
        return ways.reaches(one, other)
    except Ambiguous:
        return False


def several(n: int, one: str, many: str) -> str:
    return one if n == 1 else f"{number(n)} {many}"


def number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)
