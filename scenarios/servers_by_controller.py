"""Servers before two controllers: each carries its port's rate, and only of the controller that it is at.

Claim: with one server at each controller clients have what two servers' ports carry, with two at each twice that, until
what the controllers do is reached: all servers together carry more than that, which makes the block safe. Where one
controller has a server less than the other, it gives less by what that one's port would carry more, and what the other
controller's servers have to spare is no use to it.

Cause: what lies on a controller's disks comes by its own servers; ports and controllers are two bounds, each by itself.

Source: GPFS Best Practices, "DS5300": 4500 MB/s written and 5500 read before eight servers with a 10 gigabit port each
(725 MB/s possible, 700 required), two controllers: a "safe" configuration with more servers than it takes.
"""

from collections.abc import Mapping, Sequence

from causeway.plan.filesystems.spread import Direction
from causeway.plan.paths import path
from causeway.scenario.cast import Arrays, Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import Rate, carried_mb, evenly, judge, place, show, work
from causeway.scenario.words.routes import next_hop
from causeway.scenario.words.storage import by_others, judge_ratio, port_mb

Gateways = Mapping[str, Sequence[str]]


def cast(ask: Ask) -> Arrays:
    return ask.arrays(2, 3)


def play(stage: Stage, cast: Arrays) -> None:
    all_of = {server: cast.gateways(server) for server in cast.servers}
    most = min(len(those) for those in all_of.values())
    one_mb = port_mb(stage, cast, all_of[cast.servers[0]][0])
    rows: dict[str, Mapping[Direction, Rate]] = {}

    with stage.arrange("each client has an empty file at each controller"):
        placed = place(stage, cast)

    def first(each: int) -> Gateways:
        return {server: those[:each] for server, those in all_of.items()}

    def play_by(gateways: Gateways) -> None:
        """All at work by some of the servers, beside what these and the controllers carry."""
        total = sum(map(len, gateways.values()))
        change, site = by_others(stage, cast, gateways)
        made = stage.make(change)
        with stage.as_if(site):
            seen = work(stage, cast, placed, evenly(stage, cast, gateways))
        made.undo()
        rates = {way: ends.apart() for way, ends in seen.items()}
        judge(stage, f"{total} servers", rates)
        rows[str(total)] = rates
        for way, due in carried_mb(stage, cast, gateways).items():
            judge_ratio(stage, f"{total} servers, {way}", due / one_mb, rates[way].seen, one_mb, "a server's port")

    with stage.healthy("by all servers clients have what both controllers do, which is less than all ports carry"):
        play_by(all_of)
        for way, rate in rows[str(2 * most)].items():
            stage.holds(f"ports to spare, {way}", 2 * most * one_mb > rate.due, f"{2 * most * one_mb:.1f}")

    with stage.perturb("clients go by one server of each controller"):
        fewest = first(1)

    with stage.judge("it is what two ports carry, whatever the controllers could do"):
        play_by(fewest)

    with stage.contrast("with each pair of servers more it grows by two ports, until it is the controllers'"):
        for each in range(2, most):
            play_by(first(each))

    with stage.judge("one server less than all takes from its controller what the other's servers cannot give"):
        less = dict(all_of) | {cast.servers[0]: all_of[cast.servers[0]][: most - 1]}
        play_by(less)

    with stage.restore("clients go by all servers again"):
        pairs = [(client, stage.site.known_by(server).address) for client in cast.clients for server in cast.servers]
        due = [str(path(stage.site, client, to).hops[0].next_hop) for client, to in pairs]
        stage.same("whom the clients go by", due, [next_hop(stage, client, to) for client, to in pairs])
        order = sorted(rows, key=int)
        show(stage, "by the number of servers", "servers", {total: rows[total] for total in order})
