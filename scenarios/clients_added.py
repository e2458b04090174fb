"""Clients with one link each are added to a filesystem until its disks bound: each brings its link, and then nothing.

Claim: some clients directly on the servers' networks have what their links carry; so many more have as much more, until
it is what the disks do. Then one more is one more to share that. How many are needed for a part of what disks do is
that part by a client's link; reading, which the disks do slower, takes fewer than writing.

Cause: a client's one link is shared by nobody, and the servers' two links each carry more than their disk does.

Source: LLNL, milestone 464, "uBGL": I/O nodes are the clients, directly on the servers' network, with no need for
routers; 60 % of the least of network and disks is required, 80 % the target. How many I/O nodes it takes the report
does not say: it used all 128.
"""

from causeway.scenario.cast import Ask, Platforms
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import place, take_away
from causeway.scenario.words.platforms import (
    TARGET_MET,
    TOO_LITTLE,
    Row,
    evenly,
    judge,
    least_mb,
    leg_mb,
    show,
    work,
)
from causeway.scenario.words.storage import judge_ratio

#: How much less than disks clients' links must carry to bound: where both are alike, whoever has its data late keeps a
#: disk waiting, and neither is reached.
APART = 0.2


def cast(ask: Ask) -> Platforms:
    return ask.platforms()


def play(stage: Stage, cast: Platforms) -> None:
    clients, link_mb, rows = cast.direct, leg_mb(stage, cast), dict[int, Row]()
    least = least_mb(stage, cast, clients)
    few = [n for n in range(2, len(clients), 3) if n * link_mb < (1 - APART) * min(least.values())]
    files = {n: evenly(stage.site, cast, clients[:n]) for n in (*few, len(clients))}

    with stage.arrange("clients have empty files, as many on each server"):
        placed = place(stage, cast, list(dict.fromkeys(file for some in files.values() for file in some)))

    def of(n: int, title: str) -> None:
        rows[n] = Row(work(stage, cast, placed, files[n], n * link_mb), least)
        judge(stage, title, rows[n])
        for way, rate in rows[n].rates.items():
            due = min(n, least[way] / link_mb)
            judge_ratio(stage, f"{title}, {way}", due, rate.seen, link_mb, "a client's link")

    with stage.healthy(f"{few[0]} clients have what their links carry, which is too little"):
        of(few[0], f"{few[0]} clients")
        stage.same(f"what {few[0]} meet", TOO_LITTLE, rows[few[0]].seen)

    with stage.perturb("clients are added"):
        more = few[1:]

    with stage.judge("each brings its link"):
        for n in more:
            of(n, f"{n} clients")

    with stage.contrast(f"all {len(clients)} have what the disks do, which is less than their links carry"):
        of(len(clients), f"{len(clients)} clients")
        stage.same("what all meet", TARGET_MET, rows[len(clients)].seen)

    with stage.restore(f"{few[0]} are left, and have what they had"):
        of(few[0], f"{few[0]} afterwards")
        take_away(stage, placed)
        show(stage, "by their number", "clients", {str(n): rows[n] for n in sorted(rows)})
