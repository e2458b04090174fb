"""Blocks of I/O nodes, as root on the service node has them.

Source: Redpaper, "Testing the SSH connectivity" (bglallocate), "Deleting a single ION" (bgldeallocate).
"""

import os
from collections.abc import Callable, Sequence

from causeway.errors import LabBroken, Unsupported
from causeway.lab.lab import Lab
from causeway.lab.pools import boards
from causeway.model.pools.bluegene import BlueGene, block_nodes
from causeway.process import Result, follow

#: bglallocate itself gives up after 900 s of the lab's clock.
_ALLOCATE_S = 1000


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


def reboot(lab: Lab, block: str) -> Result:
    """Free a block and allocate it again."""
    deallocate(lab, block)
    return allocate(lab, block)


def switch_off(lab: Lab, node: str) -> None:
    """`bglpower off` of a single node, which its board does at once."""
    lab.on(service_node(lab), "bglpower", "off", node).must()
    boards.wait_off(lab, node)


def restart(lab: Lab, nodes: Sequence[str]) -> dict[str, str]:
    """Boot single nodes of an allocated block again, by `bglpower`; how each boot ended: "up", or what failed."""
    boards.forget(lab, nodes)  # as bglallocate does
    for order in ("reset", "on"):  # one is for those that are on, one for those that are off
        lab.on(service_node(lab), "bglpower", order, *nodes).must()
    return boards.wait_booted(lab, nodes, _ALLOCATE_S)
