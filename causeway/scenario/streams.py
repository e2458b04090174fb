"""Streams over a channel, for scenarios: drawn, measured, and put beside what was computed."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.lab import nuttcp
from causeway.lab.counters import difference, sent_bytes
from causeway.lab.nuttcp import Measured, Stream
from causeway.lab.switching import forwarded
from causeway.lab.wait import until
from causeway.model.topology import ChannelEnd
from causeway.plan.fairshare import counted_bytes
from causeway.plan.paths import path
from causeway.plan.streams import Expected, StreamEnds, expect
from causeway.report.result import Bar, Bars, Table, Text
from causeway.scenario.stage import Stage

#: Below those that a kernel hands out (ip_local_port_range), so that no stream meets a port that an ssh has left in
#: TIME_WAIT; and without those of NFS's mountd and of glusterd. Two streams never share an even-odd pair of ports:
#: nuttcp takes one for control, one for data.
SOURCE_PORTS = [port for port in range(6000, 32766, 2) if port not in (20048, 24006, 24008)]
#: Seconds on the lab's clock that streams transmit: nuttcp tells what it carried in steps of 64 KiB, which
#: must be well below 0.1 % of the slowest stream's data.
SECONDS = 8.0
#: What a stream must carry for its flow to tell its member, in bytes: more than any control traffic.
_TELLING = 1_000_000
RATE_TOLERANCE = 0.01
RATE_WHY = "start and end of streams are not at the very same moment, and TCP probes for its share"


@dataclass(frozen=True)
class Outcome:
    """One measurement: what was expected of the streams, and what they and the members did."""

    channel: ChannelEnd
    expected: Expected
    measured: dict[str, Measured]
    observed: dict[str, str]  # stream -> this channel end's member, as the switch saw it
    sent: dict[str, int]  # member -> bytes

    def per_member(self, member_of: Mapping[str, str]) -> str:
        """Streams on each member, in the members' order: "2 1 4 1"."""
        counts = Counter(member_of.values())
        return " ".join(str(counts[device]) for device in self.channel.members)

    @property
    def computed(self) -> dict[str, str]:
        """stream -> member of this end, as the hash policy says."""
        return {label: self.expected.member(label, self.channel.node) for label in self.measured}


def end_of(stage: Stage, node: str, peer: str) -> ChannelEnd:
    """A node's end of its channel to a peer."""
    return next(a for _, a, b in stage.site.channel_ends() if a.node == node and b.node == peer)


def address(stage: Stage, node: str, network: str) -> IPv4Address:
    """A node's address in a network."""
    legs = stage.site.nodes[node].interfaces.values()
    return next(leg.address for leg in legs if leg.network == network)


def draw(
    stage: Stage,
    channel: ChannelEnd,
    targets: Sequence[tuple[str, str]],
    direction: str,
    accept: Callable[[list[int]], bool] = lambda _: True,
) -> list[Stream]:
    """One stream from (or, direction r, to) the channel's node for each (node, network) of targets.

    Source ports come at random from the run's seed, until the computed number of streams on each member
    is one that accept takes.
    """
    several = len(set(targets)) < len(targets)
    while True:
        ports = stage.random.sample(SOURCE_PORTS, len(targets))
        streams = [
            Stream(
                client=channel.node,
                server=node,
                address=address(stage, node, network),
                label=f"{channel.node}:{direction}:{node.lower()}" + (f"-{i}" if several else ""),
                direction=direction,
                source_port=port,
                data_port=5011 + 2 * i,
            )
            for i, ((node, network), port) in enumerate(zip(targets, ports, strict=True))
        ]
        if direction == "r":
            return streams
        planned = expect(stage.site, [_planned(stage, channel, s) for s in streams])
        counts = Counter(planned.member(s.label, channel.node) for s in streams)
        if accept([counts[device] for device in channel.members]):
            return streams


def _planned(stage: Stage, channel: ChannelEnd, stream: Stream) -> StreamEnds:
    source = stage.site.nodes[channel.node].interfaces[channel.name].address
    return StreamEnds(stream.label, channel.node, (source, stream.source_port), (stream.address, stream.data_port))


def measure(
    stage: Stage,
    channel: ChannelEnd,
    streams: Sequence[Stream],
    policies: Mapping[str, str] | None = None,
) -> Outcome:
    """Run streams and see which member of the channel's end each takes, and what the members send."""
    lab = stage.lab
    before = sent_bytes(lab, channel.node, channel.members)
    flows = forwarded(lab, _switch_first(stage, channel)[0].node)
    with (
        nuttcp.servers(lab, list(dict.fromkeys(s.server for s in streams))),
        nuttcp.running(lab, streams, SECONDS) as transmitting,
    ):
        observed = _members_seen(stage, channel, streams, flows)
        measured = {m.stream.label: m for m in transmitting.results()}
    sent = difference(before, sent_bytes(lab, channel.node, channel.members))
    ends = [StreamEnds(label, m.stream.sender, m.source, m.destination) for label, m in measured.items()]
    choices = {(label, channel.node): member for label, member in observed.items()}
    expected = expect(stage.site, ends, choices, policies)
    return Outcome(channel, expected, measured, observed, sent)


