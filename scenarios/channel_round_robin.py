"""Round-robin can give one stream all links of a channel, or take it the one that it had.

Claim: with balance-rr a server sends an equal part of a stream by each of its links. Through a switch that has no
round-robin the stream still gets no more than one link, for the switch sends all of it on by one. With the members
patched through one by one, and adapters that coalesce what they receive, packets arrive out of order, TCP sends
again what was never lost, and the stream loses much of the one link that it had; with adapters that hand on every
frame at once it gets all of them, or nearly. Of 40 streams in disorder 3 bore it: of seven the middle one is judged.

Cause: the order of packets is nobody's promise once they travel on several links. The gain is the round-robin sender's
alone, and only where all links go on to the receiver.

The Redpaper quotes the bonding HOWTO of its day: "you should not expect more than 2.3x worth of bandwidth". Today's
names no number, but the reasons: "packet coalescing", and switches that choose a port by address. Here these decide,
for CPUs take no time; what is measured lies on both sides.

Source: Redpaper, "EtherChannel (or channel bonding) setup": "only the round-robin mode can improve single-stream
performance. But it also carries the risk that packets arrive out-of-order"; Linux, networking/bonding.rst, 12.1.1,
balance-rr.
"""

from dataclasses import dataclass

from causeway.lab.changes.adapters import without_coalescing
from causeway.lab.changes.change import together
from causeway.lab.changes.lacp import patched, round_robin, without_lacp
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.channels import agreed, dealt_to, handed_by_all
from causeway.scenario.words.order import COLUMNS, Seen, stream_in_order
from causeway.scenario.words.streams import ALONE_TOLERANCE, ALONE_WHY, link_mbit

HOWTO_FACTOR = 2.3
#: In disorder: one in thirteen bears it and gets nearly all links; four of seven hardly ever do.
STREAMS = 7
NO_GAIN, GAIN = "no more than one link", "more than one link"


@dataclass(frozen=True)
class Cast:
    """Two hosts with like channels to one switch."""

    sender: Channel
    receiver: Channel


def cast(ask: Ask) -> Cast:
    # with two links, or where adapters gather few frames, TCP learns how far packets come out of order, and bears it
    return Cast(*ask.twins(members=3, gathered=6))


def play(stage: Stage, cast: Cast) -> None:
    lab, sender, receiver = stage.lab, cast.sender, cast.receiver
    links, wire = len(sender.members), link_mbit(stage, sender)
    rows = []

    def stream(how: str) -> Seen:
        seen = stream_in_order(stage, sender, receiver)
        rows.append([how, f"{seen.rate_mbit:.1f}", f"{seen.rate_mbit / wire:.2f}", *seen.counts])
        return seen

    def verdict(seen: Seen) -> str:
        """The check that all parts share."""
        return GAIN if seen.rate_mbit > 1.01 * wire else NO_GAIN

    def judge_hashed(when: str, seen: Seen) -> None:
        due, rate = round(wire, 3), seen.rate_mbit
        stage.near(f"one stream, {when}", due, rate, "Mbit/s", within=ALONE_TOLERANCE, why=ALONE_WHY)
        stage.same(f"segments sent again, {when}", 0, seen.again)

    with stage.healthy("by LACP and a hash one stream takes one member, and one link's rate"):
        judge_hashed("LACP", stream("LACP and a hash"))

    with stage.perturb(f"both hosts send round-robin, and {sender.at}'s ends of their channels do without LACP"):
        stage.defer(lambda: agreed(stage, sender, receiver), "the channels have agreed again")
        stage.make(together("no LACP at the switch", (without_lacp(c.switch) for c in (sender, receiver))))
        stage.make(together("round-robin at both hosts", (round_robin(lab, c.host) for c in (sender, receiver))))
        handed_by_all(stage, sender, receiver)

    with stage.observe("one stream through the switch"):
        switched = stream(f"round-robin through {sender.at}")

    with stage.judge("an equal part leaves by each link, all of it arrives by one, and that one's rate is all it gets"):
        why = "what is dealt out are packets, some of them many frames that are cut later, and some acknowledgements"
        for member, share in switched.per_cent(switched.sent).items():
            what = f"part of the bytes by {sender.node}'s {member}"
            stage.near(what, round(100 / links, 1), round(share, 1), "%", within=0.05, why=why)
        chosen = dealt_to(stage, sender.node, receiver)
        for member, share in switched.per_cent(switched.handed_on).items():
            what = f"part of the bytes by {sender.at}'s {member} to {receiver.node}"
            stage.same(what, 100 if member == chosen else 0, round(share))
        stage.same(f"round-robin through {sender.at}", NO_GAIN, verdict(switched))

    with stage.perturb(f"{sender.at} patches each member of {sender.node}'s channel through to {receiver.node}'s"):
        stage.make(patched(lab, sender.switch, receiver.switch))

    with stage.observe(f"one stream over links of its own, {STREAMS} times"):
        tries = [stream(f"round-robin, patched through, coalescing, {n + 1}") for n in range(STREAMS)]
        scrambled = sorted(tries, key=lambda seen: seen.rate_mbit)[STREAMS // 2]

    with stage.judge("TCP takes disorder for loss, and the middle one gets no more than one link, though it has more"):
        stage.same("patched through, adapters coalesce", NO_GAIN, verdict(scrambled))
        left = scrambled.rate_mbit
        stage.holds("less than three quarters of a link are left", left < 0.75 * wire, f"{left:.1f} Mbit/s")
        stage.holds("packets came out of order", scrambled.out_of_order > 0, scrambled.out_of_order)
        why = "the last ones' acknowledgements may be under way"
        stage.near("sent again: of none lost", scrambled.again, scrambled.needless, "segments", within=0.05, why=why)

    with stage.contrast("with adapters that hand on every frame at once it gets all links"):
        stage.make(together("no coalescing", (without_coalescing(lab, c.host) for c in (sender, receiver))))
        ordered = stream("round-robin, patched through, no coalescing")
        stage.same("patched through, no coalescing", GAIN, verdict(ordered))
        why = "the wires are full; what is sent again takes its part of them, a fifteenth at most in six runs"
        full = round(links * wire, 3)
        stage.near(f"one stream, {links} links", full, ordered.rate_mbit, "Mbit/s", within=0.1, why=why)
        rows.append(["bonding HOWTO, as in the Redpaper", "", f"at most {HOWTO_FACTOR}", "", "", ""])
        stage.show(Table("One stream", COLUMNS, rows))

    with stage.restore("LACP has agreed again, and one stream gets one link's rate"):
        judge_hashed("afterwards", stream("afterwards"))
