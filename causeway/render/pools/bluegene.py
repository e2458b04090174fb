"""What the I/O nodes boot from: the service node's file tree, and their own containers' part.

`nodes/bluegene/server/` is that tree as it stands on the service node; a file NAME.j2 is filled in and becomes NAME.
Source: Redpaper, "SSH setup for the IONs", "Routing on the Blue Gene IONs", "Other network-related
customization", "Customizing the GPFS startup process for the IONs".
"""

from typing import Any

from causeway.model.pools.bluegene import DEVICE, BlueGene
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import Route
from causeway.plan.hardware import mac_address
from causeway.render import filesystems
from causeway.render.network import route_words
from causeway.render.secrets import Secrets
from causeway.render.text import NODES, File, Files, fill, together

_TREE = NODES / "bluegene" / "server"
_SITE_DIST = "bgl/dist"
#: Where a lab host keeps the Debian /usr that the service node exports (images/labhost).
SOFTWARE = "/opt/bglOS/usr"
#: What service node and I/O nodes share beside the network: a console and a power line for each node.
SHARED_FILES = {
    "service/logs/README": File("What each I/O node's console shows: NODE.log. $BGLLOGS on the service node.\n"),
    "service/power/README": File("A FIFO for each I/O node, NODE, that takes: on, off, reset.\n"),
}
#: What the keys that all I/O nodes share are called.
CALLED = "ion"
#: Location codes, as ssh_known_hosts(5) has patterns.
_NAMES = "R??-M?-N?-?"


def node_container() -> dict[str, Any]:
    """An I/O node's, as containerlab has it."""
    return {"image": "causeway/ionode:latest", "cmd": "/hardware/start", "binds": ["service:/service"]}


def server_container() -> dict[str, Any]:
    """The service node's."""
    return {"binds": ["service:/service", f"{SOFTWARE}:/bglOS/usr:ro"]}


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
    device, leg = next((d, i) for d, i in site.nodes[boot.server].interfaces.items() if i.network == pool.network)
    values = {
        "boot": boot,
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
    daemon = {f"{_SITE_DIST}/{path}": file for path, file in filesystems.daemons(site).items()}
    keys = _identity(secrets, own, name, f"root@{pool.cluster}-{CALLED}".lower())
    return together(_tree(values), daemon, keys)


def _route(site: Site, route: Route) -> str:
    """The command for a route: the Redpaper's, or, for what that does not know, iproute2's."""
    to, words = site.destination(route), route_words(site, route)
    if words != f"{to} via {route.via[0]}":
        return f"/usr/sbin/ip route add {words}"
    kind, name = ("-host", str(to.network_address)) if to.prefixlen == 32 else ("-net", str(to))
    return f"/sbin/route add {kind} {name} gw {route.via[0]}"


def _tree(values: dict[str, Any]) -> Files:
    """The tree's files by their paths on the service node, templates filled in."""
    files: Files = {}
    for file in sorted(_TREE.rglob("*")):
        if file.is_file():
            path = str(file.relative_to(_TREE))
            text = fill(f"bluegene/server/{path}", **values) if file.suffix == ".j2" else file.read_text()
            # not the rest of the bits: they are the checkout's umask
            files[path.removesuffix(".j2")] = File(text, 0o755 if file.stat().st_mode & 0o100 else 0o644)
    return files


def _identity(secrets: Secrets, own: Files, pool: str, root_name: str) -> Files:
    """The keys of all I/O nodes, in the site's tree; root's own known_hosts is the one that counts there."""
    host, root = secrets.host[pool], secrets.root[pool]
    known = own["etc/ssh/ssh_known_hosts"]
    files = {
        "etc/hosts": own["etc/hosts"],
        "etc/ssh/ssh_host_ed25519_key": File(host.private, 0o600),
        "etc/ssh/ssh_host_ed25519_key.pub": File(f"{host.public} {CALLED}\n"),
        "etc/ssh/ssh_known_hosts": known,
        "root/.ssh/id_ed25519": File(root.private, 0o600),
        "root/.ssh/id_ed25519.pub": File(f"{root.public} {root_name}\n"),
        "root/.ssh/authorized_keys": own["root/.ssh/authorized_keys"],
        "root/.ssh/known_hosts": known,
    }
    return {f"{_SITE_DIST}/{path}": file for path, file in files.items()}
