"""Whoever wants to mend one direction of a channel must change the end that sends it.

Claim: writes to a server come by the members that the switch's policy gives, source MAC addresses. Another policy
at the server moves its reads, to where that policy says, and not one of the writes; another policy at the switch
moves those.

Cause: a channel has no policy. Each end has its own, for what it sends; LACP does not tell one of the other's.

Source: Redpaper, Figure 3 ("ION write is controlled by the Cisco/CatOS setup of the 4x channel to the NSD server") and
"EtherChannel (or channel bonding) setup", with the hash functions of three makers.
"""

from dataclasses import dataclass

from causeway.lab.changes.bonds import sends_by
from causeway.lab.probes.switching import deal_buckets
from causeway.scenario.cast import Ask, Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.channels import dealt_to
from causeway.scenario.words.streams import (
    Outcome,
    draw,
    judge_streams,
    measure_streams,
    near_rate,
    near_rates,
    one_stream,
)

BY_MAC, OTHERWISE = "where their source MAC addresses say", "elsewhere"
#: Ports are drawn anew so often until balance-tcp, whose hash has a key that nobody knows, puts a write elsewhere:
#: two streams on two members stay where they were by chance in 1 of 4 draws.
DRAWS = 6


@dataclass(frozen=True)
class Cast:
    """A server's channel whose switch deals by MAC address, and the peers that write to it and read from it."""

    server: Channel
    peers: list[str]


def cast(ask: Ask) -> Cast:
    server = ask.channel(dealt=True)
    return Cast(server, ask.peers(server, 8, least=2))


def play(stage: Stage, cast: Cast) -> None:
    lab, server, peers = stage.lab, cast.server, cast.peers
    other = "layer2" if server.host.hash_policy != "layer2" else "layer3+4"
    # stream -> the switch's member, before anything is measured
    by_mac = {f"{server.node}:r:{peer.lower()}": dealt_to(stage, peer, server) for peer in peers}

    def writes() -> Outcome:
        return measure_streams(stage, server.switch, draw(stage, server, peers, "r"))

    def verdict(written: Outcome) -> str:
        """The check that both halves share."""
        return BY_MAC if written.observed == by_mac else OTHERWISE

    def draws_until(wanted: str) -> Outcome:
        for _ in range(DRAWS):
            if verdict(written := writes()) == wanted:
                break
        return written

    with stage.healthy("the writes come by the members that the switch's policy gives"):
        before = writes()
        stage.same("members of the writes, policies as they are", BY_MAC, verdict(before))
        due, seen = before.per_member(by_mac), before.per_member(before.observed)
        stage.same(f"writes per member of {server.at}'s end", due, seen)
        judge_streams(stage, "write, policies as they are", before)

    with stage.perturb(f"somebody who wants the writes elsewhere changes {server.node}'s policy, to {other}"):
        stage.make(sends_by(lab, server.host, other))

    with stage.observe("all write, and all read"):
        written = writes()
        read = measure_streams(stage, server.host, draw(stage, server, peers, "t"), policies={server.node: other})

    with stage.judge(f"the reads have moved to where {other} puts them, and the writes have not moved"):
        stage.same(f"members of the writes, {other} at {server.node}", BY_MAC, verdict(written))
        judge_streams(stage, f"write, {other} at {server.node}", written)
        due, seen = read.per_member(read.computed), read.per_member(read.observed)
        stage.same(f"reads per member of {server.node}'s end, {other}", due, seen)
        judge_streams(stage, f"read, {other} at {server.node}", read)

    with stage.contrast(f"{server.at}'s policy moves the writes: balance-tcp, which looks at addresses and ports"):
        stage.defer(lambda: deal_buckets(lab), "the switch deals as before")
        stage.make(sends_by(lab, server.switch, "balance-tcp"))
        by_ports = draws_until(OTHERWISE)
        stage.same(f"members of the writes, balance-tcp at {server.at}", OTHERWISE, verdict(by_ports))
        near_rates(stage, f"write, balance-tcp at {server.at}", by_ports.expected, by_ports.rates)

    with stage.restore("both policies are as before, and one write comes where it came, as fast as a link"):
        again = writes()
        stage.same("members of the writes, afterwards", BY_MAC, verdict(again))
        near_rate(stage, "one write, afterwards", one_stream(stage, peers[0], server.node, to=server.network))
