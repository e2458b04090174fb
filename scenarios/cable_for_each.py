"""Four cables between two switches carry four senders only where each of them has a cable of its own.

Claim: senders with a link each, one for each cable of a channel between two switches, have all of their links together,
as each is dealt another cable. When a switch deals two of them the same one they share it, another cable stands idle,
and all together are a link less, though nothing is broken. To hosts behind one cable of fewer links they have what that
one carries, however they are dealt.

Cause: a switch that deals by MAC address sends all frames of a sender by one cable, and two senders may fall on one.

Source: GPFS at NERSC, section IV: "4 10Gbps connections. While the maximum possible bandwidth out of the cluster is
40Gbps, due to the network configuration on NGF and the NERSC 10Gbps network, we can only expect around 20Gbps".
"""

from collections.abc import Mapping, Sequence

from causeway.lab.changes.switch_ends import dealt_to
from causeway.lab.probes.counters import difference, sent_bytes
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import slb_bucket
from causeway.plan.streams import StreamEnds, expect
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Trunk
from causeway.scenario.stage import Stage
from causeway.scenario.words.storage import judge_ratio, port_in
from causeway.scenario.words.streams import coupled, near_rates, rates_of, transmitting

#: A cable that carries less than this part of all bytes carries none of them.
NONE = 0.01


def cast(ask: Ask) -> Trunk:
    return ask.trunk(ask.gateways(3))


def play(stage: Stage, cast: Trunk) -> None:
    near, senders, n = cast.near, cast.senders, len(cast.senders)
    ports = {sender: port_in(stage, sender, cast.network) for sender in senders}
    link_mbit = tcp_goodput_mbit(*(of(ports[senders[0]]) for of in (stage.site.sends_mbit, stage.site.mtu)))
    to_one, rows = [cast.receiver] * n, list[list[str]]()

    def send(title: str, receivers: Sequence[str], moved: Mapping[str, str]) -> float:
        """All send at once; Mbit/s of all. `moved` are the members by which the switch sends what comes from some."""
        streams = coupled(stage, list(zip(senders, receivers, strict=True)), cast.network)
        before = sent_bytes(stage.lab, near.node, near.members)
        with transmitting(stage, streams) as running:
            measured = running.results()
        sent = difference(before, sent_bytes(stage.lab, near.node, near.members))
        ends = [StreamEnds(m.stream.label, m.stream.sender, m.source, m.destination) for m in measured]
        choices = {(end.label, near.node): moved[end.sender] for end in ends if end.sender in moved}
        expected = expect(stage.site, ends, choices)
        near_rates(stage, title, expected, rates_of(measured))
        by = {m.stream.sender: expected.member(m.stream.label, near.node) for m in measured}
        idle = [member for member in near.members if sent[member] < NONE * sum(sent.values())]
        stage.same(f"{title}: idle cables", [member for member in near.members if member not in by.values()], idle)
        rows.extend(
            [title, m.stream.label, by[m.stream.sender], f"{expected.rates[m.stream.label]:.1f}", f"{m.rate_mbit:.1f}"]
            for m in measured
        )
        return sum(m.rate_mbit for m in measured)

    with stage.healthy(f"each of {n} senders has a cable of its own, and all have their links"):
        judge_ratio(stage, "all", n, send("a cable each", to_one, {}), link_mbit, "a link")

    first, second = senders[:2]
    member, bucket = near.members[0], slb_bucket(mac_address(stage.site, ports[second]))
    with stage.perturb(f"{near.node} sends what comes from {second} by {first}'s cable, too"):
        together = stage.make(dealt_to(near, bucket, member))

    with stage.judge("the two share that cable, another one is idle, and all have a link less"):
        judge_ratio(stage, "two on one", n - 1, send("two on one cable", to_one, {second: member}), link_mbit, "a link")

    with stage.contrast("with a cable each they have all again; behind a narrower cable they share that"):
        together.undo()
        judge_ratio(stage, "a cable each again", n, send("a cable each again", to_one, {}), link_mbit, "a link")
        narrow = stage.site.sends_mbit(cast.narrow) / stage.site.sends_mbit(ports[first])
        seen = send(f"behind {cast.narrow}", cast.behind, {})
        judge_ratio(stage, f"behind {cast.narrow}", narrow, seen, link_mbit, "a link")
        stage.show(Table("Mbit/s of TCP payload", ["when", "stream", "cable", "computed", "measured"], rows))

    with stage.restore(f"each sender has its own cable at {near.node}"):
        send("afterwards", to_one, {})
