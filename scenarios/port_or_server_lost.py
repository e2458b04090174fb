"""A server's port to the disks is lost: with one such port the server is lost with it, with two nobody notices.

Claim: one port to the disks for each server is enough for all that the array does. But a server that loses it is lost:
who went by it reaches nothing, and goes by the others, which carry less without it. Where each server has two ports the
same cable costs nothing.

Cause: a port to the disks carries more than the server's port to the clients. A channel of two goes on with one.

Source: GPFS Best Practices, "DS5300": with one FC8 a server a lost port is a lost server; "if 2xFC8 adapters are
adopted, peak performance can be maintained during failure".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from causeway.lab.changes.change import together
from causeway.lab.faults import link_down
from causeway.plan.filesystems.spread import Direction
from causeway.plan.paths import without_member
from causeway.scenario.cast import Arrays, Ask, Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import Rate, carried_mb, evenly, judge, place, show, work
from causeway.scenario.words.channels import agreed, members_up
from causeway.scenario.words.routes import pings
from causeway.scenario.words.storage import by_others, judge_ratio


@dataclass(frozen=True)
class Cast:
    """Servers' disks, and of each node that forwards to these the channel by which it does."""

    arrays: Arrays
    channels: dict[str, Channel]


def cast(ask: Ask) -> Cast:
    arrays = ask.arrays(2, 3)
    return Cast(arrays, ask.two_ports(arrays))


def play(stage: Stage, cast: Cast) -> None:
    arrays, channels = cast.arrays, cast.channels
    server = arrays.servers[0]
    all_of: dict[str, Sequence[str]] = {s: arrays.gateways(s) for s in arrays.servers}
    lost = channels[all_of[server][-1]]
    rest = dict(all_of) | {server: all_of[server][:-1]}
    theirs = [client for client in arrays.clients if arrays.by[client][server] == lost.node]
    disk = stage.site.known_by(server).address
    rows: dict[str, Mapping[Direction, Rate]] = {}

    with stage.arrange("each client has an empty file at each controller"):
        placed = place(stage, arrays)

    def play_by(title: str, gateways: Mapping[str, Sequence[str]]) -> Mapping[Direction, Rate]:
        seen = work(stage, arrays, placed, evenly(stage, arrays, gateways))
        rows[title] = {way: ends.apart() for way, ends in seen.items()}
        judge(stage, title, rows[title])
        return rows[title]

    def reached() -> list[str]:
        return [client for client in theirs if pings(stage, client, disk)]

    def up(channel: Channel) -> int:
        return len(members_up(stage, channel.host))

    with stage.healthy("with two ports to the disks clients have what the array does"):
        peak = play_by("two ports", all_of)

    spares = [channel.port(channel.members[1]) for channel in channels.values()]
    one_port = reduce(without_member, spares, stage.site)
    with stage.perturb("each server has one port to the disks"):
        pulled = [link_down(stage.lab, port.node, port.device) for port in spares]
        single = stage.make(together("each server has one port", pulled))
        stage.until("ports", lambda: [up(channel) for channel in channels.values()], is_=[1] * len(spares), within_s=20)

    with stage.judge("that is enough"), stage.as_if(one_port):
        for way, rate in play_by("one port", all_of).items():
            judge_ratio(stage, f"one port, {way}", 1, rate.seen, peak[way].seen, "the peak")

    with stage.perturb(f"{lost.node} loses its one port"):
        stage.make(link_down(stage.lab, lost.node, lost.members[0]))

    with stage.judge(f"{lost.node} is lost: its clients reach no disk by it, and by the others all have less"):
        stage.same(f"clients of {lost.node} that reach {server}", [], reached())
        with stage.as_if(one_port):
            change, site = by_others(stage, arrays, rest)
            others = stage.make(change)
            stage.same("by the others", theirs, reached())
            with stage.as_if(site):
                fewer = play_by("one port, one lost", rest)
        due, whole = carried_mb(stage, arrays, rest), carried_mb(stage, arrays, all_of)
        for way, rate in fewer.items():
            judge_ratio(stage, f"one lost, {way}", due[way] / whole[way], rate.seen, peak[way].seen, "the peak")

    with stage.contrast("with two ports a server the same cable costs nothing"):
        others.undo()
        single.undo()
        kept = without_member(stage.site, lost.port(lost.members[0]))
        stage.until(f"ports of {lost.node}", lambda: up(lost), is_=1, within_s=60)
        agreed(stage, *(channel for channel in channels.values() if channel != lost))
        stage.same(f"clients of {lost.node} that reach {server}, two ports", theirs, reached())
        with stage.as_if(kept):
            for way, rate in play_by("two ports, one lost", all_of).items():
                judge_ratio(stage, f"two ports, one lost, {way}", 1, rate.seen, peak[way].seen, "the peak")

    with stage.restore("all ports are up"):
        agreed(stage, *channels.values())
        stage.same("ports", 2 * len(channels), sum(up(channel) for channel in channels.values()))
        show(stage, "by the ports that servers have to the disks", "ports", rows)
