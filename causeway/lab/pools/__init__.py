"""What a lab does with the pools whose nodes boot over the network; `platform` says by which module of this folder.

Such a module has: `boot` (what the lab comes up with), `free`, `largest` and `boot_largest` (the
most nodes that can be booted together), `restart` and `switch_off`. What all have alike is in `boards`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

from causeway.errors import Unsupported
from causeway.lab.lab import Lab
from causeway.lab.pools import bluegene, boards, onesis

BY_PLATFORM: dict[str, ModuleType] = {"bluegene": bluegene, "onesis": onesis}


def boot(lab: Lab, progress: Callable[[str], None]) -> None:
    """Boot all that the site says is booted when it comes up. LabBroken when that fails."""
    for pool in lab.site.boot_pools().values():
        BY_PLATFORM[pool.platform].boot(lab, pool, progress)


def boot_largest(lab: Lab) -> tuple[list[str], Callable[[], None]]:
    """The most diskless nodes of the first pool that can be booted together, switched off now; and what boots them.

    Unsupported where there are none.
    """
    pool = lab.site.boot_pool()
    if pool is None:
        raise Unsupported(f"{lab.site.name} has no diskless nodes, and this takes some")
    module = BY_PLATFORM[pool.platform]
    module.free(lab, pool)
    return module.largest(lab, pool), partial(module.boot_largest, lab, pool)


def up_at_s(lab: Lab, node: str) -> float:
    """Seconds from a diskless node's power-on to the end of its boot."""
    return boards.up_at_s(lab, node)


def power_off(lab: Lab) -> None:
    """Switch diskless nodes off while their servers are still there: else their processes would wait for these."""
    boards.power_off(lab, lab.site.diskless())


def console_log(lab: Lab, node: str) -> Path | None:
    """What a diskless node has written on its console since it was last switched on; None for other nodes."""
    return boards.console_log(lab, node) if node in lab.site.diskless() else None


def boot_server(lab: Lab) -> str:
    """The node that diskless nodes boot from. Unsupported where there are none."""
    pool = lab.site.boot_pool()
    if pool is None:
        raise Unsupported(f"{lab.site.name} has no diskless nodes, and this takes some")
    return pool.boot.server


def restart(lab: Lab, nodes: Sequence[str]) -> dict[str, str]:
    """Boot diskless nodes of one pool again, or switch them on; how each boot ended: "up", or what failed."""
    pool = lab.site.pool_of(nodes[0])
    assert pool is not None
    ended: dict[str, str] = BY_PLATFORM[pool.platform].restart(lab, nodes)
    return ended


def switch_off(lab: Lab, node: str) -> None:
    """Switch a diskless node off, by whom it boots from."""
    pool = lab.site.pool_of(node)
    assert pool is not None
    BY_PLATFORM[pool.platform].switch_off(lab, node)
