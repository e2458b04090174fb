"""What a site's sheet promises, kind by kind, and whether a lab keeps it: for who is not to be told where to look."""

import json
from collections.abc import Callable, Iterator

from causeway.errors import LabBroken
from causeway.lab.probes.channels import read_channel
from causeway.lab.probes.connections import listens
from causeway.lab.probes.names import resolved
from causeway.lab.probes.reach import SSH_PORT
from causeway.lab.probes.timekeeping import parse_offset
from causeway.lessons.desk import Desk
from causeway.model.thing import Port
from causeway.process import run, run_all
from causeway.scenario.words.logins import IN, login
from causeway.scenario.words.routes import computed_cut, cut

#: By how much a clock may be off, in seconds.
_CLOCK_S = 0.05
_PING = 28


def kept(desk: Desk, colleagues: list[str]) -> dict[str, bool]:
    """Kind of promise -> whether all of that kind is as the site has it; `colleagues` are whom root logs in between."""
    return {kind: _held(lacking) for kind, lacking in _kinds(desk, colleagues).items()}


def whole(desk: Desk, colleagues: list[str]) -> bool:
    """Whether all is as the site has it; looks no further than the first kind that is not."""
    return all(map(_held, _kinds(desk, colleagues).values()))


def number(desk: Desk, colleagues: list[str]) -> int:
    """How many kinds of promises there are."""
    return len(_kinds(desk, colleagues))


def clocks(desk: Desk) -> bool:
    """Whether every node is given the time, and is near it; costs next to nothing."""
    return not any(_time(desk))


def _held(lacking: Callable[[], Iterator[str]]) -> bool:
    try:
        return not any(lacking())
    except LabBroken:  # who does not answer keeps nothing
        return False


def _kinds(desk: Desk, colleagues: list[str]) -> dict[str, Callable[[], Iterator[str]]]:
    """What is not as it should be, of each kind, as far as it was looked at."""
    return {
        "connections": lambda: iter(
            sorted(set(cut(desk, desk.site.hosts())) - set(computed_cut(desk.site, desk.site.hosts())))
        ),
        "routes": lambda: _routes(desk),
        "names": lambda: _names(desk),
        "time": lambda: _time(desk),
        "logins": lambda: _logins(desk, colleagues),
        "sizes": lambda: _sizes(desk),
        "channels": lambda: _channels(desk),
    }


def _routes(desk: Desk) -> Iterator[str]:
    """Nodes whose static routes are not those of the site."""
    for name in desk.site.hosts():
        shown = json.loads(run(desk.lab.plug(name, ["ip", "-j", "-4", "route"])).must())
        has = {(row["dst"], row["gateway"]) for row in shown if "gateway" in row}
        for route in desk.site.nodes[name].routes:
            if len(route.via) == 1 and (desk.site.shown_destination(route), str(route.via[0])) not in has:
                yield name


def _names(desk: Desk) -> Iterator[str]:
    """Names that a name server does not have with their addresses."""
    site = desk.site
    legs = [leg for node in site.nodes.values() for leg in node.interfaces.values()]
    wanted = [(f"{name}.{site.topology.domain}.", leg.address) for leg in legs for name in leg.names]
    for server in site.all_name_servers():
        has = resolved(desk.lab, server, [name for name, _ in wanted])
        yield from (name for name, address in wanted if address not in has[name])


def _time(desk: Desk) -> Iterator[str]:
    """Nodes that nobody gives the time, or that are off."""
    nodes = [name for name in desk.site.hosts() if desk.site.time_server(name)]
    asked = run_all([desk.lab.enter(node, ["chronyc", "-n", "-c", "sources"]) for node in nodes], timeout_s=60)
    for node, said in zip(nodes, asked, strict=True):
        off_s = parse_offset(said.stdout)
        if off_s is None or abs(off_s) >= _CLOCK_S:
            yield node


def _logins(desk: Desk, colleagues: list[str]) -> Iterator[str]:
    """Hosts at which no sshd listens, then pairs of which root of one does not get in at the other."""
    yield from (host for host in desk.site.hosts() if not listens(desk.lab, host, SSH_PORT))
    for one in colleagues:
        yield from (f"{one} > {other}" for other in colleagues if other != one and login(desk, one, other) != IN)


def _sizes(desk: Desk) -> Iterator[str]:
    """Hosts from which the largest packet of their network does not come back to the first host there."""
    site = desk.site
    for network in site.topology.networks:
        there = [h for h in site.hosts() if any(leg.network == network for leg in site.nodes[h].interfaces.values())]
        for one, other in ((there[0], other) for other in there[1:]):
            device = next(d for d, leg in site.nodes[one].interfaces.items() if leg.network == network)
            size = site.mtu(Port(one, device)) - _PING
            ping = ("ping", "-c", "1", "-W", "1", "-M", "do", "-s", str(size), str(site.address(other, network)))
            if desk.lab.on(one, *ping).rc:
                yield f"{one} > {other}"


def _channels(desk: Desk) -> Iterator[str]:
    """Ends of channels that do not send by all members, or by another policy."""
    for _, end, _ in desk.site.channel_ends():
        state = read_channel(desk.lab, end)
        if not state.negotiated or state.hash_policy != end.hash_policy:
            yield str(end.name)
