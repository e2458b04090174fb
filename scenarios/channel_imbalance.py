"""Eight streams over a channel of four links rarely get a half link each.

Claim: which link a stream takes follows from its addresses and ports by the sending end's hash policy,
and how fast it is follows from who else is on that link. Eight streams from nsd01 to eight I/O nodes get
from a quarter of a link to a whole one, although there is half a link for each.

Cause: a hash spreads streams over the members as dice would, not in turn; and each end of a channel decides
by its own setting, for what it sends.

Source: Redpaper, "Multiple streams between an NSD server and several IONs", and Figure 3 with its four
arrows: ION read, ION write, FEN read, FEN write.
"""

from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.scenario.stage import Stage
from causeway.scenario.streams import RATE_WHY, arrows, draw, end_of, judge, measure, own_choices, set_policy

BALANCED = "balanced: as many streams on every member"
IMBALANCED = "imbalanced: more streams on one member than on another"


def verdict(per_member: str) -> str:
    """The check that both halves of this scenario share."""
    return BALANCED if len(set(per_member.split())) == 1 else IMBALANCED


def is_even(counts: list[int]) -> bool:
    return len(set(counts)) == 1


def play(stage: Stage) -> None:
    server = end_of(stage, "nsd01", "zam870")
    io_nodes = [(name, "b") for name in stage.lab.booted_io_nodes()[:8]]
    wire = tcp_goodput_mbit(1000, stage.site.topology.networks["b"].mtu)

    with stage.healthy("one stream from nsd01 to FEN carries what a link carries"):
        alone = measure(stage, server, draw(stage, server, [("FEN", "b")], "t"))
        (rate,) = (m.rate_mbit for m in alone.measured.values())
        stage.compare("one stream, nsd01 to FEN", wire, rate, "Mbit/s", 0.001, "the wire's own rate")

    with stage.perturb("source ports are picked at random, as nuttcp and GPFS pick theirs"):
        # a fair throw in 26 is even; this scenario is about the other 25
        dice = draw(stage, server, io_nodes, "t", accept=lambda counts: not is_even(counts))

    with stage.observe("eight streams transmit at the same time, and zam870 sees by which link each comes"):
        thrown = measure(stage, server, dice)

    with stage.judge("the imbalance is the one computed: members, rates, bytes"):
        computed, seen = thrown.per_member(thrown.computed), thrown.per_member(thrown.observed)
        rates = [m.rate_mbit for m in thrown.measured.values()]
        due = thrown.expected.rates.values()
        stage.compare("verdict on random ports", IMBALANCED, verdict(seen), "", 0)
        stage.compare("streams per member of nsd01's channel", computed, seen, "", 0)
        stage.compare("slowest stream", round(min(due), 3), min(rates), "Mbit/s", 0.01, RATE_WHY)
        stage.compare("fastest stream", round(max(due), 3), max(rates), "Mbit/s", 0.01, RATE_WHY)
        judge(stage, "ION read, random ports", thrown)

    with stage.contrast("ports chosen so that two streams fall on each member: half a link for each"):
        even = measure(stage, server, draw(stage, server, io_nodes, "t", accept=is_even))
        stage.compare("verdict on chosen ports", BALANCED, verdict(even.per_member(even.observed)), "", 0)
        for label, m in even.measured.items():
            stage.compare(f"half a link for {label}", round(wire / 2, 3), m.rate_mbit, "Mbit/s", 0.01, RATE_WHY)
        judge(stage, "ION read, chosen ports", even)

    fen = end_of(stage, "FEN", "zam870")
    through_deisa = [("cn01", "f"), ("cn02", "f"), ("cn01", "f"), ("cn02", "f")]
    with stage.judge(
        "FEN writes: all its frames to JUMP's other nodes go to deisa-b's MAC, so layer2 takes one member"
    ):
        one_mac = measure(stage, fen, draw(stage, fen, through_deisa, "t"))
        computed = one_mac.per_member(one_mac.computed)
        stage.compare("streams on the busiest member of FEN's channel", 4, max(map(int, computed.split())), "", 0)
        judge(stage, "FEN write through deisa, layer2", one_mac)

    with stage.contrast(
        "the same four streams with layer3+4 on FEN use both members (the inter-switch link still bounds them)"
    ):
        stage.defer(set_policy(stage, fen, "layer3+4"))
        streams = draw(stage, fen, through_deisa, "t")
        both = measure(stage, fen, streams, policies={"FEN": "layer3+4"})
        judge(stage, "FEN write through deisa, layer3+4", both)

    with stage.judge("I/O nodes write: zam870 decides, and nsd01's policy has no say"):
        written = measure(stage, end_of(stage, "zam870", "nsd01"), draw(stage, server, io_nodes, "r"))
        judge(stage, "ION write, zam870 decides", written)
        elsewhere = own_choices(stage, written, server)
        stage.compare("some streams come where nsd01 would not send", True, elsewhere > 0, "", 0)

    with stage.judge("FEN reads from the four servers: zam870 decides on FEN's two links"):
        servers = [(f"nsd0{i}", "b") for i in (1, 2, 3, 4)]
        read = measure(stage, end_of(stage, "zam870", "FEN"), draw(stage, fen, servers, "r"))
        judge(stage, "FEN read, zam870 decides", read)
        ways = {"ION read": ("nsd01", io_nodes[0][0]), "ION write": (io_nodes[0][0], "nsd01")}
        stage.show(arrows(stage, ways | {"FEN read": ("nsd01", "FEN"), "FEN write": ("FEN", "nsd01")}))

    with stage.restore("ports and policies are as before, and one stream is as fast as at first"):
        again = measure(stage, server, draw(stage, server, [("FEN", "b")], "t"))
        (rate,) = (m.rate_mbit for m in again.measured.values())
        stage.compare("one stream, nsd01 to FEN, afterwards", wire, rate, "Mbit/s", 0.001, "the wire's own rate")
