"""Render a whole site. Pure: returns the files, writes none."""

from ipaddress import IPv4Address
from typing import Any

import yaml

from causeway.model.site import Port, Site
from causeway.model.topology import ChannelEnd, Interface, Node
from causeway.plan.hardware import mac_address
from causeway.render import boot, filesystems
from causeway.render.secrets import Secrets
from causeway.render.text import File, Files, fill

IMAGE = "causeway/node:latest"
#: Where node-init finds the rendered tree, and, beside the files, the ports of its node.
SITE = "/site"


def render(site: Site, secrets: Secrets) -> Files:
    """Every file of the lab by its path: LAB.clab.yml, and nodes/NODE/... as it stands on the node."""
    files: Files = {f"{site.name}.clab.yml": File(_containerlab(site))}
    shared = {kind: _cluster_files(site, kind, secrets) for kind in site.topology.clusters}
    hosts = File(fill("templates/hosts.j2", entries=_host_entries(site)))
    for name, node in site.nodes.items():
        tree: Files = {"ports": File(_ports(site, name))}
        if node.role != "ion":  # whose files come from the boot server
            tree |= _network_files(site, name, node)
            if node.cluster is not None:
                tree["etc/hosts"] = hosts
                tree |= shared[node.cluster]
                tree |= _ssh_identity(site, name, node, secrets)
            tree |= _service_files(site, name, node)
            tree |= filesystems.files(site, name)
        if name == boot.server(site):
            tree |= boot.service_node_files(site, secrets, tree)
        files |= {f"nodes/{name}/{path}": file for path, file in tree.items()}
    return files | (boot.SERVICE_LINES if boot.server(site) else {})


def _containerlab(site: Site) -> str:
    """The plain containerlab file: deploy it with containerlab alone, or read it."""
    links = [
        {
            "type": "veth",
            "endpoints": [{"node": p.node, "interface": p.device, "mac": mac_address(site, p)} for p in cable.ends],
        }
        for cable in site.cables
    ]
    nodes: dict[str, dict[str, Any]] = {}
    own = boot.containers(site)
    for name, node in site.nodes.items():
        more = dict(own.get(name, {}))
        binds = [f"nodes/{name}:{SITE}:ro", *more.pop("binds", [])]
        nodes[name] = {"binds": binds, "labels": {"role": node.role}} | more
    topology = {
        "defaults": {
            "kind": "linux",
            "image": IMAGE,
            "image-pull-policy": "Never",
            "network-mode": "none",
            "cmd": "/sbin/node-init",
        },
        "nodes": nodes,
        "links": links,
    }
    return yaml.safe_dump({"name": site.name, "topology": topology}, sort_keys=False)


def _ports(site: Site, name: str) -> str:
    """The node's adapters, a line each: device, rate in Mbit/s, MTU, and what it is plugged into."""
    kind = "switch" if site.nodes[name].switch else "host"
    lines = []
    for cable in site.cables:
        for here, there in (cable.ends, cable.ends[::-1]):
            if here.node == name:
                network = site.topology.networks[cable.network]
                side = "host" if here.device in site.nodes[name].interfaces else kind
                lines.append(f"{here.device} {network.rate_mbit} {site.mtu(here)} {side} {there}\n")
    return "".join(lines)


def _network_files(site: Site, name: str, node: Node) -> Files:
    bonds = {end.name: (channel, end) for channel, end, _ in site.channel_ends() if end.node == name}
    files: Files = {}
    if node.interfaces:
        files["etc/network/interfaces"] = File(
            fill(
                "templates/interfaces.j2",
                name=name,
                node=node,
                networks=site.topology.networks,
                bonds=bonds,
                routes=_routes_by_interface(site, node),
                mtu=lambda device: site.mtu(_cabled(site, name, device)),
            )
        )
    if node.switch is not None:
        switch = fill(
            "templates/switch.j2",
            bridge=f"br-{node.switch}",
            mac=mac_address(site, Port(name, f"br-{node.switch}")),
            mtu=site.topology.networks[node.switch].mtu,
            bonds=[pair for pair in bonds.values() if pair[1].name not in node.interfaces],
            ports=_plain_ports(site, name, [end for _, end in bonds.values()]),
        )
        files["etc/openvswitch/switch"] = File(switch, 0o755)
    # said either way: a container may inherit forwarding from its Docker host
    forwards = int(node.role == "router")
    files["etc/sysctl.d/60-forwarding.conf"] = File(f"net.ipv4.ip_forward = {forwards}\n")
    return files


def _cabled(site: Site, name: str, device: str) -> Port:
    """A port of the interface that a cable is plugged into: its own, a bond's first member, or any."""
    for _, end, _ in site.channel_ends():
        if (end.node, end.name) == (name, device):
            return Port(name, end.members[0])
    own = Port(name, device)
    if any(own in cable.ends for cable in site.cables):
        return own
    return next(
        p for c in site.cables for p in c.ends if p.node == name and site.network_of(p) == site.nodes[name].switch
    )


def _plain_ports(site: Site, name: str, bonds: list[ChannelEnd]) -> list[str]:
    members = {device for end in bonds for device in end.members}
    mine = [p.device for cable in site.cables for p in cable.ends if p.node == name]
    return [d for d in mine if d not in members and d not in site.nodes[name].interfaces]


def _routes_by_interface(site: Site, node: Node) -> dict[str, list[tuple[str, IPv4Address]]]:
    """Static routes at the interface whose network has the gateway, as (destination, gateway)."""
    routes: dict[str, list[tuple[str, IPv4Address]]] = {device: [] for device in node.interfaces}
    for route in node.routes:
        device = next(
            d for d, leg in node.interfaces.items() if route.via in site.topology.networks[leg.network].subnet
        )
        routes[device].append((str(site.destination(route)), route.via))
    return routes


