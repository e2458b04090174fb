"""Links, switches and their legs: every cable joins two ports of one network, every port has one."""

from collections import defaultdict
from collections.abc import Iterator

from causeway.model.findings import Finding, Where, one_of, unknown
from causeway.model.pools.numbered import Numbered
from causeway.model.pools.plain import Plain
from causeway.model.rules import places
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import Node


def bridges(site: Site) -> Iterator[Finding]:
    """A switch's own leg is in the network that it switches, with that network's MTU."""
    for name, node, device, leg in places.legs(site):
        where = ("nodes", name, "interfaces", device)
        if node.switch is None or device != f"br-{node.switch}":
            continue
        if leg.network != node.switch:
            what = f"{device} is in network {leg.network}, and {name} switches {node.switch}"
            yield Finding((*where, "network"), what, f"make it {node.switch}")
        elif leg.network in site.topology.networks and leg.mtu not in (None, site.topology.networks[leg.network].mtu):
            what = f"MTU {leg.mtu} at {name}:{device}, and network {leg.network} has another"
            yield Finding((*where, "mtu"), what, f"set one MTU, on network {leg.network} for all its links")


def links(site: Site) -> Iterator[Finding]:
    """Both ends of a link are there and agree; so do those of pools' links."""
    for index, link in enumerate(site.topology.links):
        a, b = link.ends
        known = True
        for side, port in enumerate(link.ends):
            where = ("links", index, "ends", side)
            node = site.nodes.get(port.node)
            if node is None:
                yield unknown(where, "node", port.node, site.nodes)
                known = False
            elif not node.switch and port.device not in node.interfaces:
                what = f"{port.node} has no interface {port.device!r}"
                yield Finding(where, what, one_of(port.device, node.interfaces), (port.device,))
                known = False
        if known:
            yield from agree(site, ("links", index), (a, b))
    for name, pool in site.topology.pools.items():
        first = next(iter(site.nodes_of(name)), None)
        if not isinstance(pool, Numbered) or first is None:
            continue
        for device, leg in pool.interfaces.items():
            known = leg.network in site.topology.networks and leg.switch in site.topology.nodes
            bonded = isinstance(pool, Plain) and device in pool.channels
            if known and leg.switch is not None and not bonded:
                place = ("pools", name, "interfaces", device, "switch")
                yield from agree(site, place, (Port(first, device), Port(leg.switch, first)))


def agree(
    site: Site, where: Where, ends: tuple[Port, Port], called: tuple[Port, Port] | None = None
) -> Iterator[Finding]:
    """Both ends are in one network, and none can send what the other does not take.

    A host's own interface may have a smaller MTU than the port it is plugged into, as its TCP tells so. `called` are
    the channel's ends, where these are members of one.
    """
    networks = [_network(site, port) for port in ends]
    shown = called or ends
    if networks[0] != networks[1]:
        what = f"{shown[0]} is in network {networks[0]}, {shown[1]} in {networks[1]}"
        yield Finding(where, what, f"join two {'ends' if called else 'ports'} of one network")
        return
    network = networks[0]
    if network is None or network not in site.topology.networks:
        return
    mtus = [_mtu(site, port, network) for port in ends]
    smaller = ends[mtus.index(min(mtus))]
    if mtus[0] != mtus[1] and not _is_host_end(site, smaller):
        what = f"MTU {mtus[0]} at {shown[0]} and {mtus[1]} at {shown[1]}"
        yield Finding(where, what, f"set one MTU, on network {network} for all its links")


def _network(site: Site, port: Port) -> str | None:
    interface = site.interface_at(port)
    return interface.network if interface else site.nodes[port.node].switch


def _mtu(site: Site, port: Port, network: str) -> int:
    interface = site.interface_at(port)
    return interface.mtu if interface and interface.mtu else site.topology.networks[network].mtu


def _is_host_end(site: Site, port: Port) -> bool:
    interface = site.interface_at(port)
    return interface is not None and interface.mtu is not None


