"""What patterns of streams get of a site, over many draws of ports: which member each takes is a throw of dice."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from math import sqrt
from random import Random
from statistics import fmean, stdev

from causeway.model.site import Site
from causeway.model.topology import ChannelEnd
from causeway.plan.files import Share, each_mb, share, spread
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.paths import Ambiguous, Unreachable
from causeway.plan.streams import StreamEnds, expect
from causeway.plan.turns import ring_ends
from causeway.rehearse.reach import Reach

#: Ports are drawn so often: the mean of eight streams over four links is then known to about 1 %.
DRAWS = 100
#: Clients of a filesystem that are at work together: what one server's channel has room for.
_CLIENTS = 8
#: As Linux gives them out (ip_local_port_range).
_PORTS = range(32768, 61000)
_SERVICE = 5001


@dataclass(frozen=True)
class Rates:
    """What a pattern gets in all, draw by draw, in `unit`; `members` are each member's streams on average.

    `why` says why nothing is predicted.
    """

    values: tuple[float, ...] = ()
    unit: str = "Mbit/s"
    members: Mapping[str, float] | None = None
    why: str = ""

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def worst_tenth(self) -> float:
        """What the worst tenth of all draws stays below, or is at."""
        return sorted(self.values)[(len(self.values) - 1) // 10]


#: Draws ports, and says what all streams get together, and how many take which member.
Play = Callable[[Reach, Random], tuple[float, Counter[str]]]


@dataclass(frozen=True)
class Pattern:
    """`count` streams or nodes at the same time, between some who must be able to talk; the same after a change.

    `through` is the channel's end that streams are about, and their other ends; they go `out` by it, or come in.
    """

    count: int
    what: str
    between: Sequence[tuple[str, str]]
    play: Play
    draws: int = DRAWS
    unit: str = "Mbit/s"
    through: tuple[ChannelEnd, Sequence[str]] | None = None
    out: bool = True

    @property
    def name(self) -> str:
        return f"{self.count} {self.what}"

    def rates(self, reach: Reach) -> Rates:
        """The same ports for every site. A pattern that a site cannot play has no values."""
        values, taken = [], Counter[str]()
        try:
            for one, other in self.between:
                if not (talk := reach.known(one, other)).works:
                    return Rates(unit=self.unit, why=f"{one} and {other}: {talk.told(one, other)}")
            for draw in range(self.draws):
                value, members = self.play(reach, Random(f"{self.name}, {draw}"))
                values.append(value)
                taken += members
        except (Unreachable, Ambiguous, LookupError, ValueError) as why:
            return Rates(unit=self.unit, why=str(why))
        shares = {member: round(count / self.draws, 2) for member, count in sorted(taken.items())}
        return Rates(tuple(values), self.unit, shares or None)


def patterns(reach: Reach) -> Iterator[Pattern]:
    """Each host's channel out and in, with twice as many streams as members; files; rings of fabrics."""
    site = reach.site
    for _, end, _ in site.channel_ends():
        if end.name in site.nodes[end.node].interfaces and (peers := _peers(reach, end)):
            partners = [peers[i % len(peers)] for i in range(2 * len(end.members))]
            between = [(end.node, peer) for peer in dict.fromkeys(partners)]
            for word, out in (("from", True), ("to", False)):
                what = f"streams {word} {end.node} by {end.name}"
                play = _streams(end, partners, out=out)
                yield Pattern(len(partners), what, between, play, through=(end, partners), out=out)
    yield from _files(site)
    for network in dict.fromkeys(node.switch for node in site.nodes.values() if node.forwarding == "static"):
        ring = [
            n for n, about in site.nodes.items() if any(leg.network == network for leg in about.interfaces.values())
        ]
        if network is not None and len(ring) > 2:
            what = f"nodes in {network}, a ring: each sends to both neighbours"
            yield Pattern(len(ring), what, [], _ring(network, ring), draws=1)


def _peers(reach: Reach, end: ChannelEnd) -> list[str]:
    """Who is sent to through a channel, and sends back by it, by the address that daemons know them by."""
    site, ways = reach.site, reach.ways
    own = site.nodes[end.node].interfaces[end.name].address
    found = []
    for name, node in site.nodes.items():
        if name == end.node or not node.interfaces or node.forwards:
            continue
        try:
            out = ways.path(end.node, _known(site, name)).hops
            back = ways.path(name, own).hops
        except (Unreachable, Ambiguous):
            continue
        if out and back and out[0].sender.device == end.name == back[-1].receiver.device:
            found.append(name)
    return found


def _known(site: Site, node: str) -> IPv4Address:
    return site.known_by(node).address


