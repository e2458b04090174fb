"""Blocks of I/O nodes, as root on the service node has them, and what the nodes' consoles show.

Source: Redpaper, "Testing the SSH connectivity" (bglallocate), "Deleting a single ION" (bgldeallocate).
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from causeway.errors import LabBroken, Unsupported
from causeway.lab.lab import Lab
from causeway.model.pools.bluegene import BlueGene, block_nodes
from causeway.process import Result, follow
from causeway.wait import until

#: bglallocate itself gives up after 900 s of the lab's clock.
_ALLOCATE_S = 1000
#: What a console says last of a boot, and then how it ended (rc.sysinit).
_ENDED = "boot ended: "
_CONSOLE_LINE = re.compile(r"^\[ *(?P<at_s>[\d.]+)\] (?P<text>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Said:
    """A line of a console, and the seconds since power-on."""

    at_s: float
    text: str


def pool_of(lab: Lab) -> BlueGene:
    """The lab's first Blue Gene. Unsupported where there is none."""
    for pool in lab.site.topology.pools.values():
        if isinstance(pool, BlueGene):
            return pool
    raise Unsupported(f"{lab.site.name} has no Blue Gene, and this takes one")


def service_node(lab: Lab) -> str:
    """The node that the I/O nodes boot from."""
    return pool_of(lab).boot.server


def boot(lab: Lab, pool: BlueGene, progress: Callable[[str], None]) -> None:
    """Have the service node boot the block that the site says."""
    said: list[str] = []

    def on_line(line: str) -> None:
        said.append(line)
        progress(line)

    argv = lab.enter(pool.boot.server, ["bglallocate", pool.booted, "root"])
    if follow(argv, on_line, log=lab.folder / "bglallocate.log", env=dict(os.environ)) != 0:
        raise LabBroken("\n".join(said[-10:]))


def power_off(lab: Lab, nodes: Sequence[str]) -> None:
    """Switch I/O nodes off by their power lines, without the service node."""
    booted = [node for node in nodes if lab.state(node) not in ("down", "off", "starting")]
    for node in booted:
        line = os.open(lab.folder / "service" / "power" / node, os.O_RDWR)  # both ways: it needs no reader
        os.write(line, b"off\n")
        os.close(line)
    with suppress(LabBroken):  # what is stuck is for containerlab to complain of
        until("I/O nodes are off", lambda: " ".join(n for n in booted if lab.state(n) != "off"), deadline_s=30)


def console_log(lab: Lab, node: str) -> Path:
    """What an I/O node's board has written of its console since it was last switched on."""
    return lab.folder / "service" / "logs" / f"{node}.log"


def allocate(lab: Lab, block: str) -> Result:
    """`bglallocate`: exit code 1 says that nodes are not as they should be, and the output which and why."""
    return lab.on(service_node(lab), "bglallocate", block, "root", timeout_s=_ALLOCATE_S)


def deallocate(lab: Lab, block: str) -> None:
    """`bgldeallocate`, which switches the block's nodes off."""
    lab.on(service_node(lab), "bgldeallocate", block).must()


def allocated(lab: Lab) -> list[str]:
    """The blocks that somebody has."""
    return lab.on(service_node(lab), "ls", "/var/lib/bgl/blocks").must().split()


def free(lab: Lab, pool: BlueGene) -> None:
    """Free the block that the lab came up with."""
    deallocate(lab, pool.booted)


def largest(lab: Lab, pool: BlueGene) -> list[str]:
    """The nodes of the block that has most of them."""
    return block_nodes(pool, _largest(lab, pool), lab.site.diskless())


def boot_largest(lab: Lab, pool: BlueGene) -> None:
    """Boot that block."""
    allocate(lab, _largest(lab, pool)).must()


def _largest(lab: Lab, pool: BlueGene) -> str:
    return max(pool.blocks, key=lambda name: len(block_nodes(pool, name, lab.site.diskless())))


def up_at_s(lab: Lab, node: str) -> float:
    """Seconds from a node's power-on to the end of its start scripts."""
    return next(line.at_s for line in console(lab, node) if line.text.startswith(_ENDED))


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
        console_log(lab, node).unlink(missing_ok=True)
    for order in ("reset", "on"):  # one is for those that are on, one for those that are off
        lab.on(service_node(lab), "bglpower", order, *nodes).must()
    ended: dict[str, str] = {}

    def booting() -> str:
        for node in nodes:
            ended.update((node, said) for line in console(lab, node) if (said := line.text.partition(_ENDED)[2]))
        return " ".join(node for node in nodes if node not in ended)

    until("the nodes have booted", booting, deadline_s=_ALLOCATE_S)
    return ended


def console(lab: Lab, node: str) -> list[Said]:
    """What a node's console has shown since it was last switched on."""
    log = console_log(lab, node)
    text = log.read_text(errors="replace") if log.exists() else ""
    return [Said(float(line["at_s"]), line["text"]) for line in _CONSOLE_LINE.finditer(text)]


def silent(lab: Lab, nodes: Iterable[str], words: str) -> list[str]:
    """Those of the nodes whose consoles have not said the words since they were last switched on."""
    return [node for node in nodes if not any(words in line.text for line in console(lab, node))]
