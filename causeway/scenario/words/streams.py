"""Streams, for scenarios: drawn from the run's seed, measured, and put beside what was computed."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil

from causeway.errors import Unsupported
from causeway.lab.probes import nuttcp
from causeway.lab.probes.counters import difference, sent_bytes
from causeway.lab.probes.nuttcp import Measured, Stream
from causeway.lab.probes.switching import forwarded
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import ChannelEnd
from causeway.plan.fairshare import counted_bytes, tcp_goodput_mbit
from causeway.plan.paths import Ways, path
from causeway.plan.streams import Expected, StreamEnds, expect
from causeway.report.result import Bar, Bars, Table, Text
from causeway.scenario.cast import Channel
from causeway.scenario.stage import Stage
from causeway.wait import until

#: Below those that a kernel hands out (ip_local_port_range), so that no stream meets a port that an ssh has left in
#: TIME_WAIT; and without those of NFS's mountd and of glusterd. Two streams never share an even-odd pair of ports:
#: nuttcp takes one for control, one for data.
SOURCE_PORTS = [port for port in range(6000, 32766, 2) if port not in (20048, 24006, 24008)]
DATA_PORT = 5011
#: How often ports are drawn until they fall as wanted: even the rarest split that scenarios ask for (eight streams,
#: two on each of four members) comes up once in 26 draws.
_DRAWS = 400
#: Seconds on the lab's clock that streams transmit, where their wires are fast enough for that.
SECONDS = 4.0
#: nuttcp tells what it carried in steps of 64 KiB, in Mbit; one too many or too few must be no more than half of what a
#: rate may be off by.
_STEP_MBIT = 64 * 2**10 * 8 / 1e6
#: Seconds between two looks at a switch's flows, and what a stream must have carried in that time for them to tell its
#: member, in bytes: more than any control traffic.
_LOOK_S, _TELLING = 0.5, 300_000
RATE_TOLERANCE = 0.01
RATE_WHY = "start and end of streams are not at the very same moment, and TCP probes for its share"
#: A lone stream on a shaped link has nothing to lose.
ALONE_TOLERANCE = 0.001
ALONE_WHY = "the wire's own rate"


@dataclass(frozen=True)
class Outcome:
    """One measurement over a channel: what was expected of the streams, and what they and the members did."""

    channel: ChannelEnd
    expected: Expected
    measured: dict[str, Measured]
    observed: dict[str, str]  # stream -> this channel end's member, as the switch saw it
    sent: dict[str, int]  # member -> bytes
    seconds: float

    def per_member(self, member_of: Mapping[str, str]) -> str:
        """Streams on each member, in the members' order: "2 1 4 1"."""
        counts = Counter(member_of.values())
        return " ".join(str(counts[device]) for device in self.channel.members)

    @property
    def computed(self) -> dict[str, str]:
        """stream -> member of this end, as the hash policy says."""
        return {label: self.expected.member(label, self.channel.node) for label in self.measured}

    @property
    def rates(self) -> dict[str, float]:
        """stream -> Mbit/s of TCP payload."""
        return rates_of(self.measured.values())


@dataclass(frozen=True)
class Lone:
    """A stream that ran alone: Mbit/s of TCP payload that its way lets through, whose that bound is, and measured."""

    due_mbit: float
    bound: str
    rate_mbit: float
    measured: Measured


def draw(
    stage: Stage,
    channel: Channel,
    peers: Sequence[str],
    direction: str,
    accept: Callable[[list[int]], bool] = lambda _: True,
    to: str = "",
) -> list[Stream]:
    """One stream from (or, direction r, to) a channel's host for each peer; a peer may come more than once.

    `to` says by whose address the peers are meant: theirs in that network (default: the channel's). Source ports
    come at random from the run's seed, until the computed number of streams on each member is one that accept
    takes; Unsupported when no draw is.
    """
    several = len(set(peers)) < len(peers)
    for _ in range(_DRAWS):
        ports = stage.random.sample(SOURCE_PORTS, len(peers))
        streams = [
            Stream(
                client=channel.node,
                server=peer,
                address=stage.site.address(peer, to or channel.network),
                label=f"{channel.node}:{direction}:{peer.lower()}" + (f"-{i}" if several else ""),
                direction=direction,
                source_port=port,
                data_port=DATA_PORT + 2 * i,
            )
            for i, (peer, port) in enumerate(zip(peers, ports, strict=True))
        ]
        if direction == "r":
            return streams
        planned = expect(stage.site, [_planned(stage, channel, s) for s in streams])
        counts = Counter(planned.member(s.label, channel.node) for s in streams)
        if accept([counts[device] for device in channel.members]):
            return streams
    what = f"{len(peers)} streams do not fall on {channel.node}'s {len(channel.members)} members as this takes it"
    raise Unsupported(f"{what}: {_DRAWS} draws of source ports were in vain (it sends by {channel.host.hash_policy})")


