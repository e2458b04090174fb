"""The parallel filesystems of a lab: their administrators, and what their drivers know."""

from pathlib import Path

from causeway.lab.filesystems import gluster
from causeway.lab.filesystems.driver import Driver
from causeway.lab.lab import Lab

BY_DRIVER: dict[str, Driver] = {"gluster": gluster}


def driver_of(lab: Lab, filesystem: str) -> Driver:
    """The driver of one of the site's filesystems."""
    return BY_DRIVER[lab.site.topology.filesystems[filesystem].driver]


def mounted(lab: Lab) -> dict[str, list[str]]:
    """The nodes on which each filesystem is mounted. It asks no filesystem, and so waits for none."""
    marks = {
        (filesystem.mount_point, driver_of(lab, name).MOUNT_TYPE): name
        for name, filesystem in lab.site.topology.filesystems.items()
    }
    found: dict[str, list[str]] = {name: [] for name in marks.values()}
    for node in lab.site.nodes if marks else ():
        if not lab.state(node).startswith("up"):
            continue
        mounts = Path(lab.file(node, "").parent, "mounts")
        fields = (line.split() for line in mounts.read_text().splitlines())
        for name in dict.fromkeys(marks[f[1], f[2]] for f in fields if (f[1], f[2]) in marks):
            found[name].append(node)
    return found
