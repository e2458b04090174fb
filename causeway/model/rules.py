"""What must hold in a topology beyond its form. Each rule finds all of its own violations."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network

from causeway.model import site
from causeway.model.topology import (
    LINUX_POLICIES,
    OVS_POLICIES,
    ChannelEnd,
    Dns,
    Filesystem,
    Interface,
    Node,
    Ntp,
    Route,
    Topology,
)


@dataclass(frozen=True)
class Finding:
    """A violated rule; `mentions` are the names whose absence it complains about."""

    where: tuple[str | int, ...]
    what: str
    remedy: str
    mentions: tuple[str, ...] = ()


def check(topology: Topology) -> Iterator[Finding]:
    """All violations in a topology of good form."""
    nodes = dict(topology.nodes) | site.io_node_objects(topology)
    yield from _references(topology)
    yield from _servers(topology)
    yield from _networks(topology)
    yield from _addresses(topology)
    yield from _names(topology)
    yield from _routes(topology)
    yield from _io_nodes(topology)
    yield from _boot(topology)
    yield from _filesystems(topology)
    yield from _channels(topology)
    yield from _bridges(topology)
    yield from _links(topology, nodes)
    yield from _cabling(topology)


def _one_of(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    if len(names) > 12:
        names = [*names[:4], "..."]
    return f"did you mean {close[0]}?" if close else f"use one of {', '.join(names) or '(none)'}"


def _legs(topology: Topology) -> Iterator[tuple[str, Node, str, Interface]]:
    for name, node in topology.nodes.items():
        for device, interface in node.interfaces.items():
            yield name, node, device, interface


def _references(topology: Topology) -> Iterator[Finding]:
    def unknown(where: tuple[str | int, ...], kind: str, name: str, known: Iterable[str]) -> Finding:
        return Finding(where, f"there is no {kind} {name!r}", _one_of(name, known), (name,))

    for name, node in topology.nodes.items():
        if node.cluster is not None and node.cluster not in topology.clusters:
            yield unknown(("nodes", name, "cluster"), "cluster", node.cluster, topology.clusters)
        if node.switch is not None and node.switch not in topology.networks:
            yield unknown(("nodes", name, "switch"), "network", node.switch, topology.networks)
    for name, _, device, leg in _legs(topology):
        if leg.network not in topology.networks:
            where = ("nodes", name, "interfaces", device, "network")
            yield unknown(where, "network", leg.network, topology.networks)
    if pool := topology.io_nodes:
        if pool.cluster not in topology.clusters:
            yield unknown(("io_nodes", "cluster"), "cluster", pool.cluster, topology.clusters)
        if pool.network not in topology.networks:
            yield unknown(("io_nodes", "network"), "network", pool.network, topology.networks)
        if pool.switch not in topology.nodes:
            yield unknown(("io_nodes", "switch"), "node", pool.switch, topology.nodes)
        if pool.first not in (everywhere := site.locations(pool)):
            yield unknown(("io_nodes", "first"), "location", pool.first, everywhere)
    if (boot := topology.services.boot) and boot.server not in topology.nodes:
        yield unknown(("services", "boot", "server"), "node", boot.server, topology.nodes)
    for path, _, service in _services(topology):
        if service.server not in topology.nodes:
            yield unknown((*path, "server"), "node", service.server, topology.nodes)
        if service.cluster not in topology.clusters:
            yield unknown((*path, "cluster"), "cluster", service.cluster, topology.clusters)


def _services(topology: Topology) -> Iterator[tuple[tuple[str | int, ...], str, Dns | Ntp]]:
    for index, dns in enumerate(topology.services.dns):
        yield ("services", "dns", index), "dns", dns
    if topology.services.ntp:
        yield ("services", "ntp"), "ntp", topology.services.ntp


def _servers(topology: Topology) -> Iterator[Finding]:
    """Who serves others needs an address, and a DNS server a name that its zones can give."""
    for path, kind, service in _services(topology):
        node = topology.nodes.get(service.server)
        if node is None:
            continue
        where, gone = (*path, "server"), (f"{service.server}:*",)
        if not node.interfaces:
            yield Finding(where, f"{service.server} has no interface", "use a node that has one", gone)
        elif kind == "dns" and not next(iter(node.interfaces.values())).names:
            what = f"the first interface of {service.server} has no name"
            yield Finding(where, what, "give it one in `names`", gone)


def _networks(topology: Topology) -> Iterator[Finding]:
    seen: dict[str, IPv4Network] = {}
    for name, network in topology.networks.items():
        subnet, where = network.subnet, ("networks", name, "subnet")
        if not 16 <= subnet.prefixlen <= 30:
            yield Finding(where, f"a network of prefix /{subnet.prefixlen}", "use one from /16 to /30")
        for other, its in seen.items():
            if subnet.overlaps(its):
                what = f"{subnet} overlaps network {other}, {its}"
                yield Finding(where, what, "give each network addresses of its own")
        seen[name] = subnet


def _within(subnet: IPv4Network) -> str:
    return f"use an address from {subnet[1]} to {subnet[-2]}"


def _addresses(topology: Topology) -> Iterator[Finding]:
    owner: dict[IPv4Address, str] = {}
    for name, _, device, leg in _legs(topology):
        where = ("nodes", name, "interfaces", device, "address")
        if leg.address in owner:
            what = f"{leg.address} is {owner[leg.address]}'s address too"
            yield Finding(where, what, "give each interface an address of its own")
        owner.setdefault(leg.address, f"{name}:{device}")
        network = topology.networks.get(leg.network)
        if network is None or network.subnet.prefixlen > 30:
            continue
        subnet = network.subnet
        if leg.address not in subnet:
            what = f"{leg.address} is outside of network {leg.network}, {subnet}"
            yield Finding(where, what, _within(subnet))
        elif leg.address in (subnet.network_address, subnet.broadcast_address):
            what = f"{leg.address} is the network or broadcast address of {subnet}"
            yield Finding(where, what, _within(subnet))


def _names(topology: Topology) -> Iterator[Finding]:
    io_nodes = set(site.locations(topology.io_nodes)) if topology.io_nodes else set()
    for name in topology.nodes:
        if name in io_nodes:
            yield Finding(("nodes", name), "this is the name of an I/O node", "give it another name")
    owner = {location.lower(): "an I/O node" for location in io_nodes}
    for name, _, device, leg in _legs(topology):
        for index, host in enumerate(leg.names):
            if host.lower() in owner:
                where = ("nodes", name, "interfaces", device, "names", index)
                what = f"{host} is a name of {owner[host.lower()]} too"
                yield Finding(where, what, "give each interface names of its own")
            owner.setdefault(host.lower(), f"{name}:{device}")


def _routes(topology: Topology) -> Iterator[Finding]:
    holders = {leg.address for _, _, _, leg in _legs(topology)}
    groups: list[tuple[tuple[str, ...], list[Route], dict[str, Interface]]] = [
        (("nodes", name, "routes"), node.routes, node.interfaces) for name, node in topology.nodes.items()
    ]
    if pool := topology.io_nodes:
        leg = Interface(network=pool.network, address=pool.addresses_from)
        groups.append((("io_nodes", "routes"), pool.routes, {"eth0": leg}))
    for where, routes, interfaces in groups:
        legs = [topology.networks[i.network].subnet for i in interfaces.values() if i.network in topology.networks]
        for index, route in enumerate(routes):
            here: tuple[str | int, ...] = (*where, index)
            if isinstance(route.to, str) and route.to not in topology.networks:
                what = f"there is no network {route.to!r}"
                yield Finding((*here, "to"), what, _one_of(route.to, topology.networks), (route.to,))
            if len(legs) < len(interfaces):
                continue  # one of its networks is not known
            if not any(route.via in subnet for subnet in legs):
                what = f"the gateway {route.via} is in none of the node's networks"
                remedy = f"use a gateway in {' or '.join(map(str, legs)) or 'a network it has a leg in'}"
                gone = (f"{where[1]}:*", *(leg.network for leg in interfaces.values()))
                yield Finding((*here, "via"), what, remedy, gone)
            elif route.via not in holders:
                what = f"nobody has the gateway's address {route.via}"
                remedy = "use the address of a node's interface"
                yield Finding((*here, "via"), what, remedy, (str(route.via),))


def _io_nodes(topology: Topology) -> Iterator[Finding]:
    pool = topology.io_nodes
    if pool is None or pool.network not in topology.networks:
        return
    where = ("io_nodes", "count")
    everywhere, addresses = site.locations(pool), site.io_node_addresses(topology)
    places, addressed = len(everywhere), len(addresses)
    subnet = topology.networks[pool.network].subnet
    if subnet.prefixlen > 30:
        return
    if len(set(everywhere)) < places:
        twice = next(name for name in everywhere if everywhere.count(name) > 1)
        yield Finding(("io_nodes", "locations"), f"{twice} stands there twice", "name each location once")
    switch = topology.nodes.get(pool.switch)
    if switch is not None and switch.switch != pool.network:
        what = f"{pool.switch} is no switch of network {pool.network}"
        switches = [name for name, node in topology.nodes.items() if node.switch == pool.network]
        yield Finding(("io_nodes", "switch"), what, _one_of(pool.switch, switches))
    if pool.addresses_from not in subnet:
        what = f"{pool.addresses_from} is outside of network {pool.network}, {subnet}"
        yield Finding(("io_nodes", "addresses_from"), what, _within(subnet))
    elif pool.count > places:
        yield Finding(where, f"{pool.count} I/O nodes, and locations for {places}", f"use 1 to {places}")
    elif addressed < places and pool.count > addressed:
        what = f"{pool.count} I/O nodes, and {addressed} addresses from {pool.addresses_from} in {subnet}"
        yield Finding(where, what, f"use 1 to {addressed}, or a larger network")
    elif without := [name for name in site.powered(pool) if name not in addresses]:
        what = f"{addressed} addresses from {pool.addresses_from} in {subnet}, none of them for {without[0]}"
        yield Finding(where, what, "use fewer, an earlier `first`, or a larger network")


def _boot(topology: Topology) -> Iterator[Finding]:
    """Diskless nodes need somebody to boot from, in their network; a block needs nodes."""
    pool, boot = topology.io_nodes, topology.services.boot
    if pool is None:
        if boot is not None:
            what = "there are no I/O nodes to boot"
            yield Finding(("services", "boot"), what, "remove it, or add `io_nodes`", ("io_nodes",))
        return
    everywhere = site.locations(pool)
    for name, pattern in pool.blocks.items():
        if pool.first in everywhere and not any(fnmatchcase(location, pattern) for location in everywhere):
            what = f"no location matches {pattern!r}"
            yield Finding(("io_nodes", "blocks", name), what, f"use a pattern like {pool.first[:-1]}?")
    if pool.booted not in pool.blocks:
        what = f"there is no block {pool.booted!r}"
        yield Finding(("io_nodes", "booted"), what, _one_of(pool.booted, pool.blocks), (pool.booted,))
    elif pool.first in everywhere and not site.block_nodes(pool, pool.booted, site.powered(pool)):
        what = f"none of the {pool.count} I/O nodes from {pool.first} on is in block {pool.booted}"
        yield Finding(("io_nodes", "booted"), what, "boot a block that has one")
    if boot is None:
        what = "I/O nodes have no disks, and nobody to boot from"
        yield Finding(("io_nodes",), what, "add `services.boot`", ("boot", "services"))
    elif boot.server in topology.nodes:
        server, where = topology.nodes[boot.server], ("services", "boot", "server")
        legs = server.interfaces.values()
        if pool.network in topology.networks and all(leg.network != pool.network for leg in legs):
            what = f"{boot.server} has no interface in {pool.network}, the I/O nodes' network"
            yield Finding(where, what, "use a node that has one", (f"{boot.server}:*", pool.network))
        elif pool.cluster in topology.clusters and server.cluster != pool.cluster:
            what = f"{boot.server} is not in {pool.cluster}, the I/O nodes' cluster"
            yield Finding(where, what, f"use a node of {pool.cluster}", (str(server.cluster),))


def _filesystems(topology: Topology) -> Iterator[Finding]:
    """Servers are the owner's, each with a disk of its own; every cluster has its names in DNS."""
    mounted: dict[str, str] = {}
    for name, filesystem in topology.filesystems.items():
        path = ("filesystems", name)
        owner = topology.clusters.get(filesystem.owner)
        if owner is None:
            what = f"there is no cluster {filesystem.owner!r}"
            yield Finding((*path, "owner"), what, _one_of(filesystem.owner, topology.clusters), (filesystem.owner,))
        elif owner.kind != "owning":
            what = f"{filesystem.owner} is a client cluster"
            yield Finding((*path, "owner"), what, "name one whose kind is owning", (filesystem.owner,))
        else:
            yield from _filesystem_servers(topology, path, filesystem)
        if filesystem.mount_point in mounted:
            what = f"{mounted[filesystem.mount_point]} is mounted at {filesystem.mount_point}, too"
            yield Finding((*path, "mount_point"), what, "give each a mount point of its own")
        mounted.setdefault(filesystem.mount_point, name)
    if topology.filesystems:
        yield from _administered(topology)


