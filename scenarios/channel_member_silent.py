"""A cable that carries nothing and keeps its light is found by LACP alone: after 3 s, or after 90.

Claim: when a member of a server's channel falls silent in both directions, miimon sees nothing, now or later. Until
LACP has missed three frames the channel goes on sending by it, and exactly the connections that hash to it, there or
back, cannot be opened. In slow rate, a frame in 30 s, each end takes the member out 90 s after the last frame that it
heard; in fast rate, a frame in 1 s, after 3 s. (A Linux bond counts these in steps of 0.1 s and a timer tick: 99 s and
3.3 s at 100 ticks.)

Cause: miimon asks the adapter for its carrier; that frames arrive, only the other end's frames can tell.

Source: Redpaper, "Setting up Linux bonding on the SN and FEN(s)": "You should also set the miimon option"; bonding.rst,
miimon and lacp_rate; IEEE 802.1AX, Short_Timeout_Time and Long_Timeout_Time.
"""

import time
from dataclasses import dataclass

from causeway.lab.clock import tick_s
from causeway.lab.faults import link_silent
from causeway.lab.probes.lacp import listening
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Channel
from causeway.scenario.stage import Made, Stage
from causeway.scenario.words.channels import agreed, mii_status, speaks, unopened, when_out

#: LACP's time-outs in seconds, three frames each.
TIMEOUT_S = {"slow": 90.0, "fast": 3.0}
#: The bonding driver counts a time-out in steps, each of which the kernel's timer makes longer by a tick.
STEP_S = 0.1
WHY = "this scenario looks at both ends 100 times in a time-out; and a step of 0.1 s may have begun before"


@dataclass(frozen=True)
class Cast:
    """A server's channel whose switch deals by MAC address, and the peers that it opens connections to."""

    server: Channel
    peers: list[str]


def cast(ask: Ask) -> Cast:
    server = ask.channel(dealt=True)
    return Cast(server, ask.peers(server, 16, least=2))


@dataclass(frozen=True)
class Silence:
    """When it began, when each end had last heard of the other (seconds since 1970), and what ends it."""

    cut: float
    heard: tuple[float, float]
    mend: Made


def play(stage: Stage, cast: Cast) -> None:
    lab, server, silent = stage.lab, cast.server, cast.server.members[1]
    ends = (server.node, server.at)
    rows = []

    def fall_silent() -> Silence:
        with listening(lab, server.node, silent) as last_heard:
            mend = stage.make(link_silent(lab, server.node, silent))
            cut = time.time()
            return Silence(cut, last_heard(cut), mend)

    def judge(rate: str, silence: Silence, out: tuple[float, float]) -> None:
        due = (TIMEOUT_S[rate] / STEP_S * (STEP_S + tick_s()), TIMEOUT_S[rate])
        for node, s, last, at in zip(ends, due, silence.heard, out, strict=True):
            took_s = round(at - last, 2)
            what = f"{rate}: from the last frame that {node} heard to its member out"
            stage.near(what, round(s, 2), took_s, "s", within=0.05, why=WHY)
            rows.append([rate, node, f"{at - silence.cut:.2f}", f"{took_s:.2f}"])
        stage.same(f"{rate}: MII status of {silent}, member out", "up", mii_status(stage, server, silent))

    with stage.healthy("all members are in, and every connection can be opened"):
        _, seen = unopened(stage, server, cast.peers, silent)
        stage.same("connections that cannot be opened", [], seen)

    with stage.perturb(f"both ends speak in slow rate, and then the cable of {server.node}'s {silent} falls silent"):
        before = stage.make(speaks(stage, server, "slow"), then=lambda: agreed(stage, server))
        # a bond that was down has forgotten its neighbours' addresses, and who asks for them may be silent, too
        stage.until("connections fail", lambda: unopened(stage, server, cast.peers, silent)[1], is_=[], within_s=20)
        silence = fall_silent()

    with stage.observe("the channel goes on sending by it, until both ends take it out"):
        due, lost = unopened(stage, server, cast.peers, silent)
        mii_then = mii_status(stage, server, silent)
        out = when_out(stage, server, silent, TIMEOUT_S["slow"])

    with stage.judge("miimon saw nothing, and LACP took 90 s, in which exactly the computed connections failed"):
        stage.same("MII status of the silent member", "up", mii_then)
        stage.same("connections that cannot be opened, silent", due, lost)
        judge("slow", silence, out)
        _, seen = unopened(stage, server, cast.peers, silent)
        stage.same("connections that cannot be opened, member out", [], seen)

    with stage.contrast("in fast rate the same silence lasts 3 s"):
        silence.mend.undo()
        before.undo()
        stage.make(speaks(stage, server, "fast"), then=lambda: agreed(stage, server))
        judge("fast", fall_silent(), when_out(stage, server, silent, TIMEOUT_S["fast"]))
        columns = ["LACP rate", "end", "out after the silence began, s", "after the last frame heard, s"]
        stage.show(Table("How long a silent member is sent by", columns, rows))

    with stage.restore("all members are in again, and every connection can be opened"):
        agreed(stage, server)
        _, seen = unopened(stage, server, cast.peers, silent)
        stage.same("connections that cannot be opened, afterwards", [], seen)