def draw_onto(stage: Stage, channel: Channel, peers: Sequence[str], places: Sequence[int]) -> list[Stream]:
    """One stream from a channel's host to each peer, by that member of the channel for each whose place is given.

    Source ports come at random from the run's seed, until each falls there; Unsupported when none of many does.
    """
    streams: list[Stream] = []
    drawn = iter(stage.random.sample(SOURCE_PORTS, _DRAWS))
    for i, (peer, place) in enumerate(zip(peers, places, strict=True)):
        address, wanted = stage.site.address(peer, channel.network), channel.members[place]
        for port in drawn:
            label = f"{channel.node}:t:{peer.lower()}"
            stream = Stream(channel.node, peer, address, label, "t", port, DATA_PORT + 2 * i)
            if expect(stage.site, [_planned(stage, channel, stream)]).member(label, channel.node) == wanted:
                streams.append(stream)
                break
        else:
            what = f"a stream from {channel.node} to {peer} does not leave by {wanted}"
            raise Unsupported(f"{what}: {_DRAWS} source ports were in vain (it sends by {channel.host.hash_policy})")
    return streams


def one_port(
    stage: Stage, channel: Channel, peers: Sequence[str], port: int, direction: str, policy: str
) -> list[Stream]:
    """One stream from a channel's host to each peer, where one side's port is always the same.

    direction "s": the host's, whose daemon serves them all; "t": the peers', to whose daemons the host sends. The other
    ports come at random from the run's seed, until by a policy the host would send by several members; Unsupported when
    no draw is such.
    """
    for _ in range(_DRAWS):
        drawn = stage.untaken(SOURCE_PORTS, len(peers))
        streams = []
        for peer, other in zip(peers, drawn, strict=True):
            label = f"{channel.node}:{direction}:{peer.lower()}"
            if direction == "s":
                address = stage.site.address(channel.node, channel.network)
                streams.append(Stream(peer, channel.node, address, label, "s", port, other))
            else:
                address = stage.site.address(peer, channel.network)
                streams.append(Stream(channel.node, peer, address, label, "t", other, port))
        planned = expect(stage.site, [_planned(stage, channel, s) for s in streams], policies={channel.node: policy})
        if len({planned.member(s.label, channel.node) for s in streams}) > 1:
            return streams
    raise Unsupported(f"{len(peers)} streams fall on one member of {channel.node}'s in {_DRAWS} draws, by {policy}")


def _planned(stage: Stage, channel: Channel, stream: Stream) -> StreamEnds:
    source = stage.site.nodes[channel.node].interfaces[channel.host.name].address
    serves = stream.server == channel.node
    target = stage.site.address(stream.client, channel.network) if serves else stream.address
    return StreamEnds(stream.label, channel.node, (source, stream.source_port), (target, stream.data_port))


def one_stream(stage: Stage, sender: str, receiver: str, to: str = "", seconds: float | None = None) -> Lone:
    """A stream alone from one node to another, by its address in a network (default: the one daemons know it by)."""
    (stream,) = coupled(stage, [(sender, receiver)], to)
    expected, (measured,) = together(stage, [stream], seconds)
    bound = expected.bounding_node(stream.label) or ALONE_WHY
    return Lone(expected.rates[stream.label], bound, measured.rate_mbit, measured)


def coupled(stage: Stage, couples: Sequence[tuple[str, str]], to: str = "") -> list[Stream]:
    """A stream from the first to the second of each couple; `to` as of one_stream."""
    return towards(stage, [(sender, receiver, to) for sender, receiver in couples])


