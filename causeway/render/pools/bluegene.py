"""What the I/O nodes boot from: the service node's file tree.

Source: Redpaper, "SSH setup for the IONs", "Routing on the Blue Gene IONs", "Other network-related
customization", "Customizing the GPFS startup process for the IONs".
"""

from typing import Any

from causeway.model.pools.bluegene import BlueGene
from causeway.model.pools.boot import DEVICE
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import Route
from causeway.plan.hardware import mac_address
from causeway.render import filesystems
from causeway.render.network import route_words
from causeway.render.pools import netboot
from causeway.render.pools.netboot import SHARED_FILES, node_container
from causeway.render.secrets import Secrets
from causeway.render.text import Files, together

__all__ = ["SHARED_FILES", "node_container"]

_SITE_DIST = "bgl/dist"
_RAMDISK = "bgl/BlueLight/ppcfloor/ramdisk"
#: What the keys that all I/O nodes share are called.
CALLED = "ion"
#: Location codes, as ssh_known_hosts(5) has patterns.
_NAMES = "R??-M?-N?-?"


def server_container() -> dict[str, Any]:
    """The service node's, as containerlab has it."""
    return netboot.server_container("/bglOS/usr")


def known_hosts(site: Site, pool: str, key: str) -> list[str]:
    """One pattern for the I/O nodes' names, if there is no other such pool in the cluster; their addresses one by one.

    A wildcard would match the servers' addresses too, and give "duplicate public key matches" (Redpaper, "Making the
    SSH daemons' public keys known").
    """
    nodes, pools = site.nodes_of(pool), site.topology.pools.values()
    mine = site.topology.pools[pool]
    alone = sum(isinstance(other, BlueGene) and other.cluster == mine.cluster for other in pools) == 1
    names = ",".join(f"{name},{name}.{site.topology.domain}" for name in ([_NAMES] if alone else nodes))
    addresses = ",".join(str(site.known_by(name).address) for name in nodes)
    return [f"{names} {key} {CALLED}\n", f"{addresses} {key} {CALLED}\n"]


def server_files(site: Site, name: str, pool: BlueGene, secrets: Secrets, own: Files) -> Files:
    """The service node's files beyond those of every host; `own` are these."""
    topology, cluster = site.topology, site.topology.clusters[pool.cluster]
    boot, nodes = pool.boot, site.nodes_of(name)
    device, leg = netboot.server_leg(site, boot, pool.network)
    values = {
        "boot": boot,
        "called": "I/O nodes",
        "hosts_file": "/etc/bgl/ionodes",
        "image": "ionode.img",
        "tftp": "/bgl/BlueLight/ppcfloor/tftp",
        "interface": device,
        "server_address": leg.address,
        "subnet": topology.networks[pool.network].subnet,
        "domain": topology.domain,
        "blocks": pool.blocks,
        "io_nodes": [(mac_address(site, Port(node, DEVICE)), site.known_by(node).address, node) for node in nodes],
        "sysctl": topology.sysctl | cluster.sysctl,
        "routes": [_route(site, route) for route in pool.routes],
        "ntp": site.known_by(cluster.ntp).address if cluster.ntp else None,
        "dns": [site.known_by(server).address for server in cluster.dns],
    }
    keys = netboot.identity(secrets, own, name, CALLED, f"root@{pool.cluster}-{CALLED}".lower())
    # root's own known_hosts is the one that counts there
    keys["root/.ssh/known_hosts"] = keys["etc/ssh/ssh_known_hosts"]
    tree = netboot.tree("bluegene", _RAMDISK, _RAMDISK, values)
    return together(tree, *(netboot.below(_SITE_DIST, files) for files in (filesystems.daemons(site), keys)))


def _route(site: Site, route: Route) -> str:
    """The command for a route: the Redpaper's, or, for what that does not know, iproute2's."""
    to, words = site.destination(route), route_words(site, route)
    if words != f"{to} via {route.via[0]}":
        return f"/usr/sbin/ip route add {words}"
    kind, name = ("-host", str(to.network_address)) if to.prefixlen == 32 else ("-net", str(to))
    return f"/sbin/route add {kind} {name} gw {route.via[0]}"
