"""Filesystems whose clients reach their servers through nodes that forward: by which, and by others instead; and disks
that do a part of what they could.
"""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address

from causeway.model.site import Site
from causeway.plan.paths import Ambiguous, Unreachable, Ways


def between(ways: Ways, one: str, other: str) -> str | None:
    """The node next to the first of two that forwards what they send each other, both ways; None where it is none, or
    another on the way back."""
    here, there = (ways.site.known_by(node).address for node in (one, other))
    try:
        out, back = ways.path(one, there).hops, ways.path(other, here).hops
    except (Unreachable, Ambiguous):
        return None
    found = {hop.receiver.node for hop in out[:1]} | {hop.sender.node for hop in back[-1:]}
    return found.pop() if len(found) == 1 and not found & {one, other} else None


def dealt(site: Site, by: Mapping[str, Mapping[str, str]]) -> Site:
    """The site as it is when clients and servers send to each other by these nodes (client -> server -> node).

    Their routes stay as wide as they are. What a server sends is given to such a node by the first on the way that is
    in a network with it. KeyError where nobody is, or a client is not.
    """
    ways = Ways(site)
    for client, gateways in by.items():
        for server, gateway in gateways.items():
            here, there = site.known_by(client).address, site.known_by(server).address
            site = _by(site, ways, client, there, gateway)
            site = _by(site, ways, _neighbour(ways, server, here, gateway), here, gateway)
    return site


def _neighbour(ways: Ways, server: str, to: IPv4Address, gateway: str) -> str:
    """The first on a server's way to an address that sends in a network in which a gateway has an address."""
    networks = {leg.network for leg in ways.site.nodes[gateway].interfaces.values()}
    hops = ways.path(server, to).hops
    return next((hop.sender.node for hop in hops if hop.network in networks), server)


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