def towards(stage: Stage, triples: Sequence[tuple[str, str, str]]) -> list[Stream]:
    """A stream from the first to the second of each, by the second's address in a network ("": as of one_stream)."""
    ports, several = stage.random.sample(SOURCE_PORTS, len(triples)), len({to for *_, to in triples}) > 1
    streams = []
    for i, ((sender, receiver, to), port) in enumerate(zip(triples, ports, strict=True)):
        address = stage.site.address(receiver, to) if to else stage.site.known_by(receiver).address
        label = f"{sender}:t:{receiver.lower()}" + (f"-{to}" if several else "")
        streams.append(Stream(sender, receiver, address, label, "t", port, DATA_PORT + 2 * i))
    return streams


def computable(site: Site, couples: Sequence[tuple[str, str]]) -> bool:
    """Whether it is known what streams get: not where two share a switch's end whose hash is its own secret."""
    ports = iter(SOURCE_PORTS)
    ends = [
        StreamEnds(f"{a}:{b}", a, (site.known_by(a).address, next(ports)), (site.known_by(b).address, DATA_PORT))
        for a, b in couples
    ]
    try:
        expect(site, ends)
    except KeyError:
        return False
    return True


def lasting(site: Site, streams: Sequence[Stream]) -> float:
    """How long streams must transmit for their rates to be told well enough, in seconds on the lab's clock.

    That is so even if all of them share the slowest wire that one of them passes.
    """
    ways = Ways(site)
    hops = (hop for stream in streams for hop in ways.path(stream.client, stream.address).hops)
    slowest_mbit = min(site.sends_mbit(cable.sender) for hop in hops for part in hop.segments for cable in part.cables)
    within = ALONE_TOLERANCE if len(streams) == 1 else RATE_TOLERANCE
    return max(SECONDS, nuttcp.SETTLE_S + ceil(2 * _STEP_MBIT * len(streams) / slowest_mbit / within))


@contextmanager
def transmitting(stage: Stage, streams: Sequence[Stream], seconds: float | None = None) -> Iterator[nuttcp.Running]:
    """Have streams transmit meanwhile, each to a nuttcp server; nothing of it is left afterwards.

    They do so for as long as it takes to tell their rates, where nobody says otherwise.
    """
    receivers = list(dict.fromkeys(s.server for s in streams))
    seconds = seconds or lasting(stage.site, streams)
    with nuttcp.servers(stage.lab, receivers), nuttcp.running(stage.lab, streams, seconds) as running:
        yield running


def together(stage: Stage, streams: Sequence[Stream], seconds: float | None = None) -> tuple[Expected, list[Measured]]:
    """Streams that transmit at the same time, for so long as transmitting says: what is expected, and what they did."""
    with transmitting(stage, streams, seconds) as running:
        measured = running.results()
    ends = [StreamEnds(m.stream.label, m.stream.sender, m.source, m.destination) for m in measured]
    try:
        return expect(stage.site, ends), measured
    except KeyError as end:
        raise Unsupported(f"nobody computes by which member a stream leaves that shares its channel: {end}") from None


def rates_of(measured: Iterable[Measured]) -> dict[str, float]:
    """stream -> Mbit/s of TCP payload."""
    return {m.stream.label: m.rate_mbit for m in measured}


def near_rate(stage: Stage, what: str, lone: Lone) -> None:
    """A lone stream beside the rate of its slowest wire, or of the node that is slower."""
    stage.near(what, round(lone.due_mbit, 3), lone.rate_mbit, "Mbit/s", within=ALONE_TOLERANCE, why=lone.bound)


def near_rates(stage: Stage, title: str, expected: Expected, rates: Mapping[str, float]) -> None:
    """Streams that ran together, each beside its computed share."""
    for label, rate in rates.items():
        due = round(expected.rates[label], 3)
        stage.near(f"{title}: {label}", due, rate, "Mbit/s", within=RATE_TOLERANCE, why=RATE_WHY)


