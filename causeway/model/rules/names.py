"""What is named must be there, and names must be one thing's alone."""

from collections.abc import Iterator

from causeway.model.findings import Finding, unknown
from causeway.model.pools import BY_PLATFORM
from causeway.model.pools.numbered import Numbered
from causeway.model.rules import places
from causeway.model.site import Site


def references(site: Site) -> Iterator[Finding]:
    """Clusters and networks that nodes name."""
    topology = site.topology
    for name, node in site.nodes.items():
        where = places.of_node(site, name)
        if node.cluster is not None and node.cluster not in topology.clusters:
            yield unknown((*where, "cluster"), "cluster", node.cluster, topology.clusters)
        if node.switch is not None and node.switch not in topology.networks:
            yield unknown((*where, "switch"), "network", node.switch, topology.networks)
    for name, _, device, leg in places.legs(site):
        if leg.network not in topology.networks:
            where = places.of_leg(site, name, device, "network")
            yield unknown(where, "network", leg.network, topology.networks)
    for pool_name, pool in topology.pools.items():
        if not isinstance(pool, Numbered):
            continue
        for device, own in pool.interfaces.items():
            place = ("pools", pool_name, "interfaces", device)
            if own.network not in topology.networks:
                yield unknown((*place, "network"), "network", own.network, topology.networks)
            if own.switch is not None and own.switch not in topology.nodes:
                yield unknown((*place, "switch"), "node", own.switch, topology.nodes)


def names(site: Site) -> Iterator[Finding]:
    """Nodes' and pools' names, and host names, whatever their case."""
    topology = site.topology
    pools = {name: BY_PLATFORM[pool.platform].all_names(pool) for name, pool in topology.pools.items()}
    kinds = {name: f"a node of pool {name}" for name in pools}
    of_pool: dict[str, str] = {}
    for pool, own in pools.items():
        if pool in topology.nodes:
            what = f"a node is called {pool}, too"
            yield Finding(("pools", pool), what, "give the pool another name")
        for name in own:
            if name in of_pool and of_pool[name] != pool:
                what = f"{name} is a node of pool {of_pool[name]}, too"
                yield Finding(("pools", pool), what, "give each node a name of its own")
                break
            of_pool[name] = pool
    for name in topology.nodes:
        if name in of_pool:
            what = f"this is the name of {kinds[of_pool[name]]}"
            yield Finding(("nodes", name), what, "give it another name")
    # the names of nodes that are not there now, too, for they may come
    owner = {
        name.lower(): kinds[pool]
        for name, pool in of_pool.items()
        if not isinstance(topology.pools[pool], Numbered) or name not in site.nodes
    }
    for name, _, device, leg in places.legs(site):
        its = site.topology.pools.get(places.owner(site, name))
        if its is not None and not isinstance(its, Numbered):
            continue
        for index, host in enumerate(leg.names):
            if host.lower() in owner:
                where = places.of_leg(site, name, device, "names", index)
                what = f"{host} is a name of {owner[host.lower()]} too"
                yield Finding(where, what, "give each interface names of its own")
            owner.setdefault(host.lower(), f"{name}:{device}")
