"""Filesystems whose clients reach their servers through nodes that forward: by which, and by others instead; and disks
that do a part of what they could.
"""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address

from causeway.model.site import Site
from causeway.plan.paths import Ambiguous, Unreachable, Ways


def between(ways: Ways, one: str, other: str) -> str | None:
    """The one node that forwards what two nodes send each other; None where it is none, several, or another back."""
    here, there = (ways.site.known_by(node).address for node in (one, other))
    try:
        hops = [*ways.path(one, there).hops[:-1], *ways.path(other, here).hops[:-1]]
    except (Unreachable, Ambiguous):
        return None
    found = {hop.receiver.node for hop in hops}
    return found.pop() if len(hops) == 2 and len(found) == 1 else None


def dealt(site: Site, by: Mapping[str, Mapping[str, str]]) -> Site:
    """The site as it is when clients and servers send to each other by these nodes (client -> server -> node).

    Their routes stay as wide as they are. KeyError where a node has no address in the network that a route leads to.
    """
    ways = Ways(site)
    for client, gateways in by.items():
        for server, gateway in gateways.items():
            for node, other in ((client, server), (server, client)):
                site = _by(site, ways, node, site.known_by(other).address, gateway)
    return site


def slowed(site: Site, filesystem: str, server: str, part: float) -> Site:
    """The site as it is when a filesystem's disk at a server does that part of what it could, both ways."""
    return replace(site, slowed={**site.slowed, (filesystem, server): part})


def _by(site: Site, ways: Ways, node: str, to: IPv4Address, gateway: str) -> Site:
    """A node's route to an address leads by another gateway, in the network by which it led."""
    leaving = ways.leaves(node, to)
    own = site.nodes[node]
    via = site.address(gateway, own.interfaces[leaving.device].network)
    routes = [r.model_copy(update={"via": [via]}) if r == leaving.route else r for r in own.routes]
    return replace(site, nodes=site.nodes | {node: own.model_copy(update={"routes": routes})})
