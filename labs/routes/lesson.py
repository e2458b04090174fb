"""Gives a new node its routes, gives the others theirs back to it, and has them stay."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.lab.faults import route_missing, route_not_persistent
from causeway.lab.probes.drift import drift
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import AskLesson
from causeway.model.site import Site
from causeway.model.topology import Route
from causeway.plan.paths import Ways
from causeway.process import run
from causeway.scenario.words.routes import computed_cut, cut


@dataclass(frozen=True)
class Way:
    """A route as `ip route` takes it, and the interface in whose stanza it stands."""

    to: str
    via: IPv4Address
    device: str


@dataclass(frozen=True)
class Cast:
    """A new node, and one that is far from it; `ways` and `back` are the routes that each must have."""

    new: str
    far: str
    ways: list[Way]
    back: list[Way]
    address: IPv4Address
    far_address: IPv4Address


def cast(ask: AskLesson) -> Cast:
    ask.computable()
    found, site = ask.newcomer(), ask.site
    ways = [_way(site, found.node, route) for route in site.nodes[found.node].routes]
    back = [_way(site, found.far, route) for route in found.back]
    addresses = (site.known_by(node).address for node in (found.node, found.far))
    return Cast(found.node, found.far, ways, back, *addresses)


def _way(site: Site, node: str, route: Route) -> Way:
    legs = site.nodes[node].interfaces.items()
    device = next(d for d, leg in legs if route.via[0] in site.topology.networks[leg.network].subnet)
    return Way(site.shown_destination(route), route.via[0], device)


def begin(desk: Desk, cast: Cast) -> None:
    for node, ways in ((cast.new, cast.ways), (cast.far, cast.back)):
        for way in ways:
            desk.make(route_not_persistent(desk.lab, node, way.to))
            desk.make(route_missing(desk.lab, node, way.to))


def task_1(desk: Desk, cast: Cast) -> None:
    """What the new node sends to each other host goes where the sheet says."""
    ways = Ways(desk.site)
    for host in (host for host in desk.site.hosts() if host != cast.new):
        hops = ways.path(cast.new, desk.site.known_by(host).address).hops if _reached(ways, cast.new, host) else ()
        if hops:
            seen = _next_hop(desk, cast.new, desk.site.known_by(host).address)
            desk.same(
                f"{cast.new} sends what is for {host} to the neighbour that the sheet has", str(hops[0].next_hop), seen
            )


def task_2(desk: Desk, cast: Cast) -> None:
    """The new node and the far one open connections to each other, and so does everybody who should."""
    hosts = desk.site.hosts()
    lacking = set(cut(desk, hosts)) - set(computed_cut(desk.site, hosts))
    for one, other in ((cast.new, cast.far), (cast.far, cast.new)):
        pair = f"{one} > {other}"
        desk.holds(f"{one} opens a connection to {other}", pair not in lacking, "it cannot")
    desk.same("pairs of nodes that cannot talk, and should", [], sorted(lacking))


def task_3(desk: Desk, cast: Cast) -> None:
    """Both nodes have their routes, and a reboot would take none of them away."""
    for node, ways in ((cast.new, cast.ways), (cast.far, cast.back)):
        lacking = sorted(set(_destinations(ways)) - set(_running(desk, node)))
        desk.same(f"routes that {node} lacks", [], lacking)
        desk.same(f"what a reboot of {node} would change", [], [one.what for one in drift(desk.lab, [node])])


def _destinations(ways: Iterable[Way]) -> list[str]:
    return [way.to for way in ways]


def _running(desk: Desk, node: str) -> list[str]:
    shown = json.loads(run(desk.lab.plug(node, ["ip", "-j", "-4", "route"])).must())
    return [route["dst"] for route in shown]


def _reached(ways: Ways, one: str, other: str) -> bool:
    return ways.reaches(one, other)


def _next_hop(desk: Desk, node: str, to: IPv4Address) -> str:
    """To whom a node sends what is for an address; "nobody" where it has no route."""
    asked = run(desk.lab.plug(node, ["ip", "-j", "route", "get", str(to)]))
    return str(json.loads(asked.stdout)[0].get("gateway", to)) if asked.rc == 0 else "nobody"
