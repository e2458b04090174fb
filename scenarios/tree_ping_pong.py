"""Programs that take turns get more of a shared uplink than streams do: how much depends on how they are out of step.

Claim: two pairs that play ping-pong over one uplink get from half of it (when they send at the same time) up to all
that one pair alone gets (when one sends while the other answers), and between them in between, as computed.

Cause: the cable is full duplex, and who waits for an answer leaves its own direction to others; pairs that take turns
stay as far apart as they started.

Source: CITA, "Xe cluster details", "tiered switch internals": netpipe between groups 3.5 to 6.5 Gbit/s (SDR), 6.5 to 9
(DDR), where two that share an uplink would have 3.7 and 7.4; "likely because netpipe's aren't perfectly synchronised at
startup or during sending so messages can pass through the limited backplane with better than expected performance".
If all delays are alike the mean is ln 2 = 0.69 of what one pair has with SDR: 5.1.
"""

from dataclasses import dataclass

from causeway.plan.fabrics import Fabric
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.turns import late_mbit
from causeway.report.result import Table
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.fabric import host_mbit, slower
from causeway.scenario.words.turns import PING, ping_pong, seconds

LATE = (0.0, 0.5, 1.0)
WITHIN = 0.05
WHY = "at the turn of each message TCP finds its share anew"


@dataclass(frozen=True)
class Cast:
    """A fabric, and two pairs whose messages share an uplink, and so do the answers."""

    fabric: Fabric
    pairs: list[tuple[str, str]]


def cast(ask: Ask) -> Cast:
    fabric = ask.fabric(hosts=4)
    return Cast(fabric, fabric.by_one_uplink(2, both_ways=True))


def play(stage: Stage, cast: Cast) -> None:
    fabric, pairs, host = cast.fabric, cast.pairs, host_mbit(stage, cast.fabric)
    cable = fabric.cables[0]
    uplink_mbit, mtu = stage.site.sends_mbit(cable), stage.site.mtu(cable)
    rows: list[list[str]] = []

    def alone(uplinks: int) -> float:
        return min(host, tcp_goodput_mbit(uplinks, mtu))

    def play_late(uplinks: int, late: float) -> tuple[float, list[float]]:
        due = late_mbit(alone(uplinks), tcp_goodput_mbit(uplinks, mtu) / 2, late)
        seen = ping_pong(stage, fabric.network, pairs, late * seconds(PING, alone(uplinks)))
        rows.append([str(uplinks), f"{late:g}", f"{due:.1f}", *(f"{rate:.1f}" for rate in seen.values())])
        return due, list(seen.values())

    def judge(uplinks: int, found: dict[float, tuple[float, list[float]]]) -> None:
        for late, (due, seen) in found.items():
            for (one, other), rate in zip(pairs, seen, strict=True):
                what = f"uplinks {uplinks}, {late:g} of a message late: {one} and {other}"
                stage.near(what, round(due, 1), rate, "Mbit/s", within=WITHIN, why=WHY)

    def judge_one(when: str, uplinks: int) -> float:
        (rate,) = ping_pong(stage, fabric.network, pairs[:1]).values()
        stage.near(f"{when}: one pair", round(alone(uplinks), 1), rate, "Mbit/s", within=WITHIN, why=WHY)
        return rate

    with stage.healthy("one pair has what one host sends"):
        one_fast = judge_one("alone", uplink_mbit)

    with stage.perturb("a second pair on the same uplink, late by parts of a message; fast uplinks, then slow ones"):
        fast = {late: play_late(uplink_mbit, late) for late in LATE}
        slow_mbit = uplink_mbit // 2
        change, _ = slower(stage, fabric.cables, slow_mbit, f"uplinks of {slow_mbit} Mbit/s")
        slow_uplinks = stage.make(change)
        slow = {late: play_late(slow_mbit, late) for late in LATE}

    with stage.judge("each pair has the share of its turns"):
        judge(uplink_mbit, fast)
        judge(slow_mbit, slow)
        names = [f"{one} and {other}" for one, other in pairs]
        stage.show(Table("Two pairs, in Mbit/s", ["uplinks", "messages late", "computed", *names], rows))

    with stage.contrast("a whole message late each has what one pair alone has, and in step it has not"):
        one_slow = judge_one("slow uplinks, alone", slow_mbit)
        slow_uplinks.undo()
        for what, single, found in (("fast", one_fast, fast), ("slow", one_slow, slow)):
            apart, in_step = min(found[1.0][1]), max(found[0.0][1])
            stage.near(
                f"{what} uplinks: a message late, in rates of one pair", 1, apart / single, "", within=WITHIN, why=WHY
            )
            stage.holds(f"{what} uplinks: in step, three quarters of it at most", in_step <= 0.75 * single, in_step)

    with stage.restore("one pair has what it had at first"):
        judge_one("afterwards", uplink_mbit)
