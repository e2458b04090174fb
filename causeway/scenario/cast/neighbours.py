"""Who is plugged into one network, and hears the others there without a gateway."""

from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.model.thing import Port
from causeway.scenario.cast.base import Asking, number

#: How many hosts at one switch are a company, and how many of a large one are enough.
_MANY, _ENOUGH = 4, 8
#: Frames of no more bytes are no jumbo frames.
_USUAL_MTU = 1500


@dataclass(frozen=True)
class Twice:
    """A host's address in a network, another node there of no cluster, and hosts that call both of them.

    Nobody forwards, and no parallel filesystem needs what the host sends the callers.
    """

    network: str
    host: str
    address: IPv4Address
    other: str
    callers: list[str]


@dataclass(frozen=True)
class Company:
    """Hosts that are plugged into one switch, which learns, by one cable each; and their network."""

    network: str
    switch: str
    hosts: list[str]


@dataclass(frozen=True)
class Equals:
    """Hosts with disks at one switch, by one short cable each and all of one rate, which forward and serve nothing.

    Their wires alone bound what they send and receive, in frames of usual size.
    """

    network: str
    hosts: list[str]
    ports: dict[str, Port]


@dataclass(frozen=True)
class Starter:
    """A host with one cable, `port`, to the network by which it logs in on others, and no files come."""

    node: str
    port: Port
    others: list[str]


class AskNeighbours(Asking):
    """Questions for neighbours."""

    def twice(self, callers: int = 3) -> Twice:
        """A host and so many callers, or more, beside a node of no cluster; rather where no daemons know each other."""
        known = {self.site.known_by(host).network for host in self._hosts()}
        for network in sorted(self.site.topology.networks, key=lambda network: network in known):
            plain = [h for h in self._in(network) if self._plain(h)]
            others = [
                name
                for name, node in self.site.nodes.items()
                if not node.cluster and not node.forwards and self._ports(name, network)
            ]
            if others and len(plain) > callers:
                host, *calling = sorted(plain, key=lambda h: (h in self.site.diskless(), self._serves(h)))
                self._give([host, others[-1], *calling])
                return Twice(network, host, self.site.address(host, network), others[-1], calling)
        raise self._lacks(f"node of no cluster in one network with {callers + 1} hosts that forward and serve nothing")

    def company(self) -> Company:
        """The most hosts at one switch, eight of them where there are more."""
        found: list[Company] = []
        for network in self.site.topology.networks:
            at: dict[str, list[str]] = {}
            for host in self._in(network):
                (port,) = self._ports(host, network)[:1]
                for cable in (c for c in self.site.cables if port in c.ends):
                    (far,) = (end for end in cable.ends if end != port)
                    if self._learns(far):
                        at.setdefault(far.node, []).append(host)
            found += [Company(network, switch, hosts) for switch, hosts in at.items() if len(hosts) >= _MANY]
        if not found:
            raise self._lacks("switch that learns, with four hosts at ports of their own")
        most = max(found, key=lambda company: len(company.hosts))
        hosts = most.hosts[:_ENOUGH]
        self._give([most.switch, *hosts])
        return Company(most.network, most.switch, hosts)

    def equals(self, least: int) -> Equals:
        """So many like hosts at a switch that learns, of the slowest network without jumbo frames that has them."""
        networks = self.site.topology.networks.items()
        rates = {name: network.rate_mbit for name, network in networks if network.mtu <= _USUAL_MTU}
        for network in sorted(rates, key=lambda name: rates[name]):
            at: dict[tuple[str, int], list[Port]] = {}
            able = [h for h in self._in(network) if self._plain(h) and h not in self.site.diskless()]
            for host in (h for h in able if not (self.site.nodes[h].receive_mbit or self.site.nodes[h].send_mbit)):
                (port,) = self._ports(host, network)[:1]
                for cable in (c for c in self.site.cables if port in c.ends and not c.delay_ms):
                    (far,) = (end for end in cable.ends if end != port)
                    if self._learns(far) and len(set(cable.rate_mbit)) == 1:
                        at.setdefault((far.node, cable.rate_mbit[0]), []).append(port)
            for ports in (ports for ports in at.values() if len(ports) >= least):
                hosts = self._give([port.node for port in ports[:least]])
                return Equals(network, hosts, {port.node: port for port in ports[:least]})
        raise self._lacks(
            f"switch that learns, with {number(least)} hosts with disks at ports of one rate, and no jumbo frames"
        )

    def starter(self, others: int = 2, most: int = 4) -> Starter:
        """A host that nobody needs if it is away from that network, and so many others of its cluster, or more."""
        plugged = [port for cable in self.site.cables for port in cable.ends]
        for host in (h for h in self._hosts() if h not in self.site.diskless() and not self._serves(h)):
            network = self.site.known_by(host).network
            (port, *_) = self._ports(host, network)
            fellows = [h for h in self._fellows(host) if self.site.known_by(h).network == network]
            disked = [h for h in fellows if self._plain(h) and h not in self.site.diskless()]
            if port in plugged and self._plain(host) and len(disked) >= others and not self._filed(host, network):
                self._give([host, *disked[:most]])
                return Starter(host, port, disked[:most])
        what = f"host with a cable to a network by which it logs in on {others} others, and by which no files come"
        raise self._lacks(what)

    def _filed(self, host: str, network: str) -> bool:
        """Whether any of a host's files come by a network."""
        for name in self.site.mounts(self.site.nodes[host].cluster or ""):
            for server in self.site.servers(name):
                way = self._way(host, server)
                if way is None or (way.hops and way.hops[0].network == network):
                    return True
        return False

    def _in(self, network: str) -> list[str]:
        return [host for host in self._hosts() if self._ports(host, network)]

    def _plain(self, host: str) -> bool:
        serving = {server for name in self.site.topology.filesystems for server in self.site.servers(name)}
        return not self.site.nodes[host].forwards and host not in serving

    def _learns(self, port: Port) -> bool:
        node = self.site.nodes[port.node]
        return node.switch is not None and node.forwarding == "learning"
