"""Eight nodes on one chip and four on each of two are alike with fast uplinks, and not with slow ones.

Claim: nodes in rings that send to both neighbours at once, and wait for the slowest, get as much as the uplink lets
through on which most messages meet. At one line switch that is a host's own rate, whatever the uplinks. Half and half
it is nearly that with fast uplinks, and far from it with slow ones; sixteen nodes have less than eight.

Cause: of a ring's messages only those between the switches meet, and few of them on one uplink as long as there are
few of them.

Source: CITA, "Xe cluster details", "b_eff": 2446 MB/s with eight nodes on one sub-switch, 2412 with nodes 1-2,4-9, "so
basically no difference there... not sure why not" (0.986, with uplinks of DDR); sixteen nodes 4342 with DDR, 4006 with
SDR. Those are means over all sizes of messages; here they are large ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from causeway.plan.fabrics import Fabric
from causeway.plan.turns import ring_mbit
from causeway.report.result import Table
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.fabric import host_mbit, slower
from causeway.scenario.words.turns import rings

RINGS = 10
WITHIN = 0.03
WHY = "connections find their share anew in each step"


@dataclass(frozen=True)
class Cast:
    """A fabric, and its hosts in their natural order: at one line switch, half and half at two, and twice as many."""

    fabric: Fabric
    single: list[str]
    halves: list[str]
    all: list[str]


def cast(ask: Ask) -> Cast:
    fabric = ask.fabric(hosts=8)
    return Cast(fabric, fabric.at_one_line(8), fabric.half_and_half(8), fabric.first(16))


def play(stage: Stage, cast: Cast) -> None:
    fabric, host = cast.fabric, host_mbit(stage, cast.fabric)
    half_mbit = stage.site.sends_mbit(fabric.cables[0]) // 2
    table: list[list[str]] = []

    def orders(nodes: Sequence[str]) -> list[list[str]]:
        """The natural ring, and some at random."""
        return [list(nodes), *(stage.random.sample(nodes, len(nodes)) for _ in range(RINGS))]

    def measured(title: str, drawn: list[list[str]]) -> float:
        """Every ring beside what was computed; returns the mean of the natural ring and the others', in hosts."""
        due = [ring_mbit(stage.site, fabric.network, ring) / host for ring in drawn]
        seen = [rate / host for rate in rings(stage, fabric.network, drawn)]
        for number, (one, other) in enumerate(zip(due, seen, strict=True)):
            ring = f"random ring {number}" if number else "natural ring"
            stage.near(f"{title}: {ring}, in hosts", round(one, 4), other, "", within=WITHIN, why=WHY)
        parts = [[rates[0], sum(rates[1:]) / RINGS] for rates in (due, seen)]
        table.append([title, *(f"{value:.2f}" for natural, other in parts for value in (natural, other))])
        return sum(parts[1]) / 2

    single, halves, sixteen = orders(cast.single), orders(cast.halves), orders(cast.all)

    with stage.healthy("eight nodes at one line switch have a host's own rate, in any ring"):
        best = measured("one switch, fast uplinks", single)
        stage.near("mean, in hosts", 1, best, "", within=WITHIN, why="each cable carries two messages a step")

    with stage.perturb(f"the cables between the switches have {half_mbit} Mbit/s"):
        change, slow_site = slower(stage, fabric.cables, half_mbit, f"uplinks of {half_mbit} Mbit/s")
        slow_uplinks = stage.make(change)

    with stage.judge("half and half they have far less now, and at one switch what they had"), stage.as_if(slow_site):
        kept = measured("one switch, slow uplinks", single)
        fallen = measured("half and half, slow uplinks", halves)
        least = measured("sixteen, slow uplinks", sixteen)
        stage.near("at one switch, in rates of before", 1, kept / best, "", within=WITHIN, why=WHY)
        stage.holds("half and half three quarters of that, at most", fallen <= 0.75 * kept, round(fallen / kept, 2))

    with stage.contrast("half and half they are nearly as fast with fast uplinks"):
        slow_uplinks.undo()
        risen = measured("half and half, fast uplinks", halves)
        most = measured("sixteen, fast uplinks", sixteen)
        stage.holds("half and half nine tenths of one switch, or more", risen >= 0.9 * best, round(risen / best, 2))
        order = "eight at one switch more than sixteen, these more than sixteen with slow uplinks"
        stage.holds(order, best > most > least, [round(rate, 2) for rate in (best, most, least)])
        columns = ["rings of", "natural, computed", "random, computed", "natural", "random"]
        stage.show(Table("What each node sends, in hosts' rates", columns, table))

    with stage.restore("the natural ring at one switch is as fast as at first"):
        (rate,) = rings(stage, fabric.network, single[:1])
        stage.near("natural ring, in hosts", 1, rate / host, "", within=WITHIN, why=WHY)
