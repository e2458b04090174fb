"""What a wire lets through by the size of packets: 9000, 8192 and 1500 bytes; and an adapter that gives less.

Claim: one stream has all of the wire but the headers, whichever end takes the shorter packets, and whatever switches
are between. Packets of 8 K cost a thousandth of the rate of 9000 bytes, those of 1500 a twentieth. Whoever sees a tenth
missing must look for it elsewhere: an adapter that gives nine tenths is seen so, in both directions.

Cause: 90 bytes of headers, preamble and gap go with each packet of whatever size; TCP takes the smaller end's.

Source: GPFS at NERSC, section V, Fig. 4: "within 3-4% of line-rate with the Chelsio cards and to within 10-12% of
line-rate with the NetXen cards", whose jumbo frames are 8K.
"""

from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.paths import path
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Jumbo
from causeway.scenario.stage import Stage
from causeway.scenario.words.fabric import slower
from causeway.scenario.words.packets import all_take, slowest_mbit
from causeway.scenario.words.streams import ALONE_TOLERANCE, near_rate, one_stream

SMALL = 1500
#: What an adapter gives of its wire.
PART = 0.9


def cast(ask: Ask) -> Jumbo:
    return ask.jumbo()


def play(stage: Stage, cast: Jumbo) -> None:
    site, (one, other), (short, too) = stage.site, cast.full, cast.short
    rows: list[list[str]] = []

    def judge(title: str, sender: str, receiver: str) -> float:
        lone = one_stream(stage, sender, receiver, to=cast.network)
        near_rate(stage, f"{title}: {sender} to {receiver}", lone)
        show(title, sender, receiver, lone.rate_mbit)
        return lone.rate_mbit

    def show(title: str, sender: str, receiver: str, rate_mbit: float) -> None:
        wire = slowest_mbit(stage, sender, site.address(receiver, cast.network))
        rows.append([title, f"{sender} to {receiver}", f"{rate_mbit:.2f}", f"{100 * rate_mbit / wire:.1f}"])

    with stage.healthy("two adapters of full packets have the wire between them, near and far"):
        full = judge("full", one, other)
        judge("more switches", one, cast.far)

    with stage.perturb("adapters that take less are at one end, and at both"):
        couples = [(one, short), (short, one), (short, too)]

    with stage.judge("their packets cost next to nothing"):
        for sender, receiver in couples:
            rate = judge("shorter packets", sender, receiver)
            stage.holds(
                f"{sender} to {receiver}: less than a hundredth is lost", rate > 0.99 * full, f"{rate / full:.4f}"
            )

    port = path(site, short, site.address(one, cast.network)).hops[0].sender
    with stage.judge("an adapter that gives nine tenths is seen so, both ways"):
        change, slow = slower(stage, [port], round(PART * site.sends_mbit(port)), f"{port} gives {PART:g} of its wire")
        made = stage.make(change)
        with stage.as_if(slow):
            judge("nine tenths", short, one)
            judge("nine tenths", one, short)
        made.undo()

    with stage.contrast("usual packets cost a twentieth"):
        ways = [path(site, a, site.address(b, cast.network)) for a, b in ((one, other), (other, one))]
        usual = stage.make(all_take(stage, ways, SMALL))
        due = tcp_goodput_mbit(slowest_mbit(stage, one, site.address(other, cast.network)), SMALL)
        rate = one_stream(stage, one, other, to=cast.network).rate_mbit
        stage.near("usual packets", round(due, 3), rate, "Mbit/s", within=ALONE_TOLERANCE, why="of the wire")
        show("usual packets", one, other, rate)
        usual.undo()
        stage.show(Table("One stream", ["what", "way", "Mbit/s", "% of the wire"], rows))

    with stage.restore("as at first"):
        judge("afterwards", one, other)
