"""Diskless nodes that all have one root: a tree on the node that boots them, which they mount read-only (oneSIS).

Source: CITA Xe cluster notes, "oneSIS".
"""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from causeway.model.findings import Finding, Where, one_of, unknown
from causeway.model.pools import numbered
from causeway.model.pools.around import Around
from causeway.model.pools.boot import DEVICE, Boot, check_server
from causeway.model.pools.numbered import Numbered, all_names, links, names, nodes
from causeway.model.thing import Device, NodeName, Word

__all__ = ["all_names", "links", "names", "nodes"]


class OneSis(Numbered):
    """Diskless nodes that all have one root, a tree of the node that boots them, which they mount read-only.

    Names, numbers and interfaces are as a plain pool's. They boot by eth0, whose address they lease; `root` is the
    interface over which their root comes, and what each has for itself. A node of one of the `classes` sees that
    class's files where everybody has others.
    """

    platform: Literal["onesis"]
    cluster: str
    root: Device = DEVICE
    classes: dict[Word, list[NodeName]] = {}
    boot: Boot


def booted(pool: OneSis) -> list[str]:
    """All are up when the lab is."""
    return names(pool)


def check(where: Where, pool: OneSis, around: Around) -> Iterator[Finding]:
    """What must hold of a pool: an adapter to boot by, one for the root, somebody to boot from, nodes for classes."""
    yield from numbered.check(where, pool, around)
    if pool.cluster not in around.clusters:
        yield unknown((*where, "cluster"), "cluster", pool.cluster, around.clusters)
    legs = list(pool.interfaces)
    if DEVICE not in legs[:1]:
        what = f"the first interface is {legs[0] if legs else 'none'}, and the nodes boot by {DEVICE}"
        yield Finding((*where, "interfaces"), what, f"begin with {DEVICE}", (DEVICE,))
    if pool.root not in legs:
        yield Finding((*where, "root"), f"there is no interface {pool.root!r}", one_of(pool.root, legs), (pool.root,))
    networks = dict.fromkeys(pool.interfaces[leg].network for leg in (DEVICE, pool.root) if leg in legs)
    server = (*where, "boot", "server")
    yield from check_server(server, pool.boot, pool.cluster, networks, "the nodes'", around)
    classed = Counter(node for those in pool.classes.values() for node in those)
    for name, those in pool.classes.items():
        for place, node in enumerate(those):
            at = (*where, "classes", name, place)
            if node not in all_names(pool):
                yield unknown(at, "node of this pool", node, all_names(pool))
            elif classed[node] > 1:
                yield Finding(at, f"{node} is named {classed[node]} times", "a node is of one class")
