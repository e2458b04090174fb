"""What the I/O nodes boot from: the service node's file tree, and their own containers' part.

`service_node/` is that tree as it stands on the service node; a file NAME.j2 is filled in and becomes NAME.
Source: Redpaper, "SSH setup for the IONs", "Routing on the Blue Gene IONs", "Other network-related
customization", "Customizing the GPFS startup process for the IONs".
"""

from pathlib import Path
from typing import Any

from causeway.model.site import Port, Site
from causeway.plan.hardware import mac_address
from causeway.render import filesystems
from causeway.render.secrets import Secrets
from causeway.render.text import File, Files, fill

_TREE = Path(__file__).parent / "service_node"
_SITE_DIST = "bgl/dist"
#: Where a lab host keeps the Debian /usr that the service node exports (images/labhost).
SOFTWARE = "/opt/bglOS/usr"
#: What service node and I/O nodes share beside the network: a console and a power line for each node.
SERVICE_LINES = {
    "service/logs/README": File("What each I/O node's console shows: NODE.log. $BGLLOGS on the service node.\n"),
    "service/power/README": File("A FIFO for each I/O node, NODE, that takes: on, off, reset.\n"),
}


def io_nodes(site: Site) -> list[str]:
    """The names of the I/O nodes, which boot over the network."""
    return [name for name, node in site.nodes.items() if node.role == "ion"]


def server(site: Site) -> str | None:
    """The service node that the I/O nodes boot from."""
    return site.topology.services.boot.server if site.topology.services.boot else None


def containers(site: Site) -> dict[str, dict[str, Any]]:
    """What is different in the containers of service node and I/O nodes, by node, as containerlab has it."""
    service_node = server(site)
    if service_node is None:
        return {}
    ion = {"image": "causeway/ionode:latest", "cmd": "/hardware/start", "binds": ["service:/service"]}
    own = {"binds": ["service:/service", f"{SOFTWARE}:/bglOS/usr:ro"]}
    return {service_node: own} | dict.fromkeys(io_nodes(site), ion)


def service_node_files(site: Site, secrets: Secrets, shared: Files) -> Files:
    """The boot server's files beyond those of every host; `shared` are its cluster's."""
    topology = site.topology
    boot, pool, ntp = topology.services.boot, topology.io_nodes, topology.services.ntp
    assert boot is not None and pool is not None
    device, leg = next((d, i) for d, i in site.nodes[boot.server].interfaces.items() if i.network == pool.network)
    values = {
        "boot": boot,
        "interface": device,
        "server_address": leg.address,
        "subnet": topology.networks[pool.network].subnet,
        "domain": topology.domain,
        "blocks": pool.blocks,
        "io_nodes": [
            (mac_address(site, Port(name, "eth0")), site.first_leg(name).address, name) for name in io_nodes(site)
        ],
        "sysctl": topology.services.sysctl,
        "routes": [(str(site.destination(route)), route.via) for route in pool.routes],
        "ntp": site.first_leg(ntp.server).address if ntp and ntp.cluster == pool.cluster else None,
        "dns": [site.first_leg(d.server).address for d in topology.services.dns if d.cluster == pool.cluster],
    }
    daemon = {f"{_SITE_DIST}/{path}": file for path, file in filesystems.daemon(site).items()}
    return _tree(values) | daemon | _identity(secrets, shared, f"root@{pool.cluster}-ion".lower())


def _tree(values: dict[str, Any]) -> Files:
    """The tree's files by their paths on the service node, templates filled in."""
    files: Files = {}
    for file in sorted(_TREE.rglob("*")):
        if file.is_file():
            path = str(file.relative_to(_TREE))
            text = fill(f"service_node/{path}", **values) if file.suffix == ".j2" else file.read_text()
            # not the rest of the bits: they are the checkout's umask
            files[path.removesuffix(".j2")] = File(text, 0o755 if file.stat().st_mode & 0o100 else 0o644)
    return files


def _identity(secrets: Secrets, shared: Files, root_name: str) -> Files:
    """The keys of all I/O nodes, in the site's tree; root's own known_hosts is the one that counts there."""
    host, root = secrets.host["ion"], secrets.root["ion"]
    known = shared["etc/ssh/ssh_known_hosts"]
    files = {
        "etc/hosts": shared["etc/hosts"],
        "etc/ssh/ssh_host_ed25519_key": File(host.private, 0o600),
        "etc/ssh/ssh_host_ed25519_key.pub": File(f"{host.public} ion\n"),
        "etc/ssh/ssh_known_hosts": known,
        "root/.ssh/id_ed25519": File(root.private, 0o600),
        "root/.ssh/id_ed25519.pub": File(f"{root.public} {root_name}\n"),
        "root/.ssh/authorized_keys": shared["root/.ssh/authorized_keys"],
        "root/.ssh/known_hosts": known,
    }
    return {f"{_SITE_DIST}/{path}": file for path, file in files.items()}
