"""A node's paths as the node means them: its links lead to its own files, never to the lab host's of that name."""

import errno
import os
from pathlib import Path

from causeway.errors import LabBroken

#: As many links the kernel follows in one path (path_resolution(7)).
_LINKS = 40


def inside(root: Path, path: str) -> Path:
    """The file that a path leads to whose root is this folder: links followed, absolute ones and `..` from there.

    What is not there keeps its name, to be made. LabBroken where links lead round in a circle.
    """
    found: list[str] = []
    to_go = path.split("/")[::-1]
    links = 0
    while to_go:
        part = to_go.pop()
        if part == "..":
            del found[-1:]
        elif part not in ("", "."):
            try:
                target = os.readlink(root.joinpath(*found, part))
            except OSError:  # no link, or nothing there
                found.append(part)
                continue
            links += 1
            if links > _LINKS:
                raise LabBroken(f"{path}: {os.strerror(errno.ELOOP)}")
            if target.startswith("/"):
                found.clear()
            to_go += target.split("/")[::-1]
    return root.joinpath(*found)
