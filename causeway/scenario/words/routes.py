"""Ways of packets, for scenarios: who cannot talk with whom, which way packets take, and who drops them."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address

from causeway.lab.changes.change import Change, Step, together
from causeway.lab.faults import route_wrong
from causeway.lab.probes.counters import difference, kernel_counters, sent_bytes
from causeway.lab.probes.reach import matrix
from causeway.model.site import Site
from causeway.plan.paths import Unreachable, Ways, path
from causeway.process import run
from causeway.scenario.stage import Stage

#: How many packets are sent to see who drops them.
_PACKETS = 3
#: How many nodes fit into a packet with the two who talk (RFC 791, record route: nine addresses).
_ROOM = 8


# Pairs


def cut(stage: Stage, nodes: Sequence[str]) -> list[str]:
    """The pairs of which one cannot open a connection to the other: "one > other"."""
    return sorted(f"{one} > {other}" for (one, other), answers in matrix(stage.lab, nodes).items() if not answers)


def computed_cut(site: Site, nodes: Sequence[str], rp_filter: int = 0) -> list[str]:
    """The pairs that must not reach each other, by the site's routes and a reverse-path filter on all nodes."""
    ways = Ways(site)
    pairs = ((one, other) for one in nodes for other in nodes if one != other)
    return sorted(f"{one} > {other}" for one, other in pairs if not ways.reaches(one, other, rp_filter))


# Ways


def round_trip(site: Site, one: str, other: str) -> list[str]:
    """The nodes that a packet to another node's address and its answer leave and reach, in order."""
    there = path(site, one, site.known_by(other).address).hops
    back = path(site, other, site.known_by(one).address).hops
    return [one, *(hop.receiver.node for hop in (*there, *back))][:_ROOM]


def recorded(stage: Stage, one: str, other: str) -> list[str]:
    """The same, as each node on the way has written it into a packet (`ping -R`)."""
    owners = {str(leg.address): name for name, node in stage.site.nodes.items() for leg in node.interfaces.values()}
    source, target = (str(stage.site.known_by(node).address) for node in (one, other))
    printed = stage.lab.on(one, "ping", "-n", "-R", "-c", "1", "-W", "2", "-I", source, target).must()
    found = [owners[word] for word in printed.split("RR:")[1].split("---")[0].split() if word in owners]
    found.remove(other)  # it stands there twice: as what was asked, and as who answers
    return found


def next_hop(stage: Stage, node: str, to: IPv4Address) -> str:
    """To whom a node sends what is for an address (`ip route get`): a gateway, or whom it is for."""
    (route,) = json.loads(run(stage.lab.plug(node, ["ip", "-j", "route", "get", str(to)])).must())
    return str(route.get("gateway", to))


def own_addresses(stage: Stage, node: str) -> list[str]:
    """What a node's adapters have of IPv4 addresses, the loopback's aside."""
    shown = json.loads(run(stage.lab.plug(node, ["ip", "-j", "-4", "addr", "show", "scope", "global"])).must())
    return [about["local"] for adapter in shown for about in adapter.get("addr_info", [])]


def pings(stage: Stage, node: str, other: IPv4Address | str) -> bool:
    """Whether another node answers a ping, by its address or its name."""
    return stage.lab.on(node, "ping", "-c", "1", "-W", "1", str(other)).rc == 0


def sent_on_by(site: Site, source: str, to: IPv4Address) -> tuple[str, list[str]]:
    """The first gateway on the way from a node to an address, and its devices that may send it on."""
    gateway = path(site, source, to).hops[1]
    return gateway.sender.node, [cable.sender.device for cable in gateway.segments[0].cables]


@contextmanager
def counting(stage: Stage, node: str, devices: Sequence[str]) -> Iterator[Callable[[], int]]:
    """Gives what tells how many bytes a node's devices have sent since."""
    before = sent_bytes(stage.lab, node, devices)
    yield lambda: sum(difference(before, sent_bytes(stage.lab, node, devices)).values())


def rerouted(stage: Stage, site: Site, title: str) -> Change:
    """Static routes lead by other gateways: as in a site that differs from this one in nothing else."""
    changes = []
    for node, about in stage.site.nodes.items():
        for old, new in zip(about.routes, site.nodes[node].routes, strict=True):
            if old != new:
                changes.append(route_wrong(stage.lab, node, stage.site.shown_destination(new), str(new.via[0])))
    return together(title, changes)


def route_too(node: str, to: str, via: IPv4Address) -> Change:
    """A node has a route that the site does not give it."""
    there, back = ("replace", to, "via", str(via)), ("flush", "exact", to)
    steps = (Step(node, ("ip", "route", *words), plugged=True) for words in (there, back))
    return Change(f"{node} has a route to {to} via {via}", (next(steps),), (next(steps),))


# Filters


def computed_dropping(
    site: Site, sender: str, source: IPv4Address, receiver: str, target: IPv4Address, rp_filter: int
) -> str:
    """Whose reverse-path filter drops a packet to an address of a receiver, or else its answer; "" where nobody's."""
    ways = Ways(site)
    if there := ways.filtered_by(sender, source, target, rp_filter):
        return there
    try:
        return ways.filtered_by(receiver, target, source, rp_filter)
    except Unreachable:
        return ""


def dropping(stage: Stage, nodes: Sequence[str], sender: str, source: IPv4Address, target: IPv4Address) -> str:
    """Whose reverse-path filters drop all of the packets that are sent now; "" where nobody's does."""

    def dropped() -> dict[str, int]:
        return {node: kernel_counters(stage.lab, node)["TcpExtIPReversePathFilter"] for node in nodes}

    before = dropped()
    stage.lab.on(sender, "ping", "-c", str(_PACKETS), "-i", "0.2", "-W", "1", "-I", str(source), str(target))
    # fewer are something else's that the site sends by itself
    return ", ".join(node for node, n in difference(before, dropped()).items() if n >= _PACKETS)