def measure_streams(
    stage: Stage,
    channel: ChannelEnd,
    streams: Sequence[Stream],
    policies: Mapping[str, str] | None = None,
) -> Outcome:
    """Run streams and see which member of the channel's end each takes, and what the members send.

    The end is the one that sends them. policies: as plan.streams.expect takes them.
    """
    lab = stage.lab
    before = sent_bytes(lab, channel.node, channel.members)
    with transmitting(stage, streams) as running:
        observed = _members_seen(stage, channel, streams, within_s=running.seconds - nuttcp.SETTLE_S)
        measured = {m.stream.label: m for m in running.results()}
    sent = difference(before, sent_bytes(lab, channel.node, channel.members))
    ends = [StreamEnds(label, m.stream.sender, m.source, m.destination) for label, m in measured.items()]
    choices = {(label, channel.node): member for label, member in observed.items()}
    expected = expect(stage.site, ends, choices, policies)
    return Outcome(channel, expected, measured, observed, sent, running.seconds)


def _switch_first(stage: Stage, channel: ChannelEnd) -> tuple[ChannelEnd, ChannelEnd]:
    """Both ends of a channel, the switch's first."""
    other = next(b for _, a, b in stage.site.channel_ends() if a == channel)
    return (channel, other) if stage.site.nodes[channel.node].switch else (other, channel)


def _members_seen(stage: Stage, channel: ChannelEnd, streams: Sequence[Stream], within_s: float) -> dict[str, str]:
    """stream -> member of this end, from the switch's flows. Needs one stream a peer, else gives {}.

    A flow that has just been made, changed or forgotten counts otherwise than from 0 on, so that twice in a row the
    same member, and it alone, must have carried more.
    """
    site = stage.site
    mine, theirs = _switch_first(stage, channel)
    peers = {s.label: s.client if s.server == theirs.node else s.server for s in streams}
    if len(set(peers.values())) < len(streams):
        return {}
    own = dict(zip(mine.members, channel.members, strict=True))  # the switch's port -> this end's member
    plugged = [(p.node, q.device) for c in site.cables for p, q in (c.ends, c.ends[::-1]) if q.node == mine.node]
    pairs = {
        (label, member): [
            (port, device) if mine is channel else (device, port) for node, port in plugged if node == peer
        ]
        for label, peer in peers.items()
        for device, member in own.items()
    }
    before, last, seen = forwarded(stage.lab, mine.node), dict[str, str](), dict[str, str]()

    def missing() -> str:
        nonlocal before, last
        now = forwarded(stage.lab, mine.node)
        found = carriers(now - before, pairs)
        seen.update(found.items() & last.items())
        before, last = now, found
        return ", ".join(label for label in peers if label not in seen)

    what = f"{mine.node} has a flow for every stream of {theirs.node}"
    until(what, missing, deadline_s=within_s, poll_s=_LOOK_S)
    return seen


def carriers(
    more: Mapping[tuple[str, str], int], pairs: Mapping[tuple[str, str], Iterable[tuple[str, str]]]
) -> dict[str, str]:
    """stream -> the member that alone has carried enough between two looks; without those that none or several have.

    more: bytes by a switch's ports in and out; pairs: for each stream and member the ports that the stream would take.
    """
    found: dict[str, list[str]] = {}
    for (label, member), ports in pairs.items():
        if sum(more.get(pair, 0) for pair in ports) > _TELLING:
            found.setdefault(label, []).append(member)
    return {label: members[0] for label, members in found.items() if len(members) == 1}


def come_elsewhere(stage: Stage, written: Outcome, members: Mapping[str, str], server: ChannelEnd) -> int:
    """How many streams that a switch sends to a server by these members (stream -> the switch's) come by another
    cable than the one by which the server, with its own policy, would send on the same connection."""
    back = {label: StreamEnds(label, server.node, m.destination, m.source) for label, m in written.measured.items()}
    cables = dict(zip(written.channel.members, server.members, strict=True))
    return sum(
        expect(stage.site, [ends]).member(label, server.node) != cables[members[label]] for label, ends in back.items()
    )


