"""A prediction's patterns of streams, played once with drawn ports beside what is computed for these."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from causeway.lab.lab import Lab
from causeway.lab.probes import nuttcp
from causeway.lab.probes.counters import difference, sent_bytes
from causeway.lab.probes.nuttcp import Measured, Stream
from causeway.model.site import Site
from causeway.model.topology import ChannelEnd
from causeway.plan.fairshare import counted_bytes
from causeway.plan.paths import Ways
from causeway.plan.streams import StreamEnds, expect
from causeway.rehearse.change import Change
from causeway.rehearse.rates import Pattern, Rates
from causeway.scenario.words.streams import DATA_PORT, RATE_TOLERANCE, SOURCE_PORTS, lasting

#: A port rests for so long after use (TIME_WAIT: 60 s, by a timer that may be an eighth late), in seconds.
REST_S = 70.0


@dataclass(frozen=True)
class Played:
    """A pattern's streams: Mbit/s in all, computed and measured; each member's part of the bytes, in per cent."""

    due_mbit: float
    mbit: float
    due_parts: Mapping[str, float]
    parts: Mapping[str, float]

    @property
    def as_computed(self) -> bool:
        """Whether the rate is within 1 %, and every member's part within one per cent of all."""
        near = abs(self.mbit - self.due_mbit) <= RATE_TOLERANCE * self.due_mbit
        return near and all(
            abs(self.parts[member] - due) <= 100 * RATE_TOLERANCE for member, due in self.due_parts.items()
        )


def playable(site: Site, pattern: Pattern) -> bool:
    """Whether its streams can be started, and what they get computed: not where a switch on their way hashes by a key
    of its own."""
    if pattern.through is None:
        return False
    end, peers = pattern.through
    if not startable(site, pattern):
        return False
    own, ways = site.nodes[end.node].interfaces[end.name].address, Ways(site)
    ends = ((end.node, site.known_by(peer).address) if pattern.out else (peer, own) for peer in dict.fromkeys(peers))
    hops = (hop for sender, target in ends for hop in ways.path(sender, target).hops)
    policies = {segment.decided_by.hash_policy for hop in hops for segment in hop.segments if segment.decided_by}
    return "balance-tcp" not in policies


def startable(site: Site, pattern: Pattern) -> bool:
    """Whether its streams can be started: all its nodes are up, and have disks."""
    if pattern.through is None:
        return False
    end, peers = pattern.through
    names = {end.node, *peers}
    return all(site.comes_up(name) for name in names) and not names & set(site.diskless())


def moves_most(change: Change, rates: Iterable[tuple[Pattern, Rates, Rates]]) -> Pattern | None:
    """Of the patterns that can be started before and after a change, the one whose mean it moves most."""
    found = [
        (abs(now.mean - was.mean) / was.mean, pattern)
        for pattern, was, now in rates
        if was.values and now.values and all(startable(site, pattern) for site in (change.before, change.after))
    ]
    return max(found, key=lambda each: each[0], default=(0.0, None))[1]


def play(lab: Lab, pattern: Pattern, seed: int) -> Played:
    """Start its streams, with the same ports for one seed, and measure them. LabBroken where one does not run."""
    sending = sending_end(lab.site, pattern)
    streams = drawn(lab.site, pattern, Random(f"{seed} {pattern.name}"))
    before = sent_bytes(lab, sending.node, sending.members)
    receivers = list(dict.fromkeys(stream.server for stream in streams))
    with nuttcp.servers(lab, receivers), nuttcp.running(lab, streams, lasting(lab.site, streams)) as running:
        measured = running.results()
    sent = difference(before, sent_bytes(lab, sending.node, sending.members))
    return beside(lab.site, sending, measured, sent)


def beside(site: Site, sending: ChannelEnd, measured: Sequence[Measured], sent: Mapping[str, int]) -> Played:
    """What streams did beside what is computed for the ports that they had."""
    ends = [StreamEnds(m.stream.label, m.stream.sender, m.source, m.destination) for m in measured]
    expected = expect(site, ends)
    due = dict.fromkeys(sending.members, 0.0)
    for m in measured:
        payload = round(m.megabytes * 2**20)
        label = m.stream.label
        due[expected.member(label, sending.node)] += counted_bytes(payload, expected.mtus[label])
    return Played(sum(expected.rates.values()), sum(m.rate_mbit for m in measured), per_cent(due), per_cent(sent))


def per_cent(of: Mapping[str, float]) -> dict[str, float]:
    """Each one's part of all, in per cent."""
    whole = sum(of.values()) or 1.0
    return {name: 100 * value / whole for name, value in of.items()}


def sending_end(site: Site, pattern: Pattern) -> ChannelEnd:
    """The end of the channel that a pattern's streams are sent by."""
    assert pattern.through is not None
    own, _ = pattern.through
    end, other = next((a, b) for _, a, b in site.channel_ends() if (a.node, a.name) == (own.node, own.name))
    return end if pattern.out else other


def drawn(site: Site, pattern: Pattern, dice: Random) -> list[Stream]:
    """A pattern's streams, with drawn ports."""
    assert pattern.through is not None
    (end, peers), out = pattern.through, pattern.out
    own = site.nodes[end.node].interfaces[end.name].address
    found = []
    for i, (peer, port) in enumerate(zip(peers, dice.sample(SOURCE_PORTS, len(peers)), strict=True)):
        sender, receiver = (end.node, peer) if out else (peer, end.node)
        address = site.known_by(peer).address if out else own
        label = f"{i}-{sender}-{receiver}".lower()
        found.append(Stream(sender, receiver, address, label, "t", port, DATA_PORT + 2 * i))
    return found
