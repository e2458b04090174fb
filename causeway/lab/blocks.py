"""Blocks of I/O nodes, as root on the service node has them, and what the nodes' consoles show.

Source: Redpaper, "Testing the SSH connectivity" (bglallocate), "Deleting a single ION" (bgldeallocate).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.process import Result

#: bglallocate itself gives up after 300 s of the lab's clock.
_ALLOCATE_S = 400
_CONSOLE_LINE = re.compile(r"^\[ *(?P<at_s>[\d.]+)\] (?P<text>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Said:
    """A line of a console, and the seconds since power-on."""

    at_s: float
    text: str


def service_node(lab: Lab) -> str:
    """The node that the I/O nodes boot from."""
    boot = lab.site.topology.services.boot
    if boot is None:
        raise LabBroken(f"{lab.site.name} has nobody to boot I/O nodes from")
    return boot.server


def allocate(lab: Lab, block: str) -> Result:
    """`bglallocate`: exit code 1 says that nodes are not as they should be, and the output which and why."""
    return lab.on(service_node(lab), "bglallocate", block, "root", timeout_s=_ALLOCATE_S)


def deallocate(lab: Lab, block: str) -> None:
    """`bgldeallocate`, which switches the block's nodes off."""
    lab.on(service_node(lab), "bgldeallocate", block).must()


def reboot(lab: Lab, block: str) -> Result:
    """Free a block and allocate it again."""
    deallocate(lab, block)
    return allocate(lab, block)


def console(lab: Lab, node: str) -> list[Said]:
    """What a node's console has shown since it was last switched on."""
    log = lab.folder / "service" / "logs" / f"{node}.log"
    text = log.read_text(errors="replace") if log.exists() else ""
    return [Said(float(line["at_s"]), line["text"]) for line in _CONSOLE_LINE.finditer(text)]


def put(lab: Lab, node: str, path: str, text: str) -> Callable[[], object]:
    """Write a file on a node, as an editor would; returns the undo."""
    file = lab.file(node, path)
    before = file.read_text() if file.exists() else None
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file.unlink if before is None else lambda: file.write_text(before)