def _host_entries(site: Site) -> list[tuple[IPv4Address, list[str]]]:
    """/etc/hosts as the Redpaper has it: address, then long and short name of each."""
    return [
        (leg.address, [n for name in leg.names for n in (f"{name}.{site.topology.domain}", name)])
        for leg in _legs(site)
        if leg.names
    ]


def _legs(site: Site) -> list[Interface]:
    return [leg for node in site.nodes.values() for leg in node.interfaces.values()]


def _cluster_files(site: Site, cluster: str, secrets: Secrets) -> Files:
    """What is the same on all nodes of a cluster."""
    members = site.members(cluster)
    owners = list(dict.fromkeys(Secrets.owner(site, name) for name in members))
    roots = [(secrets.root[o].public, f"root@{cluster}-{o}".lower()) for o in owners]
    files = {
        "etc/ssh/ssh_known_hosts": File(_known_hosts(site, members, secrets)),
        "root/.ssh/authorized_keys": File("".join(f"{k} {who}\n" for k, who in roots), 0o600),
    }
    services = site.topology.services
    if services.sysctl:
        text = "".join(f"{key} = {value}\n" for key, value in services.sysctl.items())
        files["etc/sysctl.d/90-site.conf"] = File(text)
    for dns in (dns for dns in services.dns if dns.cluster == cluster):
        server = site.first_leg(dns.server)
        text = f"search {site.topology.domain}\nnameserver {server.address}\n"
        files["etc/resolv.conf"] = File(text)
    return files


def _known_hosts(site: Site, members: list[str], secrets: Secrets) -> str:
    """Names, long names and addresses of a cluster's sshds; one pattern for the I/O nodes' names.

    The I/O nodes' addresses are listed one by one: a wildcard would match the servers' too, and give
    "duplicate public key matches" (Redpaper, "Making the SSH daemons' public keys known").
    """
    domain = site.topology.domain
    lines = []
    io_nodes = [name for name in members if site.nodes[name].role == "ion"]
    for name in members:
        if name in io_nodes:
            continue
        legs = site.nodes[name].interfaces.values()
        names = [n for leg in legs for host in leg.names for n in (host, f"{host}.{domain}")]
        patterns = ",".join([*names, *(str(leg.address) for leg in legs)])
        lines.append(f"{patterns} {secrets.host[name].public} {name}\n")
    if io_nodes:
        key = secrets.host["ion"].public
        lines.append(f"R??-M?-N?-?,R??-M?-N?-?.{domain} {key} ion\n")
        addresses = ",".join(str(site.first_leg(name).address) for name in io_nodes)
        lines.append(f"{addresses} {key} ion\n")
    return "".join(lines)


def _ssh_identity(site: Site, name: str, node: Node, secrets: Secrets) -> Files:
    owner = Secrets.owner(site, name)
    host, root = secrets.host[owner], secrets.root[owner]
    comment = f"root@{node.cluster}-{owner}".lower()
    return {
        "etc/ssh/ssh_host_ed25519_key": File(host.private, 0o600),
        "etc/ssh/ssh_host_ed25519_key.pub": File(f"{host.public} {owner}\n"),
        "root/.ssh/id_ed25519": File(root.private, 0o600),
        "root/.ssh/id_ed25519.pub": File(f"{root.public} {comment}\n"),
    }


def _service_files(site: Site, name: str, node: Node) -> Files:
    files: Files = {}
    services = site.topology.services
    if any(dns.server == name for dns in services.dns):
        files |= _dns_files(site, name)
    if services.ntp is not None and (services.ntp.server == name or services.ntp.cluster == node.cluster):
        server = site.first_leg(services.ntp.server)
        files["etc/chrony/chrony.conf"] = File(
            fill(
                "templates/chrony.conf.j2",
                is_server=services.ntp.server == name,
                server=server.address,
                subnet=site.topology.networks[server.network].subnet,
            )
        )
    return files


def _dns_files(site: Site, server: str) -> Files:
    domain = site.topology.domain
    hosts = [(host, leg.address) for leg in _legs(site) for host in leg.names]
    reverse: dict[str, list[tuple[int, str]]] = {}
    for network in site.topology.networks.values():
        for block in network.subnet.subnets(new_prefix=24) if network.subnet.prefixlen < 24 else [network.subnet]:
            reverse[_reverse_zone(block.network_address)] = []
    for leg in _legs(site):
        if leg.names:
            reverse[_reverse_zone(leg.address)].append((int(leg.address) & 0xFF, f"{leg.names[0]}.{domain}."))
    zone = {"domain": domain, "server": _server_name(site, server)}
    glue = (f"{zone['server']}.{domain}.", site.first_leg(server).address)
    files = {
        "etc/bind/named.conf": File(fill("templates/named.conf.j2", zones=[domain, *reverse])),
        f"etc/bind/db.{domain}": File(fill("templates/zone.j2", **zone, hosts=hosts, pointers=[])),
        "etc/bind/db.root": File(fill("templates/zone.j2", **zone, hosts=[glue], pointers=[])),
    }
    for name, pointers in reverse.items():
        files[f"etc/bind/db.{name}"] = File(fill("templates/zone.j2", **zone, hosts=[], pointers=pointers))
    return files


def _server_name(site: Site, node: str) -> str:
    """A name of the node that the zone has an address for: its own, or its first interface's."""
    names = [name for leg in site.nodes[node].interfaces.values() for name in leg.names]
    return node if node in names else names[0]


def _reverse_zone(address: IPv4Address) -> str:
    a, b, c, _ = str(address).split(".")
    return f"{c}.{b}.{a}.in-addr.arpa"
