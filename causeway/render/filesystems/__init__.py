"""What a node's files say of the parallel filesystems: its disks, and its drivers' daemons.

A driver is a module (gluster) that has what Driver says.
"""

from typing import Protocol

from causeway.model.site import Site
from causeway.model.topology import Filesystem
from causeway.render.filesystems import gluster
from causeway.render.text import File, Files, fill


class Driver(Protocol):
    """DATA_PORTS: where its data daemons listen, for what has to leave these ports free."""

    DATA_PORTS: range

    def daemon(self) -> Files:
        """The files of its daemons, for any node of a cluster."""

    def disk_mib(self, filesystem: Filesystem, servers: int) -> int:
        """What the disk of each of so many servers must hold."""


BY_DRIVER: dict[str, Driver] = {"gluster": gluster}


def files(site: Site, node: str) -> Files:
    """A node's own files; those of a node without disks are in its boot server's tree."""
    return daemons(site) | _disks(site, node) if site.nodes[node].cluster else {}


def daemons(site: Site) -> Files:
    """The files of the daemons of all drivers that the site has: the same on every node."""
    found: Files = {}
    for name in sorted({f.driver for f in site.topology.filesystems.values()}):
        found |= BY_DRIVER[name].daemon()
    return found


def _disks(site: Site, node: str) -> Files:
    disks = [
        (name, BY_DRIVER[filesystem.driver].disk_mib(filesystem, len(site.servers(name))), about.arm if about else None)
        for name, filesystem in site.topology.filesystems.items()
        if node in site.servers(name)
        for about in [filesystem.disk]
    ]
    said = any(arm for _, _, arm in disks)
    fast = "They are as fast as the site says." if said else "They are in memory: as fast as the network needs them."
    return {"etc/fstab": File(fill("templates/disks.j2", disks=disks, fast=fast))} if disks else {}