def _administered(topology: Topology) -> Iterator[Finding]:
    """A cluster's administrator works on a node of it, by the names of its nodes, which the commands ask DNS for."""
    known = {dns.cluster for dns in topology.services.dns}
    named = {dns.server for dns in topology.services.dns}  # as _servers sees to
    lost = {node.cluster for node in topology.nodes.values()} - {None, *topology.clusters}
    for cluster in topology.clusters:
        members = {name: node for name, node in topology.nodes.items() if node.cluster == cluster}
        if cluster not in known:
            what = f"nobody answers DNS queries of {cluster}, and the commands of its administrator ask DNS"
            yield Finding(("clusters", cluster), what, "add it to services.dns", ("dns", cluster))
        if not lost and not any(node.role in ("service", "server") for node in members.values()):
            what = f"{cluster} has nobody that its administrator could work on"
            yield Finding(("clusters", cluster), what, "add a node whose role is service or server", ("role",))
        for name, node in members.items():
            device, leg = next(iter(node.interfaces.items()), ("", None))
            if name not in named and (leg is None or not leg.names):
                where = ("nodes", name, "interfaces", device, "names") if leg else ("nodes", name)
                what = f"{name} has no name by which {cluster} could know it"
                yield Finding(where, what, "name its first interface in `names`", (f"{name}:*",))


