"""Blocks of I/O nodes, as root on the service node has them, and what the nodes' consoles show.

Source: Redpaper, "Testing the SSH connectivity" (bglallocate), "Deleting a single ION" (bgldeallocate).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.lab.wait import until
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


def booted(lab: Lab) -> str:
    """The block that the lab came up with."""
    pool = lab.site.topology.io_nodes
    if pool is None:
        raise LabBroken(f"{lab.site.name} has no I/O nodes")
    return pool.booted


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


def switch_off(lab: Lab, node: str) -> None:
    """`bglpower off` of a single node, which its board does at once."""
    lab.on(service_node(lab), "bglpower", "off", node).must()
    until(f"{node} is off", lambda: "" if lab.state(node) == "off" else lab.state(node), deadline_s=10)


def restart(lab: Lab, nodes: Sequence[str]) -> dict[str, str]:
    """Boot single nodes of an allocated block again, by `bglpower`; how each boot ended: "up", or what failed."""
    for node in nodes:  # as bglallocate does: the last boot's words must not be taken for the next one's
        lab.console_log(node).unlink(missing_ok=True)
    for order in ("reset", "on"):  # one is for those that are on, one for those that are off
        lab.on(service_node(lab), "bglpower", order, *nodes).must()
    ended: dict[str, str] = {}

    def booting() -> str:
        for node in nodes:
            ended.update((node, said) for line in console(lab, node) if (said := _ending(line.text)))
        return " ".join(node for node in nodes if node not in ended)

    until("the nodes have booted", booting, deadline_s=_ALLOCATE_S)
    return ended


def _ending(text: str) -> str:
    return text.removeprefix("boot ended: ") if text.startswith("boot ended: ") else ""


def console(lab: Lab, node: str) -> list[Said]:
    """What a node's console has shown since it was last switched on."""
    log = lab.console_log(node)
    text = log.read_text(errors="replace") if log.exists() else ""
    return [Said(float(line["at_s"]), line["text"]) for line in _CONSOLE_LINE.finditer(text)]


def silent(lab: Lab, nodes: Iterable[str], words: str) -> list[str]:
    """Those of the nodes whose consoles have not said the words since they were last switched on."""
    return [node for node in nodes if not any(words in line.text for line in console(lab, node))]
