"""The parallel filesystems of a lab: their administrators, and what their drivers know."""

from pathlib import Path

from causeway.lab.filesystems import gluster
from causeway.lab.filesystems.driver import Driver
from causeway.lab.lab import Lab

BY_DRIVER: dict[str, Driver] = {"gluster": gluster}


def driver_of(lab: Lab, filesystem: str) -> Driver:
    """The driver of one of the site's filesystems."""
    return BY_DRIVER[lab.site.topology.filesystems[filesystem].driver]


def mounted_on(lab: Lab, filesystem: str) -> list[str]:
    """The nodes on which a filesystem is mounted. It asks no filesystem, and so waits for none."""
    wanted = lab.site.topology.filesystems[filesystem].mount_point, driver_of(lab, filesystem).MOUNT_TYPE
    found = []
    for node in lab.site.nodes:
        if not lab.state(node).startswith("up"):
            continue
        mounts = Path(lab.file(node, "").parent, "mounts")
        fields = (line.split() for line in mounts.read_text().splitlines())
        if any((f[1], f[2]) == wanted for f in fields):
            found.append(node)
    return found