def _switch_first(stage: Stage, channel: ChannelEnd) -> tuple[ChannelEnd, ChannelEnd]:
    """Both ends of a channel, the switch's first."""
    other = next(b for _, a, b in stage.site.channel_ends() if a == channel)
    return (channel, other) if stage.site.nodes[channel.node].switch else (other, channel)


def _members_seen(
    stage: Stage, channel: ChannelEnd, streams: Sequence[Stream], earlier: Mapping[tuple[str, str], int]
) -> dict[str, str]:
    """stream -> member of this end, from the switch's flows. Needs one stream a peer, else gives {}."""
    site = stage.site
    peers = {s.label: s.server for s in streams}
    if len(set(peers.values())) < len(streams):
        return {}
    mine, theirs = _switch_first(stage, channel)
    own = dict(zip(mine.members, channel.members, strict=True))  # the switch's port -> this end's member
    plugged = [(p.node, q.device) for c in site.cables for p, q in (c.ends, c.ends[::-1]) if q.node == mine.node]
    seen: dict[str, str] = {}

    def missing() -> str:
        flows = forwarded(stage.lab, mine.node)
        for label, peer in peers.items():
            for port in (device for node, device in plugged if node == peer):
                for device, member in own.items():
                    pair = (port, device) if mine is channel else (device, port)
                    before = earlier.get(pair, 0)
                    # a flow that was idle for 10 s is gone from the datapath, and counts from 0 again
                    if flows[pair] - (before if flows[pair] >= before else 0) > _TELLING:
                        seen[label] = member
        return ", ".join(label for label in peers if label not in seen)

    until(f"{mine.node} has a flow for every stream of {theirs.node}", missing, deadline_s=SECONDS / 2, poll_s=0.5)
    return seen


def set_policy(stage: Stage, end: ChannelEnd, policy: str) -> Callable[[], object]:
    """Have a Linux end send by another policy; returns the undo."""
    argv = ("ip", "link", "set", end.name, "type", "bond", "xmit_hash_policy")
    stage.lab.on(end.node, *argv, policy).must()
    return lambda: stage.lab.on(end.node, *argv, end.hash_policy).must()


def own_choices(stage: Stage, written: Outcome, server: ChannelEnd) -> int:
    """How many streams that a switch sent to a server came by another cable than the one by which the
    server, with its own policy, would have sent on the same connection."""
    back = {label: StreamEnds(label, server.node, m.destination, m.source) for label, m in written.measured.items()}
    members = dict(zip(written.channel.members, server.members, strict=True))
    return sum(
        expect(stage.site, [ends]).member(label, server.node) != members[written.observed[label]]
        for label, ends in back.items()
    )


def arrows(stage: Stage, ways: Mapping[str, tuple[str, str]]) -> Table:
    """For each way (name -> (from, to)) in network b, which channel ends decide, in order of passing."""
    rows = []
    for name, (source, target) in ways.items():
        hops = path(stage.site, source, address(stage, target, "b")).hops
        ends = [s.decided_by for hop in hops for s in hop.segments if s.decided_by is not None]
        rows.append([name, f"{source} > {target}", " and ".join(f"{e.node}:{e.name} ({e.hash_policy})" for e in ends)])
    return Table("Which end decides (Redpaper, Figure 3)", ["way", "data goes", "decided by"], rows)


def judge(stage: Stage, title: str, outcome: Outcome) -> None:
    """Put every stream's rate and every member's bytes beside what was computed, and show them."""
    expected, channel = outcome.expected, outcome.channel
    rates = {label: m.rate_mbit for label, m in outcome.measured.items()}
    for label, rate in rates.items():
        what = f"{title}: rate of {label}"
        stage.compare(what, round(expected.rates[label], 3), rate, "Mbit/s", RATE_TOLERANCE, RATE_WHY)
    on: dict[str, list[str]] = {device: [] for device in channel.members}
    for label, device in outcome.computed.items():
        on[device].append(label)
    payload = {label: round(m.megabytes * 2**20) for label, m in outcome.measured.items()}
    total = sum(outcome.sent.values())
    bars = []
    for device, labels in on.items():
        due = sum(counted_bytes(payload[label], expected.mtus[label]) for label in labels)
        sent = outcome.sent[device]
        if labels:
            why = "the counter has acknowledgements and LACP, too"
            stage.compare(f"{title}: bytes sent through {device}", due, sent, "bytes", 0.01, why)
        else:
            share = round(100 * sent / total)
            stage.compare(f"{title}: idle {device}, part of the bytes", 0, share, "%", 0)
        bars.append(Bar(f"{device}: {', '.join(labels) or '-'}", due / 1e6, sent / 1e6))
    capacity = 1000 / 8 * SECONDS  # MB that a link of 1000 Mbit/s carries
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
        rows.append([label, ports, outcome.computed[label], seen, f"{rate:.2f}", f"{m.rate_mbit:.2f}", off])
    columns = [
        "stream",
        "ports",
        "member computed",
        "member seen",
        "expected Mbit/s",
        "measured Mbit/s",
        "off by",
    ]
    return Table(f"{title}: every stream", columns, rows)
