"""What a node's files say of the parallel filesystems: the servers' disks, the ports of the daemons."""

from causeway.model.site import Site
from causeway.render.text import File, Files, fill

#: Where bricks listen; clients must be let through to these, and to 24007.
BRICK_PORTS = range(49152, 49252)


def files(site: Site, node: str) -> Files:
    """A node's own files; those of an I/O node are in the boot server's tree."""
    return daemon(site) | _disks(site, node) if site.nodes[node].cluster else {}


def daemon(site: Site) -> Files:
    """The daemon's configuration: the same on every node."""
    if not site.topology.filesystems:
        return {}
    return {"etc/glusterfs/glusterd.vol": File(fill("templates/glusterd.vol.j2", bricks=BRICK_PORTS))}


def _disks(site: Site, node: str) -> Files:
    mine = {name: f for name, f in site.topology.filesystems.items() if node in f.servers}
    return {"etc/fstab": File(fill("templates/disks.j2", filesystems=mine))} if mine else {}
