"""Who can talk to whom in a site, by what, and with which packets: every node to every address, there and back."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address
from typing import Literal

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.bounds import bounds
from causeway.plan.delays import one_way_ms
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.paths import Ambiguous, Hop, Path, Unreachable, Ways
from causeway.rehearse.alike import alike
from causeway.rehearse.alone import needs_of
from causeway.render.site import tunables

#: A node and one of another's interfaces.
Pair = tuple[str, Port]
#: `stalls`: connections open, and large packets are lost in silence.
State = Literal["yes", "stalls", "no", "not predicted"]


@dataclass(frozen=True, slots=True)
class Talk:
    """Whether a node can talk to an address, and why not; in `why` {a} and {b} stand for the two.

    `there` and `back` are the nodes that are passed, `mtu` the size of TCP's full packets, `rate` what one stream gets
    alone (Mbit/s) with a window that is large enough, `bound` the node that sends or receives no more ("": the wire is
    what bounds), `round_trip_ms` how long its cables take, there and back, `needs` the nodes and cables without which
    the two cannot talk.
    """

    state: State
    why: str = ""
    there: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    mtu: int = 0
    rate: float = 0.0
    bound: str = ""
    round_trip_ms: float = 0.0
    needs: frozenset[str] = frozenset()

    @property
    def works(self) -> bool:
        return self.state == "yes"

    def told(self, one: str, other: str) -> str:
        """Whether they can, in words."""
        words = {"yes": "yes", "no": "no", "stalls": "large packets are lost", "not predicted": "not predicted"}
        return words[self.state] + (f": {self.why}" if self.why else "").replace("{a}", one).replace("{b}", other)


@dataclass(frozen=True, slots=True)
class _Leg:
    """A hop's nodes, what its cables let through (bytes, Mbit/s of wire), whose own bound that is ("": the wire's), how
    long they are, and what there is only one of."""

    passes: tuple[str, ...]
    mtu: int
    mbit: float
    bound: str
    delay_ms: float
    needs: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Way:
    """One way: its hops, or why there is none."""

    hops: tuple[Hop, ...] = ()
    why: str = ""
    state: State = "yes"


class Reach:
    """Every node of a site to every interface of every other."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.ways = Ways(site)
        self._known: dict[tuple[str, IPv4Address], _Way] = {}
        self._legs: dict[int, _Leg] = {}  # by the identity of a hop, which `ways` keeps
        self._sources: dict[tuple[str, IPv4Address], tuple[IPv4Address, int]] = {}

    @cached_property
    def talks(self) -> dict[Pair, Talk]:
        """Of nodes that are alike two stand for all."""
        found: dict[Pair, Talk] = {}
        groups = alike(self.site)
        for some in groups:
            for others in groups:
                others_first = next((name for name in others if name != some[0]), None)
                if others_first is None:
                    continue
                for device in self.site.nodes[others_first].interfaces:
                    talk = self.talk(some[0], Port(others_first, device))
                    ports = [Port(other, device) for other in others]
                    found.update({(one, port): talk for one in some for port in ports if port.node != one})
        return found

    def known(self, one: str, other: str) -> Talk:
        """A node with the interface of another that daemons know it by; LookupError where there is none."""
        for name in (one, other):
            if name not in self.site.nodes:
                raise LookupError(f"there is no {name}")
        about = self.site.nodes[other]
        leg = self.site.known_by(other)
        return self.talk(one, Port(other, next(device for device, own in about.interfaces.items() if own == leg)))

    def talk(self, one: str, other: Port) -> Talk:
        """A node with an interface of another."""
        target = self.site.nodes[other.node].interfaces[other.device].address
        there = self._way(one, target)
        if there.state != "yes":
            return Talk(there.state, _told(there.why, one, other.node, target))
        source, most = self._source(one, target)
        back = self._way(other.node, source)
        if back.state != "yes":
            return Talk(back.state, f"there, and not back: {_told(back.why, one, other.node, target, source)}")
        if dropping := self._filter(there, source) or self._filter(back, target):
            why = f"{dropping} drops what comes by another way than it would answer (rp_filter)"
            return Talk("no", _told(why, one, other.node, target))
        legs_there, legs_back = self._legs_of(there), self._legs_of(back)
        legs = [*legs_there, *legs_back]
        if not legs:
            return Talk("yes")
        mtu = min(most, self._source(other.node, source)[1], *self._routed(there), *self._routed(back))
        passes = [tuple(name for leg in some for name in leg.passes)[:-1] for some in (legs_there, legs_back)]
        smallest = min(leg.mtu for leg in legs)
        if smallest < mtu:
            why = f"packets of {mtu} are lost where the MTU is {smallest}, {self._tight(there, back, mtu)}"
            return Talk("stalls", _told(why, one, other.node, target), passes[0], passes[1], smallest)
        slowest = min(legs_there, key=lambda leg: leg.mbit)
        rate, bound = tcp_goodput_mbit(slowest.mbit, mtu), _told(slowest.bound, one, other.node, target)
        things = {_told(thing, one, other.node, target) for leg in legs for thing in leg.needs} - {"{a}", "{b}"}
        needs = frozenset(" - ".join(sorted(thing.split(" - "))) for thing in things)
        trip_ms = sum(leg.delay_ms for leg in legs)
        return Talk("yes", "", passes[0], passes[1], mtu, round(rate, 3), bound, trip_ms, needs)

    def routers(self, one: str, other: Port) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The nodes that pass packets of two on, there and back, as far as they get; switches do it unseen."""
        target = self.site.nodes[other.node].interfaces[other.device].address
        there = self._way(one, target)
        if there.state != "yes":
            return (), ()
        back = self._way(other.node, self._source(one, target)[0])
        ways = (tuple(hop.receiver.node for hop in way.hops[:-1]) for way in (there, back))
        return next(ways), next(ways)

    def by_member(self, one: str, other: Port) -> bool:
        """Whether members of a channel between two take packets of other sizes: then what gets through is luck."""
        target = self.site.nodes[other.node].interfaces[other.device].address
        there = self._way(one, target)
        if there.state != "yes":
            return False
        back = self._way(other.node, self._source(one, target)[0])
        segments = [segment for way in (there, back) for hop in way.hops for segment in hop.segments]
        sizes = ({min(map(self.site.mtu, (c.sender, c.receiver))) for c in segment.cables} for segment in segments)
        return any(len(mtus) > 1 for mtus in sizes)

    def _way(self, node: str, target: IPv4Address) -> _Way:
        key = node, target
        if key not in self._known:
            try:
                self._known[key] = _Way(self.ways.path(node, target).hops)
            except Unreachable as why:
                self._known[key] = _Way(why=str(why), state="no")
            except Ambiguous as why:
                self._known[key] = _Way(why=str(why), state="not predicted")
        return self._known[key]

    def _source(self, node: str, target: IPv4Address) -> tuple[IPv4Address, int]:
        """The address that a node's packets to another come from, and the largest that they are."""
        key = node, target
        if key not in self._sources:
            about = self.site.nodes[node]
            if any(leg.address == target for leg in about.interfaces.values()):
                return target, 65535
            leaving = self.ways.leaves(node, target)
            route, mtu = leaving.route, self.site.mtu(Port(node, leaving.device))
            own = about.interfaces[leaving.device].address
            self._sources[key] = (route.src or own, min(mtu, route.mtu or mtu)) if route else (own, mtu)
        return self._sources[key]

    def _routed(self, way: _Way) -> Iterator[int]:
        """The largest packets that routers pass on: they say so to who sends larger ones."""
        return (self.site.mtu(hop.sender) for hop in way.hops[1:])

    def _legs_of(self, way: _Way) -> list[_Leg]:
        return [self._leg(hop) for hop in way.hops]

    def _leg(self, hop: Hop) -> _Leg:
        if id(hop) not in self._legs:
            cables = [cable for segment in hop.segments for cable in segment.cables]
            ends = [end for cable in cables for end in (cable.sender, cable.receiver)]
            mtu = min((self.site.mtu(end) for end in ends), default=65535)
            limits = [(float(self.site.sends_mbit(cable.sender)), "") for cable in cables] or [(100_000.0, "")]
            limits += [(own.wire_mbit, str(own)) for cable in cables for own in bounds(self.site, cable.sender)]
            mbit, bound = min(limits, key=lambda limit: limit[0])
            passes = (*hop.switches, hop.receiver.node)
            self._legs[id(hop)] = _Leg(
                passes, mtu, mbit, bound, one_way_ms(self.site, Path((hop,))), needs_of(self.site, hop)
            )
        return self._legs[id(hop)]

    def _tight(self, there: _Way, back: _Way, mtu: int) -> str:
        """The first port on the way, or back, that packets of that size do not pass."""
        segments = [segment for way in (there, back) for hop in way.hops for segment in hop.segments]
        ends = [(c.sender, c.receiver) for segment in segments for c in segment.cables]
        port, far = next(pair for both in ends for pair in (both, both[::-1]) if self.site.mtu(pair[0]) < mtu)
        return f"at {port.node} towards {far.node}"

    def _filter(self, way: _Way, source: IPv4Address) -> str:
        """Who drops a packet because of its way: of the settings for all and for an interface the stronger counts."""
        for hop in way.hops:
            own = self._rp_filters.get(hop.receiver.node)
            if own:
                setting = max(own.get("all", 0), own.get(hop.receiver.device, 0))
                if setting and self.ways.filters(hop, source, setting):
                    return hop.receiver.node
        return ""

    @cached_property
    def _rp_filters(self) -> dict[str, dict[str, int]]:
        """node -> device or `all` -> its reverse-path filter. Source: Linux, networking/ip-sysctl.rst."""
        found: dict[str, dict[str, int]] = {}
        for name in self.site.nodes:
            for key, value in tunables(self.site, name).items():
                if key.startswith("net.ipv4.conf.") and key.endswith(".rp_filter"):
                    found.setdefault(name, {})[key.split(".")[3]] = int(value)
        return found


def _told(text: str, one: str, other: str, *addresses: IPv4Address) -> str:
    """A text with places for the two that it is about, so that those of many pairs are one.

    `addresses` are the other's, and then the one's.
    """
    places = {one: "{a}", other: "{b}"} | dict(zip(map(str, addresses), ("{b}", "{a}"), strict=False))
    words = (":".join(places.get(part, part) for part in word.split(":")) for word in text.split(" "))
    return " ".join(words)
