"""Fabrics of switches whose tables are made beforehand."""

from causeway.plan.bounds import leaves_mbit
from causeway.plan.fabrics import Fabric, fabric
from causeway.scenario.cast.base import Asking


class AskFabrics(Asking):
    """Questions for fabrics."""

    def fabric(self, hosts: int = 2) -> Fabric:
        """Switches with tables made beforehand, two of which have so many hosts each, or more.

        An uplink of theirs carries what a host sends, and does not at half its rate.
        """
        for network in self.site.topology.networks:
            found = fabric(self.site, network, self._hosts())
            big = [line for line, there in found.lines.items() if len(there) >= hosts]
            if len(big) >= 2 and self._tight(found):
                self._give(found.hosts)
                return found
        what = f"fabric of switches with tables made beforehand, two of them with {hosts} hosts each, whose uplinks"
        raise self._lacks(f"{what} carry what one host sends and less than twice that")

    def _tight(self, found: Fabric) -> bool:
        hosts = [leg for host in found.hosts for leg in self._ports(host, found.network)]
        up = {self.site.sends_mbit(port) for port in found.cables}
        sent = {leaves_mbit(self.site, end) for port in hosts for end in self.site.cable_at(port).ends}
        return len(up) == len(sent) == 1 and min(up) >= min(sent) > min(up) / 2
