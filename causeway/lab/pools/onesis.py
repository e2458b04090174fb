"""Nodes with one root, as root on their front end switches them.

Source: CITA Xe cluster notes, "oneSIS".
"""

from collections.abc import Callable, Sequence

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.lab.pools import boards
from causeway.model.pools.onesis import OneSis, names

_BOOT_S = 600


def boot(lab: Lab, pool: OneSis, progress: Callable[[str], None]) -> None:
    """Boot all nodes of a pool. LabBroken where one does not come up."""
    nodes = names(pool)
    _switch_on(lab, pool, nodes)
    ended = boards.wait_booted(lab, nodes, _BOOT_S, progress)
    if bad := {node: how for node, how in ended.items() if how != "up"}:
        raise LabBroken("\n".join(f"{node} is {how}" for node, how in bad.items()))


def free(lab: Lab, pool: OneSis) -> None:
    """Switch all off."""
    for node in names(pool):
        switch_off(lab, node)


def largest(lab: Lab, pool: OneSis) -> list[str]:
    """All can be booted together."""
    return [node for node in lab.site.diskless() if lab.site.pool_of(node) == pool]


def boot_largest(lab: Lab, pool: OneSis) -> None:
    """Boot all."""
    boot(lab, pool, lambda _: None)


def switch_off(lab: Lab, node: str) -> None:
    """`node-power off` of a single node, which its board does at once."""
    _power(lab, _pool_of(lab, node), "off", [node])
    boards.wait_off(lab, node)


def restart(lab: Lab, nodes: Sequence[str]) -> dict[str, str]:
    """Boot nodes of one pool again, or switch them on; how each boot ended: "up", or what failed."""
    _switch_on(lab, _pool_of(lab, nodes[0]), nodes)
    return boards.wait_booted(lab, nodes, _BOOT_S)


def _switch_on(lab: Lab, pool: OneSis, nodes: Sequence[str]) -> None:
    boards.forget(lab, nodes)
    for order in ("reset", "on"):  # one is for those that are on, one for those that are off
        _power(lab, pool, order, nodes)


def _power(lab: Lab, pool: OneSis, order: str, nodes: Sequence[str]) -> None:
    lab.on(pool.boot.server, "node-power", order, *nodes).must()


def _pool_of(lab: Lab, node: str) -> OneSis:
    pool = lab.site.pool_of(node)
    assert isinstance(pool, OneSis)
    return pool
