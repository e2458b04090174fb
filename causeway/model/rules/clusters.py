"""Clusters: who works for them, how their nodes are known, what they mount, and their tunables."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from causeway.model.findings import Finding, Where, unknown
from causeway.model.pools.numbered import Numbered
from causeway.model.rules import places
from causeway.model.site import Site


def clusters(site: Site) -> Iterator[Finding]:
    """Those who serve a cluster are there, with an address and, for DNS, a name that its zones can give."""
    for name, cluster in site.topology.clusters.items():
        where: Where = ("clusters", name)
        for index, server in enumerate(cluster.dns):
            place: Where = (*where, "dns", index) if len(cluster.dns) > 1 else (*where, "dns")
            if server not in site.nodes:
                yield unknown(place, "node", server, site.nodes)
            elif server in cluster.dns[:index]:
                yield Finding(place, f"{server} stands there twice", "name each name server once")
            else:
                yield from _serves(place, site, server, "dns")
        for key in ("ntp", "administrator"):
            server = getattr(cluster, key)
            if server is None:
                continue
            if server not in site.nodes:
                yield unknown((*where, key), "node", server, site.nodes)
            elif key == "administrator" and site.nodes[server].cluster != name:
                if site.nodes[server].cluster in (None, *site.topology.clusters):
                    what, remedy = f"{server} is not in {name}", f"use one of {_some(site.members(name))}"
                    yield Finding((*where, key), what, remedy, ("cluster",))
            else:
                yield from _serves((*where, key), site, server, key)
        if cluster.known_by is not None and cluster.known_by not in site.topology.networks:
            yield unknown((*where, "known_by"), "network", cluster.known_by, site.topology.networks)
        elif cluster.known_by is not None:
            yield from _known(where, site, name, cluster.known_by)


def _serves(where: Where, site: Site, server: str, key: str) -> Iterator[Finding]:
    node, gone = site.nodes[server], (f"{places.owner(site, server)}:*",)
    if not node.interfaces:
        yield Finding(where, f"{server} has no interface", "use a node that has one", gone)
    elif key == "dns" and _is_known(site, server) and not site.known_by(server).names:
        what = f"the interface by which {server} is known has no name"
        yield Finding(where, what, "give it one in `names`", gone)


def _known(where: Where, site: Site, cluster: str, network: str) -> Iterator[Finding]:
    for name in site.members(cluster):
        if all(leg.network != network for leg in site.nodes[name].interfaces.values()):
            what = f"{name} has no interface in {network}"
            remedy = "use a network in which all nodes of the cluster have one"
            gone = (f"{places.owner(site, name)}:*", network)
            yield Finding((*where, "known_by"), what, remedy, gone)


def _is_known(site: Site, node: str) -> bool:
    try:
        site.known_by(node)
    except LookupError:
        return False
    return True


def _some(names: Iterable[str]) -> str:
    first = list(names)
    return ", ".join(first if len(first) <= 12 else [*first[:4], "..."]) or "(none)"


def mounts(site: Site) -> Iterator[Finding]:
    """What clusters mount is there, and each has somebody to do it, in a cluster that knows its nodes' names."""
    topology = site.topology
    for name, cluster in topology.clusters.items():
        for index, filesystem in enumerate(cluster.mounts):
            where = ("clusters", name, "mounts", index)
            if filesystem not in topology.filesystems:
                finding = unknown(where, "filesystem", filesystem, topology.filesystems)
                yield replace(finding, mentions=(filesystem, "filesystems:*"))
            elif filesystem in cluster.mounts[:index]:
                yield Finding(where, f"{filesystem} stands there twice", "name each filesystem once")
    concerned = {*site.owners(), *(name for name, c in topology.clusters.items() if c.mounts)}
    for name, cluster in topology.clusters.items():
        if name in concerned:
            yield from _administered(site, name)
        elif cluster.failure_detection_s is not None:
            what = f"{name} owns no filesystem and mounts none, so that its nodes have nothing to lose"
            yield Finding(
                ("clusters", name, "failure_detection_s"), what, "remove it, or add `mounts`", ("mounts", name)
            )


def _administered(site: Site, name: str) -> Iterator[Finding]:
    """An administrator works on a node of the cluster, by the names of its nodes, which the commands ask DNS for."""
    cluster, where = site.topology.clusters[name], ("clusters", name)
    if not cluster.dns:
        what = f"nobody answers DNS queries of {name}, and the commands of its administrator ask DNS"
        yield Finding(where, what, "add `dns: NODE`", ("dns", name))
    if cluster.administrator is None:
        what = f"{name} has nobody that its administrator could work on"
        yield Finding(where, what, "add `administrator: NODE`", ("administrator", name))
    serving = site.all_name_servers()  # as `clusters` sees to
    for node in site.members(name):
        if node in serving or (_is_known(site, node) and site.known_by(node).names):
            continue
        device = next((d for d, leg in site.nodes[node].interfaces.items() if _is_known(site, node)), None)
        place = places.of_leg(site, node, device, "names") if device else places.of_node(site, node)
        what = f"{node} has no name by which {name} could know it"
        gone = (f"{places.owner(site, node)}:*",)
        yield Finding(place, what, "name the interface by which it is known in `names`", gone)


def tunables(site: Site) -> Iterator[Finding]:
    """What the kernel keeps once for all nodes is set once for all of them."""
    sections: list[tuple[Where, Iterable[str]]] = [
        (("clusters", name), cluster.sysctl) for name, cluster in site.topology.clusters.items()
    ]
    sections += [(("nodes", name), node.sysctl) for name, node in site.topology.nodes.items()]
    sections += [
        (("pools", name), pool.sysctl) for name, pool in site.topology.pools.items() if isinstance(pool, Numbered)
    ]
    for where, keys in sections:
        for key in keys:
            if key.startswith("net.core."):
                what = f"{key} is one setting of the lab's kernel, for all nodes"
                yield Finding((*where, "sysctl", key), what, "move it to the site's own `sysctl`")