def cables(site: Site) -> Iterator[Finding]:
    """Every port carries one cable; every interface that needs one has it."""
    used: dict[Port, int] = defaultdict(int)
    for cable in site.cables:
        used[cable.a] += 1
        used[cable.b] += 1
    for index, link in enumerate(site.topology.links):
        for side, port in enumerate(link.ends):
            if used[port] > 1:
                what = f"{port} carries {used[port]} cables"
                yield Finding(("links", index, "ends", side), what, "use each port once")
                used[port] = 1
    for place in places.channels(site):
        if not place.pool:
            continue
        for port in (Port(end.node, device) for end in place.channel.ends for device in end.members):
            if used[port] > 1:
                yield Finding(place.where, f"{port} carries {used[port]} cables", "use each port once")
                used[port] = 1
    for cable in site.cables:
        for port in cable.ends:
            name = site.pool_name(cable.a.node)
            if used[port] > 1 and name is not None:
                yield Finding(("pools", name), f"{port} carries {used[port]} cables", "use each port once")
                used[port] = 1
    bonds = {(e.node, e.name) for c in site.channels for e in c.ends}
    lost = set(_lost_ends(site))
    for name, node, device, _ in places.legs(site):
        leg_of_switch = node.switch is not None and device == f"br-{node.switch}"
        if used[Port(name, device)] or (name, device) in bonds or leg_of_switch:
            continue
        if lost.isdisjoint({(name, ""), ("", device)}):
            owner = places.owner(site, name)
            what = f"{name}:{device} has no cable"
            gone = (device, name, f"{name}:{device}", "links", "channels", owner)
            yield Finding(places.of_leg(site, name, device), what, "add it to `links` or to a channel", gone)


def bounds(site: Site) -> Iterator[Finding]:
    """A node that has a bound of its own has one cable, at whose ends it is kept."""
    cables_of: dict[str, int] = defaultdict(int)
    for cable in site.cables:
        for port in cable.ends:
            cables_of[port.node] += 1
    for name, node in site.nodes.items():
        if (count := cables_of[name]) < 2:
            continue
        for key, mbit in (("receive_mbit", node.receive_mbit), ("send_mbit", node.send_mbit)):
            if mbit is not None:
                what = f"{name} has {count} cables, and nothing in a lab bounds what it has of all of them together"
                yield Finding((*places.of_node(site, name), key), what, "give its cables a `rate_mbit` instead")


def _lost_ends(site: Site) -> Iterator[tuple[str, str]]:
    """Ends of links and channels that name an unknown node, as ("", DEVICE), or interface, as (NODE, "").

    Who lacks a cable may be the one that was meant there.
    """
    ends = [(end.node, end.device) for link in site.topology.links for end in link.ends]
    ends += [(end.node, end.name) for channel in site.channels for end in channel.ends]
    for name, device in ends:
        node = site.nodes.get(name)
        if node is None:
            yield "", device
        elif not node.switch and device not in node.interfaces:
            yield name, ""


def loops(site: Site) -> Iterator[Finding]:
    """Learning switches of one network are a tree: in a loop a broadcast would go round for ever.

    A channel is one way, whatever its members.
    """
    where: dict[tuple[Port, Port], Where] = {
        (link.ends[0], link.ends[1]): ("links", index) for index, link in enumerate(site.topology.links)
    }
    for place in places.channels(site):
        a, b = (Port(end.node, end.name) for end in place.channel.ends)
        where[a, b] = place.where
    leads: dict[str, str] = {}

    def root(switch: str) -> str:
        while switch in leads:
            switch = leads[switch]
        return switch

    for (a, b), place_ in where.items():
        if not (_learns(site, a) and _learns(site, b)) or site.nodes[a.node].switch != site.nodes[b.node].switch:
            continue
        if root(a.node) == root(b.node):
            what = f"{a.node} and {b.node} are joined already: a broadcast would go round in network "
            what += f"{site.nodes[a.node].switch} for ever"
            yield Finding(place_, what, "take one way out, or make several cables one channel")
        else:
            leads[root(a.node)] = root(b.node)


def _learns(site: Site, port: Port) -> bool:
    """Whether a port is one of a switch that learns, not an interface of its own."""
    node: Node | None = site.nodes.get(port.node)
    if node is None or node.switch is None or node.forwarding != "learning":
        return False
    return port.device not in node.interfaces