def _filesystem_servers(topology: Topology, path: tuple[str | int, ...], filesystem: Filesystem) -> Iterator[Finding]:
    owner = filesystem.owner
    servers = {name for name, node in topology.nodes.items() if (node.role, node.cluster) == ("server", owner)}
    for index, server in enumerate(filesystem.servers):
        where = (*path, "servers", index)
        node = topology.nodes.get(server)
        if node is None:
            yield Finding(where, f"there is no node {server!r}", _one_of(server, servers), (server,))
        elif server not in servers and (node.cluster is None or node.cluster in topology.clusters):
            yield Finding(where, f"{server} is no server of {owner}", _one_of(server, servers), (owner, server))
        if server in filesystem.servers[:index]:
            yield Finding(where, f"{server} is named twice", "name four servers, each once")


def _channels(topology: Topology) -> Iterator[Finding]:
    member_of: dict[tuple[str, str], str] = {}
    for index, channel in enumerate(topology.channels):
        here = ("channels", index, "ends")
        for side, end in enumerate(channel.ends):
            where = (*here, side)
            for place, device in enumerate(end.members):
                mine = f"{end.node}:{end.name}"
                if (end.node, device) in member_of:
                    what = f"{device} is a member of {member_of[end.node, device]} already"
                    yield Finding((*where, "members", place), what, "use each port in one channel, once")
                member_of.setdefault((end.node, device), mine)
            yield from _channel_end(topology, where, end)
        yield from _channel_ends_agree(topology, index, channel.ends)
        counts = [len(end.members) for end in channel.ends]
        if min(counts) < 2:
            side = counts.index(min(counts))
            what = f"a channel of {counts[side]} member"
            yield Finding((*here, side, "members"), what, "give it two or more, or make it a link")
        elif counts[0] != counts[1]:
            what = f"{counts[0]} members on one end and {counts[1]} on the other"
            yield Finding((*here, 1, "members"), what, "name as many ports on both ends")


