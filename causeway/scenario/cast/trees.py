"""Nodes whose root another node has: by which networks they are reached, and who beside them has a disk."""

from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.model.pools.boot import DEVICE
from causeway.model.pools.onesis import OneSis
from causeway.model.thing import Port
from causeway.scenario.cast.base import Asking, several
from causeway.scenario.cast.clusters import Diskless


@dataclass(frozen=True)
class TwoNetworks:
    """Addresses of nodes that boot by one network and have their root by another; `caller` is in both."""

    leased: dict[str, IPv4Address]
    fixed: dict[str, IPv4Address]
    caller: str


@dataclass(frozen=True)
class Imaged:
    """A node that boots others, its port, and hosts with disks in that network; the port bounds what it sends all."""

    server: str
    port: Port
    hosts: list[str]


class AskTrees(Asking):
    """Questions for roots that lie elsewhere."""

    def two_networks(self, diskless: Diskless) -> TwoNetworks:
        """The networks of nodes whose root does not come by the one that they boot by; and another host in both."""
        pool = self.site.topology.pools[diskless.pool]
        if not isinstance(pool, OneSis) or pool.root == DEVICE:
            raise self._lacks("diskless nodes that have their root by another network than they boot by")
        networks = [pool.interfaces[device].network for device in (DEVICE, pool.root)]
        but = {diskless.server, *self.site.diskless()}
        callers = [host for host in self._fellows(diskless.server) if host not in but and self._is_in(host, networks)]
        if not callers:
            raise self._lacks(f"host with a disk in both {' and '.join(networks)} beside {diskless.server}")
        leased, fixed = ({n: self.site.address(n, network) for n in diskless.nodes} for network in networks)
        return TwoNetworks(leased, fixed, self._give(callers[:1])[0])

    def imaged(self, server: str, least: int) -> Imaged:
        """So many hosts with disks, or more, in the network by which a server is known, each with a cable as fast."""
        network = self.site.known_by(server).network
        (port,) = self._ports(server, network)[:1]
        plugged = [end for cable in self.site.cables for end in cable.ends]
        hosts = [h for h in self._fellows(server) if h not in self.site.diskless() and self._is_in(h, [network])]
        theirs = {host: self._ports(host, network)[0] for host in hosts}
        fast = self.site.sends_mbit(port) if port in plugged else 0
        hosts = [h for h in hosts if theirs[h] in plugged and fast and self.site.sends_mbit(theirs[h]) >= fast]
        if len(hosts) < least:
            what = several(least, "host", "hosts")
            raise self._lacks(f"{what} with disks at cables as fast as that of {server}, which boots others")
        self._give([server, *hosts])
        return Imaged(server, port, hosts)

    def _is_in(self, host: str, networks: list[str]) -> bool:
        return {leg.network for leg in self.site.nodes[host].interfaces.values()} >= set(networks)
