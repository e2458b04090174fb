"""GlusterFS's files: the daemon's configuration, and what a disk must hold."""

from causeway.model.topology import Filesystem
from causeway.render.text import File, Files, fill

#: Where bricks listen; clients must be let through to these, and to 24007.
DATA_PORTS = range(49152, 49252)


def daemon() -> Files:
    """The daemon's configuration: the same on every node."""
    return {"etc/glusterfs/glusterd.vol": File(fill("templates/glusterd.vol.j2", bricks=DATA_PORTS))}


def disk_mib(filesystem: Filesystem, servers: int) -> int:
    """What each server's disk holds: of N servers with parity P, the N - Pth part of what users can store."""
    return -(-filesystem.size_mib // (servers - filesystem.parity))
