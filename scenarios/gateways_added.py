"""Gateways are added one by one: each passes on its link's rate, until the way to the filesystem is full.

Claim: clients that go by one gateway have its link among them, and one client with as many tasks has it, too; by two
they have twice that. The rate grows by a gateway for each one more until it is what the cable to the filesystem
carries; whoever comes then adds nothing. Where that cable carries what all gateways do, each of them counts.

Cause: what clients send goes by their gateway's one link, and all gateways' links meet at one cable.

Source: GPFS at NERSC, sections IV and VIII: 40 Gbit/s leave the cluster, "around 20Gbps all the way into NGF"; four
nodes are "sufficient to match"; "easily scalable as the I/O requirements grow", where the rates differ enough.
"""

from collections.abc import Mapping
from itertools import pairwise
from math import ceil

from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.scenario.cast import Ask, Gateways
from causeway.scenario.stage import Stage
from causeway.scenario.words.fabric import slower
from causeway.scenario.words.files import Both, judge_files, show_files
from causeway.scenario.words.gateways import files, gateway_mb, going_by, judge_next, narrow_mb
from causeway.scenario.words.storage import judge_ratio

#: A gateway adds something when it adds this part of one.
ADDS = 0.5
#: Tasks on a client that has a gateway for itself: one alone waits for its calls.
TASKS = 4


def cast(ask: Ask) -> Gateways:
    return ask.gateways(3)


def play(stage: Stage, cast: Gateways) -> None:
    gateways, servers = cast.gateways, stage.site.servers(cast.filesystem)
    about = stage.site.topology.filesystems[cast.filesystem]
    one_mb, most_mb = gateway_mb(stage.site, cast, cast.clients[0]), narrow_mb(stage.site, cast)
    seen: dict[int, Both] = {}

    def work(title: str, due_mb: float, clients: list[str], tasks: int = 1) -> Both:
        both = files(stage, cast, clients, due_mb, tasks)
        judge_files(stage, title, both)
        return both

    def judge(title: str, both: Both, due: float, of_mb: Mapping[Direction, float], of: str) -> None:
        for way, outcome in both.ways.items():
            judge_ratio(stage, f"{title}, {way}", due, outcome.measured_mb, of_mb[way], of)

    with stage.healthy(f"by all {len(gateways)} gateways clients have what {cast.narrow} carries"):
        seen[len(gateways)] = work("all gateways", most_mb["write"], cast.clients)
        judge("all gateways", seen[len(gateways)], 1, most_mb, "the cable")

    with stage.perturb("clients go by one gateway, by two, ... in place of their own"):
        first = gateways[:1]

    with stage.judge("by one it is what its link carries, for any number of tasks"), going_by(stage, cast, first):
        seen[1] = work("one gateway", one_mb["write"], cast.clients)
        judge("one gateway", seen[1], 1, one_mb, "its link")
        judge("one client", work("one client", one_mb["write"], cast.clients[:1], TASKS), 1, one_mb, "its link")

    with stage.judge("with each gateway more it grows by that one's link, until the cable is full"):
        for n in range(2, len(gateways)):
            with going_by(stage, cast, gateways[:n]):
                seen[n] = work(f"{n} gateways", most_mb["write"], cast.clients[: len(cast.clients) // n * n])
        counts = sorted(seen)
        for way in DIRECTIONS:
            rates, due = [seen[n].ways[way].measured_mb for n in counts], most_mb[way] / one_mb[way]
            for n, rate in zip(counts[1:], rates[1:], strict=True):
                judge_ratio(stage, f"{n} gateways, {way}", min(n, due), rate, rates[0], "one gateway")
            adding = sum(more - rate > ADDS * rates[0] for rate, more in pairwise(rates))
            stage.same(f"gateways that are enough, {way}", ceil(round(due, 2)), 1 + adding)
        show_files(
            stage, "by the number of gateways", [str(n) for n in counts], [seen[n] for n in counts], of="gateways"
        )

    each = min(len(gateways), len(servers) - about.parity)  # else which servers files are read from would count, too
    wide_mbit = round(each * stage.site.sends_mbit(cast.narrow) * one_mb["read"] / most_mb["read"])
    with stage.contrast(f"with a cable for {each} gateways each of them counts"):
        change, site = slower(stage, [cast.narrow], wide_mbit, "the cable to the filesystem is wide")
        wide = stage.make(change)
        with stage.as_if(site):
            both = work("a wide cable", each * one_mb["write"], cast.clients[:each], TASKS)
        judge("a wide cable", both, each, one_mb, "a gateway's link")
        wide.undo()

    with stage.restore("each client goes by its own gateway again"):
        judge_next(stage, cast)
