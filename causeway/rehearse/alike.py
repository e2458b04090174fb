"""Nodes that are alike in all that a packet's way depends on: of 288 computed once."""

from collections.abc import Hashable
from ipaddress import IPv4Address

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.bounds import leaves_mbit
from causeway.plan.forwarding import is_static
from causeway.render.site import tunables


def alike(site: Site) -> list[list[str]]:
    """The nodes with interfaces, those together that have the same legs at the same switches, routes and tunables.

    Whoever passes packets on, is a gateway of others, or is in a fabric with tables of its own stands alone; so does
    who has a route of its own at another node.
    """
    routes = [route for node in site.nodes.values() for route in node.routes]
    prefixes = {(int(to.network_address), int(to.netmask)) for to in {site.destination(route) for route in routes}}
    gateways = {via for route in routes for via in route.via}
    fabrics = {node.switch for name, node in site.nodes.items() if is_static(site, name)}
    wired: dict[str, list[tuple[Port, Port]]] = {}
    for cable in site.cables:
        for here, there in cable.ends, cable.ends[::-1]:
            wired.setdefault(here.node, []).append((here, there))

    def inside(address: IPv4Address) -> Hashable:
        return frozenset(prefix for prefix in prefixes if int(address) & prefix[1] == prefix[0])

    def signature(name: str) -> Hashable:
        node = site.nodes[name]
        legs = node.interfaces
        fabric = any(leg.network in fabrics for leg in legs.values())
        if node.switch or node.forwards or fabric or any(leg.address in gateways for leg in legs.values()):
            return name
        if any(route.src for route in node.routes):
            return name
        cables = tuple(
            (
                here.device,
                there.node,
                *(value for end in (here, there) for value in (leaves_mbit(site, end), site.mtu(end))),
                site.cable_at(here).delay_ms,
                site.channel_of(here) is None,
                bool({here, there} & site.down),
            )
            for here, there in wired.get(name, [])
        )
        addressed = tuple(
            (device, leg.network, site.mtu(Port(name, device)), Port(name, device) in site.down, inside(leg.address))
            for device, leg in legs.items()
        )
        own = tuple((site.destination(route), tuple(route.via), route.metric, route.mtu) for route in node.routes)
        return cables, addressed, own, tuple(sorted(tunables(site, name).items()))

    found: dict[Hashable, list[str]] = {}
    for name, node in site.nodes.items():
        if node.interfaces:
            found.setdefault(signature(name), []).append(name)
    return list(found.values())
