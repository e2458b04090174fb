"""Static routes that are missing or lead astray."""

import re

from causeway.errors import BadInput
from causeway.lab.changes.change import Change, Step
from causeway.lab.changes.files import replaced
from causeway.lab.faults.parameters import Destination, Neighbour, NodeName
from causeway.lab.lab import Lab

#: What `ip route show` says of a route's state, and no command takes.
_STATES = {"linkdown", "dead"}


def route_missing(lab: Lab, node: NodeName, to: Destination) -> Change:
    """A node lacks its static route to a network or a host.

    Injected: `ip route del`.
    Triggers: what the node sends there takes the next wider route, or is refused (Network is unreachable), answers too.
    Look: compare the ways of packets in both directions, node by node (`ip route get`, a matrix of who reaches whom).
    """
    routes = _routes(lab, node, to)
    if not routes:
        raise BadInput(f"{node} has no route to {to}")
    return Change(f"{node} has no route to {to}", _verb(node, "del", routes), _verb(node, "replace", routes))


def route_wrong(lab: Lab, node: NodeName, to: Destination, via: Neighbour) -> Change:
    """A node's static route to a network or a host leads through another neighbour than it should.

    Injected: `ip route replace`.
    Triggers: packets go to that neighbour. One that forwards sends them on, by a longer way, or back; one that does
    not, or that nobody is, loses them.
    Look: compare the ways of packets in both directions, node by node (`ip route get`, traceroute).
    """
    routes = _routes(lab, node, to)
    if not routes:
        raise BadInput(f"{node} has no route to {to}")
    there, back = (_verb(node, "replace", ways) for ways in ([[to, "via", via]], routes))
    return Change(f"{node} has its route to {to} via {via}", there, back)


def route_not_persistent(lab: Lab, node: NodeName, to: Destination) -> Change:
    """A node has its static route to a network or a host, and no file of its own says so.

    Injected: the route's line is taken out of /etc/network/interfaces, as if somebody had set it by hand.
    Triggers: nothing, until the node is rebooted. Then the route is missing, long after whoever set it has gone home.
    Look: compare what runs with what files say, before anybody reboots (`causeway drift`, `ip route` on the node).
    """
    routes = _routes(lab, node, to)
    if not routes:
        raise BadInput(f"{node} has no route to {to}")
    line = rf"^ *up ip route add {re.escape(to)}(/32)? .*\n"  # as the site's files have it
    filed = replaced(lab, node, "/etc/network/interfaces", line, "")
    back = (*filed.back, *_verb(node, "replace", routes))
    return Change(f"{node} has a route to {to} that is in no file", filed.there, back)


def route_one_way(lab: Lab, source: NodeName, target: NodeName) -> Change:
    """A node reaches another and hears no answer: the other has no way back.

    Injected: every static route of the target that leads to the address by which the source is known is deleted.
    Triggers: packets arrive (tcpdump on the target shows them) and answers do not leave; no connection is made from
    either side. The target reaches all others.
    Look: follow a ping hop by hop, there and back, and note the last hop that sees it.
    """
    address = str(lab.site.known_by(source).address)
    routes = _routes(lab, target, "match", address)
    if not routes or any("kernel" in route for route in routes):
        raise BadInput(f"{target} has no static route back to {address} ({source}); choose nodes of two networks")
    there, back = (_verb(target, verb, routes) for verb in ("del", "replace"))
    return Change(f"{target} has no way back to {source}", there, back)


def _routes(lab: Lab, node: str, *which: str) -> list[list[str]]:
    """A node's routes, each as `ip route` takes it."""
    shown = _ip_route(node, "show", *which).take(lab).splitlines()
    return [[word for word in line.split() if word not in _STATES] for line in shown]


def _verb(node: str, verb: str, routes: list[list[str]]) -> tuple[Step, ...]:
    return tuple(_ip_route(node, verb, *route) for route in routes)


def _ip_route(node: str, verb: str, *words: str) -> Step:
    return Step(node, ("ip", "route", verb, *words), plugged=True)