def arrows(stage: Stage, network: str, ways: Mapping[str, tuple[str, str]]) -> Table:
    """For each way (name -> (from, to)) in a network, which channel ends decide, in order of passing."""
    rows = []
    for name, (source, target) in ways.items():
        hops = path(stage.site, source, stage.site.address(target, network)).hops
        ends = [s.decided_by for hop in hops for s in hop.segments if s.decided_by is not None]
        rows.append([name, f"{source} > {target}", " and ".join(f"{e.node}:{e.name} ({e.hash_policy})" for e in ends)])
    return Table("Which end decides (Redpaper, Figure 3)", ["way", "data goes", "decided by"], rows)


def link_mbit(stage: Stage, channel: Channel, members: int = 1) -> float:
    """What so many of a channel's members carry of TCP payload, in Mbit/s, at the MTU of its network."""
    port = channel.port(channel.members[0])
    return members * tcp_goodput_mbit(stage.site.sends_mbit(port), stage.site.mtu(port))


def judge_streams(stage: Stage, title: str, outcome: Outcome) -> None:
    """Put every stream's rate and every member's bytes beside what was computed, and show them."""
    for label, rate in outcome.rates.items():
        what = f"{title}: rate of {label}"
        stage.near(what, round(outcome.expected.rates[label], 3), rate, "Mbit/s", within=RATE_TOLERANCE, why=RATE_WHY)
    _judge_bytes(stage, title, outcome)


def judge_members(stage: Stage, title: str, outcome: Outcome) -> None:
    """Put what each member carries of all its streams beside what was computed, and show them.

    How they share a member is not judged: of many on one link two may meet in one of its port's 4096 queues.
    """
    for device, labels in _labels_on(outcome).items():
        if labels:
            due, rate = (sum(of[label] for label in labels) for of in (outcome.expected.rates, outcome.rates))
            what = f"{title}: rate of all by {device}"
            stage.near(what, round(due, 3), rate, "Mbit/s", within=RATE_TOLERANCE, why=RATE_WHY)
    _judge_bytes(stage, title, outcome)


def _labels_on(outcome: Outcome) -> dict[str, list[str]]:
    """The streams that each member is computed to send."""
    on: dict[str, list[str]] = {device: [] for device in outcome.channel.members}
    for label, device in outcome.computed.items():
        on[device].append(label)
    return on


def _judge_bytes(stage: Stage, title: str, outcome: Outcome) -> None:
    expected, channel, on = outcome.expected, outcome.channel, _labels_on(outcome)
    payload = {label: round(m.megabytes * 2**20) for label, m in outcome.measured.items()}
    total = sum(outcome.sent.values())
    bars = []
    for device, labels in on.items():
        due = sum(counted_bytes(payload[label], expected.mtus[label]) for label in labels)
        sent = outcome.sent[device]
        if labels:
            why = "the counter has acknowledgements and LACP, too"
            stage.near(f"{title}: bytes sent through {device}", due, sent, "bytes", within=0.01, why=why)
        else:
            share = round(100 * sent / total)
            stage.same(f"{title}: idle {device}, per cent of the bytes", 0, share)
        bars.append(Bar(f"{device}: {', '.join(labels) or '-'}", due / 1e6, sent / 1e6))
    fastest = max(stage.site.sends_mbit(Port(channel.node, device)) for device in channel.members)
    capacity = fastest / 8 * outcome.seconds  # MB that a member carries
    stage.show(Bars(f"{title}: sent by {channel.node} through {channel.name}", "MB", capacity, bars))
    stage.show(_table(title, outcome))
    lines = sorted(m.line for m in outcome.measured.values())
    stage.show(Text(f"{title}: as nuttcp prints it", "\n".join(lines)))


def _table(title: str, outcome: Outcome) -> Table:
    rows = []
    for label, m in outcome.measured.items():
        rate = outcome.expected.rates[label]
        seen = outcome.observed.get(label, "")
        ports = f"{m.source[1]} > {m.destination[1]}"
        off = f"{100 * (m.rate_mbit / rate - 1):+.2f} %"
        bound = outcome.expected.bounds[label]
        rows.append([label, ports, outcome.computed[label], seen, f"{rate:.2f}", f"{m.rate_mbit:.2f}", off, bound])
    columns = [
        "stream",
        "ports",
        "member computed",
        "member seen",
        "expected Mbit/s",
        "measured Mbit/s",
        "off by",
        "gets no more of",
    ]
    return Table(f"{title}: every stream", columns, rows)
