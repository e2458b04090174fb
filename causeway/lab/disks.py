"""Disks, which all lie in the lab's memory: how large they may be, and those with a rate and an access time, as a lab's
kernel has them (patch 0009, nodes/base/mount.disk).
"""

from dataclasses import replace
from pathlib import Path

from causeway import meminfo
from causeway.errors import BadInput
from causeway.lab import clock
from causeway.model.site import Site
from causeway.model.topology import Filesystem
from causeway.render.filesystems import BY_DRIVER

_VM = Path("/proc/sys/vm")
#: How much may have been written that is not on its way to a disk, and how much in all before writers wait, in bytes.
#: The kernel keeps both once for all nodes, and deals the second out among their disks by guess: where it is small,
#: disks that are written to at the same time are idle for half of it. So disks begin at once, and nobody waits before
#: `fsync`.
_UNDER_WAY, _WAITS = 2**16, 2**30
#: How often a disk's writer looks whether there is more than that, in hundredths of a second. Who writes wakes it only
#: after each 2 MiB of its own, and a server has many threads: in between disks were idle for one or two tenths of one.
_LOOKS = 1
#: What a lab takes of its memory beside its disks, and each node of it, with what its daemons hold while disks fill;
#: and the part of it that disks get where that would leave less.
_ITS_OWN_MIB, _NODE_MIB, _LEAST_PART = 1024, 32, 4
#: What a disk takes beyond what is stored on it: inodes, names, tables; and, of one with an arm, its journal.
_BEYOND, _JOURNAL_MIB = 1.1, 64


def memory_mib(file: Path = meminfo.FILE) -> int:
    """What the kernel that the lab runs on has."""
    return meminfo.kib_of("MemTotal", file) // 1024


def fitted(site: Site, memory: int) -> Site:
    """The site with as much room on its filesystems as such a memory (MiB) holds, were all of them full.

    That is what the site says, or the same part of each.

    Who fills a disk then gets ENOSPC, as at home. A lab that ran out of memory would end.
    """
    filesystems = site.topology.filesystems
    wanted = sum(_takes_mib(site, name, filesystem) for name, filesystem in filesystems.items())
    room = max(memory - _ITS_OWN_MIB - _NODE_MIB * len(site.nodes), memory // _LEAST_PART)
    if wanted <= room:
        return site
    less = {n: f.model_copy(update={"size_mib": int(f.size_mib * room / wanted)}) for n, f in filesystems.items()}
    return replace(site, topology=site.topology.model_copy(update={"filesystems": less}))


def _takes_mib(site: Site, name: str, filesystem: Filesystem) -> float:
    servers = len(site.servers(name))
    each = BY_DRIVER[filesystem.driver].disk_mib(filesystem, servers) * _BEYOND
    return servers * (each + (_JOURNAL_MIB if filesystem.disk else 0))


def ready(site: Site) -> None:
    """Make the kernel ready for a site's disks. BadInput where it has none with a speed of their own."""
    if not site.has_disks():
        return
    if not clock.is_uml():
        raise BadInput(
            f"{site.name} says what its disks do, and this machine's own kernel has no such disks; take `disk` out of"
            " its file, or take another clock than real"
        )
    (_VM / "dirty_background_bytes").write_text(f"{_UNDER_WAY}\n")
    (_VM / "dirty_bytes").write_text(f"{_WAITS}\n")
    if not site.boot_pools():  # else what NFS's clients have written would go to their server in small pieces, too
        (_VM / "dirty_writeback_centisecs").write_text(f"{_LOOKS}\n")


def forget(site: Site) -> None:
    """What has been written or read is not in memory any more, so that who reads it waits for the disk."""
    if site.has_disks():
        (_VM / "drop_caches").write_text("3\n")


def forget_beginnings() -> None:
    """Have in a lab host of its own none of the files in memory that were read until here.

    A clone has in memory what its lab has (hosts/agent.py). Of what is read while a lab comes up only the last is
    of use to anybody, when its nodes do what people have them do: the commands, ssh, the filesystem's client.
    """
    if clock.is_uml():
        (_VM / "drop_caches").write_text("1\n")