def _streams(end: ChannelEnd, peers: Sequence[str], *, out: bool) -> Play:
    def play(reach: Reach, dice: Random) -> tuple[float, Counter[str]]:
        site = reach.site
        own = site.nodes[end.node].interfaces[end.name].address
        drawn = dice.sample(_PORTS, len(peers))
        streams = []
        for number, (peer, port) in enumerate(zip(peers, drawn, strict=True)):
            here, there = (own, port), (_known(site, peer), _SERVICE + number)
            ends = (end.node, here, there) if out else (peer, there, here)
            streams.append(StreamEnds(f"{number} {peer}", *ends))
        expected = expect(site, streams, _choices(reach, streams, dice), ways=reach.ways)
        cables = (cable for taken in expected.cables.values() for cable in taken)
        own_ends = (cable.sender if out else cable.receiver for cable in cables)
        members = Counter(port.device for port in own_ends if port.node == end.node)
        return sum(expected.rates.values()), members

    return play


def _choices(reach: Reach, streams: Sequence[StreamEnds], dice: Random) -> dict[tuple[str, str], str]:
    """The members that switches take which hash with a key of their own: each as likely as the other."""
    if not any(end.hash_policy == "balance-tcp" for _, end, _ in reach.site.channel_ends()):
        return {}
    found: dict[tuple[str, str], str] = {}
    for stream in streams:
        for hop in reach.ways.path(stream.sender, stream.destination[0]).hops:
            for segment in hop.segments:
                if (end := segment.decided_by) is not None and end.hash_policy == "balance-tcp":
                    found[stream.label, end.node] = dice.choice(end.members)
    return found


def _files(site: Site) -> Iterator[Pattern]:
    seen = set()
    for cluster in site.topology.clusters:
        clients = [name for name in site.members(cluster) if site.comes_up(name)][:_CLIENTS]
        for name, filesystem in site.mounts(cluster).items():
            servers = site.servers(name)
            shape = cluster, filesystem.driver, tuple(servers), filesystem.layout, filesystem.parity, filesystem.disk
            outside = [client for client in clients if client not in servers]
            if shape in seen or not outside:
                continue
            seen.add(shape)
            between = [(client, server) for client in outside for server in servers]
            for direction in DIRECTIONS:
                what = f"nodes of {cluster} {direction} {filesystem.mount_point}"
                yield Pattern(len(outside), what, between, _work(name, outside, direction), DRAWS // 4, "MB/s")


def _work(filesystem: str, clients: Sequence[str], direction: Direction) -> Play:
    def play(reach: Reach, dice: Random) -> tuple[float, Counter[str]]:
        site = reach.site
        due, servers = spread(site, filesystem, direction), site.servers(filesystem)
        shares: dict[str, list[Share]] = {}
        for client in clients:
            ports = dice.sample(_PORTS, len(servers))
            for which in dice.sample(range(len(servers)), due.connections):
                daemon = _known(site, servers[which]), _SERVICE
                own = reach.ways.leaves(client, daemon[0]).device
                here = site.nodes[client].interfaces[own].address, ports[which]
                own_share = share(site, filesystem, (client, here), (servers[which], daemon), direction)
                shares.setdefault(client, []).append(own_share)
        streams = [each.ends for own in shares.values() for each in own]
        return sum(each_mb(site, shares, _choices(reach, streams, dice), reach.ways).values()), Counter()

    return play


def _ring(network: str, ring: Sequence[str]) -> Play:
    def play(reach: Reach, _: Random) -> tuple[float, Counter[str]]:
        return sum(expect(reach.site, ring_ends(reach.site, network, ring), ways=reach.ways).rates.values()), Counter()

    return play


def falls(before: Rates, after: Rates) -> bool:
    """Whether a pattern gets less: by more than 1 % of the mean, and by more than chance; or its worst tenth by 5 %."""
    if not before.values or not after.values:
        return bool(before.values)
    lost = [b - a for b, a in zip(before.values, after.values, strict=True)]
    error = stdev(lost) / sqrt(len(lost)) if len(lost) > 1 else 0.0
    worse = fmean(lost) > max(0.01 * before.mean, 3 * error)
    return worse or after.worst_tenth < 0.95 * before.worst_tenth


def moved(before: Rates, after: Rates) -> bool:
    """Whether a pattern gets another rate, by more than 1 %."""
    if not before.values or not after.values:
        return bool(before.values) != bool(after.values)
    pairs = ((before.mean, after.mean), (before.worst_tenth, after.worst_tenth))
    return any(abs(b - a) > 0.01 * b for b, a in pairs)
