"""Pools: what their platforms ask for, and who boots their nodes."""

from collections.abc import Iterator

from causeway.model.findings import Finding
from causeway.model.pools import BY_PLATFORM
from causeway.model.site import Site, surroundings


def pools(site: Site) -> Iterator[Finding]:
    """Each pool is sound by itself."""
    around = surroundings(site.topology)
    for name, pool in site.topology.pools.items():
        yield from BY_PLATFORM[pool.platform].check(("pools", name), pool, around)


def servers(site: Site) -> Iterator[Finding]:
    """A node boots the nodes of one pool: it has one set of trees."""
    boots: dict[str, str] = {}
    for name, pool in site.boot_pools().items():
        server = pool.boot.server
        if server in boots:
            what = f"{server} boots pool {boots[server]} already"
            yield Finding(("pools", name, "boot", "server"), what, "give each pool a server of its own")
        boots.setdefault(server, name)
