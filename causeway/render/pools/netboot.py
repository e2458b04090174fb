"""What boots diskless nodes of any platform, and their containers' part.

`nodes/PLATFORM/server/` is what stands on their server for a platform, `nodes/netboot/` what does for all; a file
NAME.j2 is filled in and becomes NAME.
"""

from pathlib import Path
from typing import Any

from causeway.model.pools.boot import Boot
from causeway.model.site import Site
from causeway.model.topology import Interface
from causeway.render.secrets import Secrets
from causeway.render.text import NODES, File, Files, fill, together

_NETBOOT = NODES / "netboot"
#: Where a lab host keeps the Debian /usr that a boot server exports (images/labhost).
SOFTWARE = "/opt/bglOS/usr"
#: What servers and diskless nodes share beside the network: a console and a power line for each node.
SHARED_FILES = {
    "service/logs/README": File("What each diskless node's console shows: NODE.log. The node that boots it sees it.\n"),
    "service/power/README": File("A FIFO for each diskless node, NODE, that takes: on, off, reset.\n"),
}


def node_container() -> dict[str, Any]:
    """A diskless node's, as containerlab has it."""
    return {"image": "causeway/diskless:latest", "cmd": "/hardware/start", "binds": ["service:/service"]}


def server_container(software: str) -> dict[str, Any]:
    """That of the node that boots them; it finds the nodes' software at a path of its platform's."""
    return {"binds": ["service:/service", f"{SOFTWARE}:{software}:ro"]}


def server_leg(site: Site, boot: Boot, network: str) -> tuple[str, Interface]:
    """The server's interface in a network, with its device."""
    return next((d, leg) for d, leg in site.nodes[boot.server].interfaces.items() if leg.network == network)


def tree(platform: str, initrd: str, root: str, values: dict[str, Any]) -> Files:
    """A platform's files and those of all, by their paths on the server, templates filled in.

    `initrd` and `root` are the folders there of what is in the boot image, and of the nodes' root.
    """
    return together(
        _filled(NODES / platform / "server", "", values),
        _filled(_NETBOOT / "server", "", values),
        _filled(_NETBOOT / "initrd", f"{initrd}/", values),
        _filled(_NETBOOT / "root", f"{root}/", values),
    )


def _filled(folder: Path, to: str, values: dict[str, Any]) -> Files:
    files: Files = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            path = str(file.relative_to(folder))
            text = fill(str(file.relative_to(NODES)), **values) if file.suffix == ".j2" else file.read_text()
            # not the rest of the bits: they are the checkout's umask
            files[to + path.removesuffix(".j2")] = File(text, 0o755 if file.stat().st_mode & 0o100 else 0o644)
    return files


def identity(secrets: Secrets, own: Files, pool: str, called: str, root_name: str) -> Files:
    """The keys that all nodes of a pool share, and whom they know; `own` are their server's files."""
    host, root = secrets.host[pool], secrets.root[pool]
    return {
        "etc/hosts": own["etc/hosts"],
        "etc/ssh/ssh_host_ed25519_key": File(host.private, 0o600),
        "etc/ssh/ssh_host_ed25519_key.pub": File(f"{host.public} {called}\n"),
        "etc/ssh/ssh_known_hosts": own["etc/ssh/ssh_known_hosts"],
        "root/.ssh/id_ed25519": File(root.private, 0o600),
        "root/.ssh/id_ed25519.pub": File(f"{root.public} {root_name}\n"),
        "root/.ssh/authorized_keys": own["root/.ssh/authorized_keys"],
    }


def below(folder: str, files: Files) -> Files:
    """The same files below a folder."""
    return {f"{folder}/{path}": file for path, file in files.items()}