def _channel_end(topology: Topology, where: tuple[str | int, ...], end: ChannelEnd) -> Iterator[Finding]:
    node = topology.nodes.get(end.node)
    if node is None:
        what = f"there is no node {end.node!r}"
        yield Finding((*where, "node"), what, _one_of(end.node, topology.nodes), (end.node,))
        return
    kind, policies = ("an OVS", OVS_POLICIES) if node.switch else ("a Linux", LINUX_POLICIES)
    if end.hash_policy not in policies:
        what = f"{end.hash_policy!r} is no hash policy of {kind} bond"
        yield Finding((*where, "hash_policy"), what, f"use one of {', '.join(policies)}")
    if not node.switch and end.name not in node.interfaces:
        what = f"{end.node} has no interface {end.name!r}"
        yield Finding((*where, "name"), what, "give the bond an address there", (end.name,))
    for place, device in enumerate(end.members):
        if device in node.interfaces:
            what = f"{end.node}:{device} has an address of its own"
            yield Finding((*where, "members", place), what, "give it to the bond; a member has none")


def _channel_ends_agree(topology: Topology, index: int, ends: list[ChannelEnd]) -> Iterator[Finding]:
    where = ("channels", index, "ends", 1)
    for end in ends:
        node = topology.nodes.get(end.node)
        if node is None or (not node.switch and end.name not in node.interfaces):
            return
    ports = [site.Port(end.node, end.name) for end in ends]
    networks = [site.port_network(topology, topology.nodes, port) for port in ports]
    if networks[0] != networks[1]:
        what = f"{ports[0]} is in network {networks[0]}, {ports[1]} in {networks[1]}"
        yield Finding(where, what, "join two ends of one network")
    elif (network := networks[0]) is not None and network in topology.networks:
        mtus = [site.port_mtu(topology, topology.nodes, port, network) for port in ports]
        if mtus[0] != mtus[1]:
            what = f"MTU {mtus[0]} at {ports[0]} and {mtus[1]} at {ports[1]}"
            yield Finding(where, what, f"set one MTU, on network {network} for all its links")


