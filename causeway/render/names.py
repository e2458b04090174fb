"""Names and addresses: /etc/hosts everywhere, and DNS on those who answer for a cluster."""

from ipaddress import IPv4Address

from causeway.model.site import Site
from causeway.model.topology import Interface
from causeway.render.text import File, Files, fill


def hosts(site: Site) -> Files:
    """/etc/hosts as the Redpaper has it: address, then long and short name of each."""
    entries = [
        (leg.address, [n for name in leg.names for n in (f"{name}.{site.topology.domain}", name)])
        for leg in _legs(site)
        if leg.names
    ]
    return {"etc/hosts": File(fill("templates/hosts.j2", entries=entries))}


def client_files(site: Site, node: str) -> Files:
    """Whom a node asks for names."""
    servers = site.name_servers(node)
    if not servers:
        return {}
    lines = [f"search {site.topology.domain}", *(f"nameserver {site.known_by(server).address}" for server in servers)]
    return {"etc/resolv.conf": File("\n".join([*lines, ""]))}


def server_files(site: Site, server: str) -> Files:
    """The zones of a node that answers for a cluster: all of the site's, forward and reverse."""
    if server not in site.all_name_servers():
        return {}
    domain = site.topology.domain
    known = [(host, leg.address) for leg in _legs(site) for host in leg.names]
    reverse: dict[str, list[tuple[int, str]]] = {}
    for network in site.topology.networks.values():
        for block in network.subnet.subnets(new_prefix=24) if network.subnet.prefixlen < 24 else [network.subnet]:
            reverse[_reverse_zone(block.network_address)] = []
    for leg in _legs(site):
        if leg.names:
            reverse[_reverse_zone(leg.address)].append((int(leg.address) & 0xFF, f"{leg.names[0]}.{domain}."))
    zone = {"domain": domain, "server": _server_name(site, server)}
    glue = (f"{zone['server']}.{domain}.", site.known_by(server).address)
    files = {
        "etc/bind/named.conf": File(fill("templates/named.conf.j2", zones=[domain, *reverse])),
        f"etc/bind/db.{domain}": File(fill("templates/zone.j2", **zone, hosts=known, pointers=[])),
        "etc/bind/db.root": File(fill("templates/zone.j2", **zone, hosts=[glue], pointers=[])),
    }
    for name, pointers in reverse.items():
        files[f"etc/bind/db.{name}"] = File(fill("templates/zone.j2", **zone, hosts=[], pointers=pointers))
    return files


def _legs(site: Site) -> list[Interface]:
    return [leg for node in site.nodes.values() for leg in node.interfaces.values()]


def _server_name(site: Site, node: str) -> str:
    """A name of the node that the zone has an address for: its own, or its first interface's."""
    names = [name for leg in site.nodes[node].interfaces.values() for name in leg.names]
    return node if node in names else names[0]


def _reverse_zone(address: IPv4Address) -> str:
    a, b, c, _ = str(address).split(".")
    return f"{c}.{b}.{a}.in-addr.arpa"
