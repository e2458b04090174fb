"""One stream never gets more than one link, however many links its channel has.

Claim: a single TCP stream between nsd01 and FEN carries the wire's own rate in either direction, and not
more; two streams from nsd01 get a whole link each on two members, and half a link each on one.

Cause: all packets of a connection take the same member, so that they arrive in order.

Source: Redpaper, "Single-stream performance between an NSD server and the FEN or SN": 939 Mbit/s measured,
941.482 the wire's own at MTU 1500, roughly 990 with jumbo frames.
"""

from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.scenario.stage import Stage
from causeway.scenario.streams import draw, end_of, judge, measure

WIRE_WHY = "a lone stream on a shaped link has nothing to lose"


def play(stage: Stage) -> None:
    server = end_of(stage, "nsd01", "zam870")
    wire = tcp_goodput_mbit(1000, stage.site.topology.networks["b"].mtu)
    pair = [(name, "b") for name in stage.lab.booted_io_nodes()[:2]]

    # the end that sends to the other: nsd01's own, or the switch's
    sending = {"t": server, "r": end_of(stage, "zam870", "nsd01")}

    def one_stream(direction: str) -> float:
        alone = measure(stage, sending[direction], draw(stage, server, [("FEN", "b")], direction))
        return next(iter(alone.measured.values())).rate_mbit

    with stage.healthy("one stream from nsd01 to FEN, and one back, carry the wire's own rate"):
        stage.compare("one stream, nsd01 transmits", wire, one_stream("t"), "Mbit/s", 0.001, WIRE_WHY)
        stage.compare("one stream, nsd01 receives", wire, one_stream("r"), "Mbit/s", 0.001, WIRE_WHY)

    with stage.perturb("a second stream, by its source port on the same member of nsd01's channel"):
        together = draw(stage, server, pair, "t", accept=lambda counts: max(counts) == 2)

    with stage.observe("both streams transmit"):
        shared = measure(stage, server, together)

    with stage.judge("on one member they get half a link each"):
        for label, m in shared.measured.items():
            stage.compare(f"shared: {label}", wire / 2, m.rate_mbit, "Mbit/s", 0.01, "TCP shares a queue")
        judge(stage, "two streams on one member", shared)

    with stage.contrast("on two members they get a whole link each"):
        apart = measure(stage, server, draw(stage, server, pair, "t", accept=lambda counts: max(counts) == 1))
        for label, m in apart.measured.items():
            stage.compare(f"apart: {label}", wire, m.rate_mbit, "Mbit/s", 0.001, WIRE_WHY)
        judge(stage, "two streams on two members", apart)

    with stage.restore("one stream from nsd01 to FEN is as fast as at first"):
        stage.compare("one stream, afterwards", wire, one_stream("t"), "Mbit/s", 0.001, WIRE_WHY)