def _bridges(topology: Topology) -> Iterator[Finding]:
    """A switch's own leg is in the network that it switches, with that network's MTU."""
    for name, node, device, leg in _legs(topology):
        where = ("nodes", name, "interfaces", device)
        if node.switch is None or device != f"br-{node.switch}":
            continue
        if leg.network != node.switch:
            what = f"{device} is in network {leg.network}, and {name} switches {node.switch}"
            yield Finding((*where, "network"), what, f"make it {node.switch}")
        elif leg.network in topology.networks and leg.mtu not in (None, topology.networks[leg.network].mtu):
            what = f"MTU {leg.mtu} at {name}:{device}, and network {leg.network} has another"
            yield Finding((*where, "mtu"), what, f"set one MTU, on network {leg.network} for all its links")


def _links(topology: Topology, nodes: dict[str, Node]) -> Iterator[Finding]:
    for index, link in enumerate(topology.links):
        ends = [site.Port(*end.split(":", 1)) for end in link.ends]
        known = True
        for side, port in enumerate(ends):
            where = ("links", index, "ends", side)
            node = nodes.get(port.node)
            if node is None:
                what = f"there is no node {port.node!r}"
                yield Finding(where, what, _one_of(port.node, nodes), (port.node,))
                known = False
            elif not node.switch and port.device not in node.interfaces:
                what = f"{port.node} has no interface {port.device!r}"
                remedy = _one_of(port.device, node.interfaces)
                yield Finding(where, what, remedy, (port.device,))
                known = False
        if known:
            yield from _link_ends_agree(topology, nodes, index, ends)


def _link_ends_agree(
    topology: Topology, nodes: dict[str, Node], index: int, ends: list[site.Port]
) -> Iterator[Finding]:
    networks = [site.port_network(topology, nodes, port) for port in ends]
    if networks[0] != networks[1]:
        what = f"{ends[0]} is in network {networks[0]}, {ends[1]} in {networks[1]}"
        yield Finding(("links", index), what, "join two ports of one network")
    elif (network := networks[0]) is not None and network in topology.networks:
        mtus = [site.port_mtu(topology, nodes, port, network) for port in ends]
        if mtus[0] != mtus[1]:
            what = f"MTU {mtus[0]} at {ends[0]} and {mtus[1]} at {ends[1]}"
            yield Finding(("links", index), what, f"set one MTU, on network {network} for all its links")


def _cabling(topology: Topology) -> Iterator[Finding]:
    """Every port carries one cable; every interface that needs one has it."""
    used: dict[site.Port, int] = defaultdict(int)
    for a, b in site.cable_ports(topology):
        used[a] += 1
        used[b] += 1
    for index, link in enumerate(topology.links):
        for side, end in enumerate(link.ends):
            port = site.Port(*end.split(":", 1))
            if used[port] > 1:
                what = f"{port} carries {used[port]} cables"
                yield Finding(("links", index, "ends", side), what, "use each port once")
                used[port] = 1
    bonds = {(e.node, e.name) for c in topology.channels for e in c.ends}
    lost = set(_lost_ends(topology))
    for name, node, device, _ in _legs(topology):
        leg_of_switch = node.switch is not None and device == f"br-{node.switch}"
        if used[site.Port(name, device)] or (name, device) in bonds or leg_of_switch:
            continue
        if lost.isdisjoint({(name, ""), ("", device)}):
            where = ("nodes", name, "interfaces", device)
            what = f"{name}:{device} has no cable"
            gone = (device, name, f"{name}:{device}", "links", "channels")
            yield Finding(where, what, "add it to `links` or to a channel", gone)


def _lost_ends(topology: Topology) -> Iterator[tuple[str, str]]:
    """Ends of links and channels that name an unknown node, as ("", DEVICE), or interface, as (NODE, "").

    Who lacks a cable may be the one that was meant there.
    """
    ends = [tuple(end.split(":", 1)) for link in topology.links for end in link.ends]
    ends += [(end.node, end.name) for channel in topology.channels for end in channel.ends]
    for name, device in ends:
        node = topology.nodes.get(name)
        if node is None:
            yield "", device
        elif not node.switch and device not in node.interfaces:
            yield name, ""
