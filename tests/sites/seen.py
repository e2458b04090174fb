"""Whether an imported site is the one that was collected, in all that collecting can see.

What it cannot see is causeway.collect.story.UNSEEN; networks are compared by their subnets, for where no bridge says
a network's name it is a guess.
"""

from collections.abc import Collection, Hashable
from pathlib import Path
from typing import Any

import yaml

from causeway.collect.told import CLUSTERS
from causeway.model.site import Site
from causeway.model.topology import Node
from causeway.plan.bounds import leaves_mbit
from causeway.render.site import tunables


def tell_clusters(site: Site, folder: Path) -> None:
    """Write what a site's people would say of its clusters beside the outputs."""
    data: dict[str, Any] = {}
    for name, cluster in site.topology.clusters.items():
        data[name] = {"nodes": site.members(name)}
        if cluster.administrator:
            data[name]["administrator"] = cluster.administrator
    (folder / CLUSTERS).write_text(yaml.safe_dump(data, sort_keys=False))


def differences(due: Site, seen: Site, nodes: Collection[str]) -> list[str]:
    """What differs between a site and what was imported of these nodes of it, a sentence each."""
    wanted, found = view(due, nodes), view(seen, seen.nodes)
    return [
        f"{' '.join(map(str, key))}: {wanted.get(key, 'nothing')} is seen as {found.get(key, 'nothing')}"
        for key in sorted(wanted.keys() | found.keys(), key=str)
        if wanted.get(key) != found.get(key)
    ]


def view(site: Site, nodes: Collection[str]) -> dict[tuple[str, ...], Hashable]:
    """All that collecting sees of these nodes of a site, by what it is."""
    seen: dict[tuple[str, ...], Hashable] = {("domain",): site.topology.domain}
    for name in nodes:
        seen |= {("node", name, what): value for what, value in _node(site, name, site.nodes[name]).items()}
    for name, cluster in site.topology.clusters.items():
        seen |= {("cluster", name, "dns"): cluster.dns, ("cluster", name, "ntp"): cluster.ntp}
    for cable in site.cables:
        if cable.a.node in nodes and cable.b.node in nodes:
            a, b = sorted(cable.ends, key=str)
            rates = (round(leaves_mbit(site, a)), round(leaves_mbit(site, b)))  # a shaper, whatever it is that bounds
            seen["cable", f"{a} - {b}"] = (*rates, site.mtu(a), site.mtu(b), _subnet(site, cable.network))
    for channel in site.channels:
        ends = sorted(channel.ends, key=lambda end: end.node)
        if all(end.node in nodes for end in ends):
            told = tuple((end.hash_policy, end.protocol, frozenset(end.members)) for end in ends)
            seen["channel", " - ".join(f"{end.node}:{end.name}" for end in ends)] = (*told, channel.lacp_rate)
    return seen


def _subnet(site: Site, network: str | None) -> str:
    return str(site.topology.networks[network].subnet) if network else ""


def _node(site: Site, name: str, node: Node) -> dict[str, Hashable]:
    seen: dict[str, Hashable] = {
        "cluster": node.cluster,
        "switches": _subnet(site, node.switch),
        "forwarding": node.forwarding,
        "forwards": node.forwards,
    }
    for device, leg in node.interfaces.items():
        called = device if device != f"br-{node.switch}" else "its bridge"
        mtu = leg.mtu or site.topology.networks[leg.network].mtu
        seen[f"interface {called}"] = (_subnet(site, leg.network), str(leg.address), tuple(leg.names), mtu, leg.lid)
    for route in node.routes:
        key = f"route to {site.destination(route)} metric {route.metric}"
        seen[key] = (frozenset(map(str, route.via)), route.mtu, str(route.src))
    for key, value in tunables(site, name).items():
        seen[f"tunable {key}"] = " ".join(str(value).split())
    return seen
