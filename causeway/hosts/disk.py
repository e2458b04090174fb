"""Whether the disks have room for what a lab host writes: a copy of its image, and what becomes of a run."""

import os
from pathlib import Path

from causeway import folders
from causeway.errors import BadInput
from causeway.hosts import artefacts

_MIB = 2**20
#: What a lab host writes beside its image: layers of containers, consoles, output.
_LAB_MIB = 300
#: What a run leaves: reports, evidence, transcripts.
_RUNS_MIB = 50


def lacking() -> list[str]:
    """Each file system that has too little room, with the sum."""
    image = artefacts.LABHOST.folder / "docker.img"
    image_mib = image.stat().st_blocks * 512 // _MIB if image.exists() else 0
    wanted: dict[int, list[tuple[Path, int]]] = {}
    for folder, mib in ((folders.state(), image_mib + _LAB_MIB), (folders.runs(), _RUNS_MIB)):
        wanted.setdefault(os.stat(there(folder)).st_dev, []).append((folder, mib))
    found = []
    for parts in wanted.values():
        at = os.statvfs(there(parts[0][0]))
        free_mib, sum_mib = at.f_bavail * at.f_frsize // _MIB, sum(mib for _, mib in parts)
        if free_mib < sum_mib:
            terms = " + ".join(f"{mib} MiB for {folder}" for folder, mib in parts)
            found.append(f"a lab host takes {terms}, and {free_mib} MiB are free there")
    return found


def there(folder: Path) -> Path:
    """The folder, or, where it is not made yet, that which it will be made in."""
    return next(place for place in (folder, *folder.parents) if place.exists())


def need_room() -> None:
    """BadInput where there is too little."""
    if found := lacking():
        raise BadInput("\n".join(f"{line}; free some" for line in found))
