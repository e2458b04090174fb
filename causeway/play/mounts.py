"""Where filesystems are mounted, whether they can be mounted anew there, and by which keys clusters are known."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from causeway.lab.filesystems import driver_of, mounted
from causeway.lab.filesystems.administrators import place, rows
from causeway.lab.lab import Lab
from causeway.rehearse.reach import Reach

#: Beside where filesystems belong: it is mounted there, and taken away again.
_BESIDE = "/mnt/rehearsal"
#: A node, and a filesystem.
Mount = tuple[str, str]


@dataclass(frozen=True)
class Mounts:
    """Where filesystems are mounted; of some of these, why they cannot be mounted anew ("": they can); and each
    cluster's key, as its digest."""

    on: frozenset[Mount] = frozenset()
    anew: Mapping[Mount, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)


def read(lab: Lab, reach: Reach, nodes: Collection[str]) -> Mounts:
    """How it is now. Those nodes try new mounts that can reach all servers: why others cannot is no secret."""
    on = [(node, name) for name, there in mounted(lab).items() for node in there]
    anew = {}
    for node, name in on:
        if node in nodes and all_answer(reach, node, name):
            anew[node, name] = driver_of(lab, name).mount_directly(lab, name, node, _BESIDE)
            lab.on(node, "umount", "-l", _BESIDE)
    clusters = dict.fromkeys([*lab.site.owners(), *lab.site.clients()])
    digests = {c: str(rows(lab, place(lab, c), "mcauth", "show")[0]["SHA-256_digest"]) for c in clusters}
    return Mounts(frozenset(on), anew, digests)


def all_answer(reach: Reach, node: str, filesystem: str) -> bool:
    """Whether a node can talk to all servers of a filesystem."""
    servers = (server for server in reach.site.servers(filesystem) if server != node)
    return all(reach.known(node, server).works for server in servers)


def firsts(lab: Lab, nodes: Collection[str]) -> list[str]:
    """Of each cluster the first of some nodes, for each filesystem that is mounted there."""
    found: dict[tuple[str | None, str], str] = {}
    for name, there in mounted(lab).items():
        for node in there:
            if node in nodes:
                found.setdefault((lab.site.nodes[node].cluster, name), node)
    return list(dict.fromkeys(found.values()))
