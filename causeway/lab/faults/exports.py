"""Exported trees that are not what their clients have mounted."""

import re

from causeway.errors import BadInput
from causeway.lab.changes.change import Change, Step
from causeway.lab.changes.files import put_back, write
from causeway.lab.faults.parameters import Export
from causeway.lab.lab import Lab
from causeway.lab.pools import boot_server

_EXPORTS = "/etc/exports"


def export_moved(lab: Lab, path: Export) -> Change:
    """An exported tree has moved to another file system, under the same path: who has it mounted has a stale handle.

    Injected: the tree gets another file system number (`fsid`) in the service node's /etc/exports, as a tree on
    another disk has; `exportfs` tells the kernel.
    Triggers: I/O nodes get "Stale file handle" (ESTALE) below the mount, until they mount it anew; a new mount works.
    Where /bgl has moved, so has the nodes' software.
    Look: walk each mount on each I/O node, and compare with what a node says that has just mounted it.
    """
    server = boot_server(lab)
    text = lab.read(server, _EXPORTS)
    numbers = {name: int(number) for name, number in re.findall(r"^(/\S+)\s.*fsid=(\d+)", text, re.MULTILINE)}
    movable = [name for name, number in numbers.items() if number]  # 0: NFSv4's root is that by its number
    if path not in movable:
        raise BadInput(f"{server} exports no {path} that could move; use {', '.join(movable)}")
    other = max(numbers.values()) + 1
    moved = re.sub(rf"^({re.escape(path)}\s.*fsid=)\d+", rf"\g<1>{other}", text, flags=re.MULTILINE)
    tell = [Step(server, ("exportfs", "-ra")), Step(server, ("exportfs", "-f"))]
    there = (write(server, _EXPORTS, moved), *tell)
    return Change(f"{server}:{path} has moved", there, (put_back(lab, server, _EXPORTS), *tell))
