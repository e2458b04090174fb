"""What a lab does with the pools whose nodes boot over the network; `platform` says by which module of this folder.

Such a module has: `boot` (what the lab comes up with), `free`, `largest` and `boot_largest` (the
most nodes that can be booted together), `up_at_s`, `power_off`, `restart`, `switch_off` and `console_log`.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

from causeway.errors import Unsupported
from causeway.lab.lab import Lab
from causeway.lab.pools import bluegene

BY_PLATFORM: dict[str, ModuleType] = {"bluegene": bluegene}


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
    pool = lab.site.pool_of(node)
    assert pool is not None
    at_s: float = BY_PLATFORM[pool.platform].up_at_s(lab, node)
    return at_s


def power_off(lab: Lab) -> None:
    """Switch diskless nodes off while their servers are still there: else their processes would wait for these."""
    for name, pool in lab.site.boot_pools().items():
        BY_PLATFORM[pool.platform].power_off(lab, lab.site.nodes_of(name))


def console_log(lab: Lab, node: str) -> Path | None:
    """What a diskless node has written on its console since it was last switched on; None for other nodes."""
    pool = lab.site.pool_of(node)
    if pool is None or pool.platform not in BY_PLATFORM:
        return None
    log: Path = BY_PLATFORM[pool.platform].console_log(lab, node)
    return log


def boot_server(lab: Lab) -> str:
    """The node that diskless nodes boot from. Unsupported where there are none."""
    pool = lab.site.boot_pool()
    if pool is None:
        raise Unsupported(f"{lab.site.name} has no diskless nodes, and this takes some")
    return pool.boot.server


def restart(lab: Lab, node: str) -> str:
    """Boot a diskless node again, by its power line; returns how that ended: "up", or what failed."""
    pool = lab.site.pool_of(node)
    assert pool is not None
    ended: dict[str, str] = BY_PLATFORM[pool.platform].restart(lab, [node])
    return ended[node]
