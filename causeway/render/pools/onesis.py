"""What nodes with one root boot from: that root, on the node that boots them, and what mounts it.

Source: CITA Xe cluster notes, "oneSIS", "OS/Install".
"""

from typing import Any

from causeway.model.pools.boot import DEVICE
from causeway.model.pools.onesis import OneSis
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.hardware import mac_address
from causeway.render.network import route_words
from causeway.render.pools import netboot
from causeway.render.pools.netboot import SHARED_FILES, node_container
from causeway.render.secrets import Secrets
from causeway.render.text import File, Files, together

__all__ = ["SHARED_FILES", "node_container"]

_HOME = "var/lib/oneSIS"
_ROOT, _INITRD = f"{_HOME}/root", f"{_HOME}/initrd"
#: Where the front end finds the software of the nodes' root.
_SOFTWARE = "/opt/oneSIS/usr"
#: What the keys that all of the nodes share are called.
CALLED = "onesis"


def server_container() -> dict[str, Any]:
    """The front end's, as containerlab has it."""
    return netboot.server_container(_SOFTWARE)


def known_hosts(site: Site, pool: str, key: str) -> list[str]:
    """Names, long names and addresses of the nodes, which share a key."""
    legs = [leg for node in site.nodes_of(pool) for leg in site.nodes[node].interfaces.values()]
    names = [n for leg in legs for host in leg.names for n in (host, f"{host}.{site.topology.domain}")]
    return [f"{','.join([*names, *(str(leg.address) for leg in legs)])} {key} {CALLED}\n"]


def server_files(site: Site, name: str, pool: OneSis, secrets: Secrets, own: Files) -> Files:
    """The front end's files beyond those of every host; `own` are these."""
    topology, boot, nodes = site.topology, pool.boot, site.nodes_of(name)
    device, leg = netboot.server_leg(site, boot, pool.interfaces[DEVICE].network)
    _, root_leg = netboot.server_leg(site, boot, pool.interfaces[pool.root].network)
    known = {node: site.nodes[node].interfaces[DEVICE].address for node in nodes}
    values = {
        "boot": boot,
        "called": f"nodes of {name}",
        "hosts_file": "/etc/onesis/nodes",
        "image": "node.img",
        "tftp": f"/{_HOME}/tftp",
        "interface": device,
        "subnet": topology.networks[leg.network].subnet,
        "domain": topology.domain,
        "cluster": pool.cluster,
        "classes": pool.classes,
        "nodes": [(mac_address(site, Port(node, DEVICE)), known[node], node) for node in nodes],
        "clients": {known[node]: site.nodes[node].interfaces[pool.root].address for node in nodes},
        "legs": [
            (known[node], other, f"{its.address}/{topology.networks[its.network].subnet.prefixlen}")
            for node in nodes
            for other, its in site.nodes[node].interfaces.items()
            if other != DEVICE
        ],
        "root_device": pool.root,
        "root_server": root_leg.address,
        "routes": [route_words(site, route) for route in pool.routes],
        "software": _SOFTWARE,
        "sysctl": topology.sysctl | topology.clusters[pool.cluster].sysctl | pool.sysctl,
    }
    root = netboot.identity(secrets, own, name, CALLED, f"root@{pool.cluster}-{CALLED}".lower())
    root |= {path: own[path] for path in ("etc/resolv.conf",) if path in own}
    root |= {f"etc/motd.{of}": File(f"A node of {pool.cluster}, class {of}.\n") for of in pool.classes}
    return together(netboot.tree("onesis", _INITRD, _ROOT, values), netboot.below(_ROOT, root))
