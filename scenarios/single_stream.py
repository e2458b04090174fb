"""One stream never gets more than one link, however many links its channel has.

Claim: a single TCP stream between a server with a channel and a partner carries the wire's own rate in either
direction, and not more; two streams from the server get a whole link each on two members, and share one on one.

Cause: all packets of a connection take the same member, so that they arrive in order.

Source: Redpaper, "Single-stream performance between an NSD server and the FEN or SN": 939 Mbit/s measured,
941.482 the wire's own at MTU 1500, roughly 990 with jumbo frames.
"""

from dataclasses import dataclass

from causeway.scenario.cast import Ask, Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import draw, judge_streams, measure_streams, near_rate, one_stream


@dataclass(frozen=True)
class Cast:
    """A server whose channel spreads streams by their ports, somebody to talk to, and two more for two streams."""

    server: Channel
    partner: str
    pair: list[str]


def cast(ask: Ask) -> Cast:
    server = ask.channel(by_ports=True)
    return Cast(server, ask.partner(server), ask.peers(server, 2, least=2))


def play(stage: Stage, cast: Cast) -> None:
    server, partner = cast.server, cast.partner

    def judge_alone(when: str, sender: str, receiver: str) -> None:
        near_rate(stage, when, one_stream(stage, sender, receiver, to=server.network))

    with stage.healthy(f"one stream from {server.node} to {partner}, and one back, carry the wire's own rate"):
        judge_alone(f"one stream, {server.node} transmits", server.node, partner)
        judge_alone(f"one stream, {server.node} receives", partner, server.node)

    with stage.perturb("a second stream, by its source port on the same member of the channel"):
        together = draw(stage, server, cast.pair, "t", accept=lambda counts: max(counts) == 2)

    with stage.observe("both streams transmit"):
        shared = measure_streams(stage, server.host, together)

    with stage.judge("on one member they share it, as computed"):
        stage.same("members used by two streams", 1, len(set(shared.observed.values())))
        judge_streams(stage, "two streams on one member", shared)

    with stage.contrast("on two members each has one for itself"):
        apart = draw(stage, server, cast.pair, "t", accept=lambda counts: max(counts) == 1)
        alone = measure_streams(stage, server.host, apart)
        stage.same("members used by two streams, apart", 2, len(set(alone.observed.values())))
        judge_streams(stage, "two streams on two members", alone)

    with stage.restore(f"one stream from {server.node} to {partner} is as fast as at first"):
        judge_alone("one stream, afterwards", server.node, partner)
