"""GlusterFS, as a lab sees it: what a mount of it is called, where its bricks listen, what these are asked.

Source: gluster(8).
"""

import re
from collections.abc import Callable
from xml.etree import ElementTree

from causeway.lab.filesystems.administrators import member, place
from causeway.lab.lab import Lab
from causeway.lab.probes.connections import End

MOUNT_TYPE = "fuse.glusterfs"


def listening(lab: Lab, filesystem: str) -> dict[End, str]:
    """The address and port of each brick -> its server."""
    ports = parse_ports(_gluster(lab, filesystem, "status", filesystem, "--xml"))
    servers = {member(lab, node): node for node in lab.site.servers(filesystem)}
    return {(lab.site.known_by(servers[name]).address, port): servers[name] for name, port in ports.items()}


def parse_ports(text: str) -> dict[str, int]:
    """Read `gluster volume status VOLUME --xml`: the name of each brick's server -> the brick's port."""
    found = {}
    for node in ElementTree.fromstring(text).iter("node"):
        name, path, port = (node.findtext(tag) or "" for tag in ("hostname", "path", "port"))
        if path.startswith("/") and port.isdigit():  # self-heal daemons are listed, too, by a host's name and an id
            found[name] = int(port)
    return found


def count_calls(lab: Lab, filesystem: str) -> Callable[[], None]:
    """Have the bricks count their clients' calls."""
    _gluster(lab, filesystem, "profile", filesystem, "start")

    def stop() -> None:
        _gluster(lab, filesystem, "profile", filesystem, "stop")

    return stop


def calls(lab: Lab, filesystem: str) -> str:
    """What the bricks have counted: locks, writes and reads."""
    said = _gluster(lab, filesystem, "profile", filesystem, "info", "cumulative")
    return "\n".join(line for line in said.splitlines() if re.search("Brick:|Fop|INODELK|WRITE|READ ", line))


def _gluster(lab: Lab, filesystem: str, *words: str) -> str:
    owner = lab.site.topology.filesystems[filesystem].owner
    return lab.on(place(lab, owner), "gluster", "volume", *words).must()
