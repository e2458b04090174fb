"""Filesystems: owners, servers, mount points; what a driver asks for is its own module's rule."""

from collections.abc import Iterator

from causeway.model.filesystems import BY_DRIVER
from causeway.model.findings import Finding, Where, one_of, unknown
from causeway.model.site import Site
from causeway.model.topology import Filesystem


def filesystems(site: Site) -> Iterator[Finding]:
    """Servers are nodes of the owner, each once; each filesystem has a mount point of its own."""
    topology = site.topology
    mounted: dict[str, str] = {}
    for name, filesystem in topology.filesystems.items():
        where: Where = ("filesystems", name)
        if filesystem.owner not in topology.clusters:
            what = f"there is no cluster {filesystem.owner!r}"
            remedy = one_of(filesystem.owner, topology.clusters)
            yield Finding((*where, "owner"), what, remedy, (filesystem.owner,))
        else:
            found = list(_servers(site, where, filesystem))
            yield from found
            if not found:
                yield from BY_DRIVER[filesystem.driver].check(where, filesystem, len(site.servers(name)))
        if filesystem.mount_point in mounted:
            what = f"{mounted[filesystem.mount_point]} is mounted at {filesystem.mount_point}, too"
            yield Finding((*where, "mount_point"), what, "give each a mount point of its own")
        mounted.setdefault(filesystem.mount_point, name)


def _servers(site: Site, path: Where, filesystem: Filesystem) -> Iterator[Finding]:
    owner = filesystem.owner
    members = set(site.members(owner)) - set(site.diskless())
    pools = {site.pool_name(name) for name in members} - {None}
    able = [*members, *(pool for pool in pools if pool)]
    seen: set[str] = set()
    for index, server in enumerate(filesystem.servers):
        where = (*path, "servers", index)
        named = site.nodes_of(server) if server in site.topology.pools else [server]
        if server not in site.nodes and server not in site.topology.pools:
            yield unknown(where, "node or pool", server, able)
            continue
        for node in named:
            cluster = site.nodes[node].cluster
            if node not in members and (cluster is None or cluster in site.topology.clusters):
                what = f"{server} is no node of {owner} that has disks"
                yield Finding(where, what, one_of(server, able), (owner, server))
                break
            if node in seen:
                yield Finding(where, f"{node} is named twice", "name each server once")
                break
        seen.update(named)
