"""A network of switches that do not learn, as its hosts see it: who is near, who shares which uplink with whom."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.forwarding import neighbours, static_switches, table


@dataclass(frozen=True)
class Fabric:
    """A network of such switches as its hosts see it: those at one line switch, and those that uplinks lead to.

    `lines` are each line switch's hosts in ascending order of their LIDs, `uplinks` its ports to other switches,
    and `leads` says by which port a line switch sends to a host: (switch, host) -> port.
    """

    network: str
    lines: dict[str, list[str]]
    uplinks: dict[str, list[str]]
    leads: dict[tuple[str, str], str]

    @property
    def hosts(self) -> list[str]:
        return [host for hosts in self.lines.values() for host in hosts]

    @property
    def cables(self) -> list[Port]:
        """An end of each cable between switches that a line switch has."""
        return [Port(line, port) for line, ports in self.uplinks.items() for port in ports]

    def line_of(self, host: str) -> str:
        """The switch that a host is plugged into."""
        return next(line for line, hosts in self.lines.items() if host in hosts)

    def inside(self, most: int) -> list[tuple[str, str]]:
        """Pairs of hosts at one line switch, no host twice, from each of the switches in turn."""
        each = [list(zip(hosts[::2], hosts[1::2], strict=False)) for hosts in self.lines.values()]
        return [pair for row in zip_longest(*each) for pair in row if pair][:most]

    def across(self, most: int) -> list[tuple[str, str]]:
        """Pairs from one line switch to another, in the order of their LIDs."""
        here, there = list(self.lines.values())[:2]
        return list(zip(here, there, strict=False))[:most]

    def at_one_line(self, most: int) -> list[str]:
        """Hosts of the first line switch, in their natural order."""
        return _natural(next(iter(self.lines.values())))[:most]

    def half_and_half(self, many: int) -> list[str]:
        """As many hosts of each of two line switches: of the second the first ones that stand together such that in
        their natural ring no more than two messages meet on one uplink, as many as a host sends."""
        here, there = (_natural(hosts) for hosts in list(self.lines.values())[:2])
        half = many // 2
        sets = [_natural([*here[:half], *there[begin : begin + half]]) for begin in range(len(there) - half + 1)]
        return min(sets, key=lambda hosts: max(2, self.most_on_one_uplink(hosts)))

    def first(self, most: int) -> list[str]:
        """Hosts of all line switches, in their natural order."""
        return _natural(self.hosts)[:most]

    def most_on_one_uplink(self, ring: Sequence[str]) -> int:
        """How many messages pass one uplink, in one direction, if each host of a ring sends to both neighbours."""
        pairs = [(a, b) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]
        both = [*pairs, *((b, a) for a, b in pairs)]
        lines = {host: self.line_of(host) for host in ring}
        passed = Counter((lines[a], self.leads[lines[a], b]) for a, b in both if lines[a] != lines[b])
        return max(passed.values(), default=0)

    def by_one_uplink(self, most: int, *, both_ways: bool = False) -> list[tuple[str, str]]:
        """Such pairs that the table sends by one port, that of the first; and the answers by one, too."""
        line, other = list(self.lines)[:2]
        here, there = self.lines[line], self.lines[other]
        if both_ways:
            here = [host for host in here if self.leads[other, host] == self.leads[other, here[0]]]
        there = [host for host in there if self.leads[line, host] == self.leads[line, there[0]]]
        return list(zip(here, there, strict=False))[:most]


def fabric(site: Site, network: str, hosts: Collection[str]) -> Fabric:
    """A network's static switches and what they lead to, as far as these hosts go."""
    tables = {switch: table(site, switch) for switch in static_switches(site, network)}
    plugged = neighbours(site, network)
    lines: dict[str, list[str]] = {}
    uplinks: dict[str, list[str]] = {}
    leads: dict[tuple[str, str], str] = {}
    for switch, ports in tables.items():
        leads |= {(switch, to.node): port for to, port in ports.items()}
        mine = [to.node for to, port in ports.items() if to.node in hosts and plugged[switch].get(port) == to]
        if mine:
            lines[switch] = mine
            uplinks[switch] = [port for port, there in plugged[switch].items() if there.node in tables]
    return Fabric(network, lines, uplinks, leads)


def _natural(hosts: Iterable[str]) -> list[str]:
    """x2 before x10, and last who has no number."""

    def key(host: str) -> tuple[bool, list[int], str]:
        numbers = [int(digits) for digits in re.findall(r"\d+", host)]
        return not numbers, numbers, host

    return sorted(hosts, key=key)
