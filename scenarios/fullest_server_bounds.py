"""Files on many servers are done when the fullest one is: as many on each have all disks, one more on one takes much.

Claim: where each of the servers has two of some files their disks all work to the end. One file more makes three on
one server, and all wait for that one: together they have some two thirds of it. Of files whose servers come by
chance some server has twice as many and others have fewer, which takes more. Of twice as many files one more takes
less.

Cause: each file is on one server, each server has one disk, and who waits for all waits for the last.

Source: LLNL, milestone 464, Appendix B: file per process, the rate is that of the whole run; "our good results were
when numtasks == 56", four for each of 14 servers, and all of that cluster's counts of tasks are multiples of 14. The
reason is ours: the report gives none.
"""

from collections.abc import Sequence
from math import ceil

from causeway.scenario.cast import Ask, Platforms
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import File, Placed, as_they_come, judge, place, show, take_away
from causeway.scenario.words.platforms import Both, in_turn, work
from causeway.scenario.words.storage import judge_ratio

#: Files on each server, few and many.
FEW, MANY = 2, 4


def cast(ask: Ask) -> Platforms:
    return ask.platforms()


def play(stage: Stage, cast: Platforms) -> None:
    servers, rows = cast.servers, dict[str, Both]()
    few, many = FEW * len(servers), MANY * len(servers)
    chosen = in_turn(stage.site, cast.clients, servers, many + 1)

    with stage.arrange("clients have empty files, on servers in turn"):
        placed = place(stage, cast, chosen)

    def case(title: str, files: Sequence[File], at: Placed = placed) -> Both:
        rows[title] = work(stage, cast, at, files)
        judge(stage, title, rows[title])
        return rows[title]

    with stage.healthy(f"{FEW} files on one server have what its disk does, and {FEW} on each have all disks"):
        first = [file for file in chosen[:few] if file.server == servers[0]]
        one = case("one disk", first)

        def some(count: int, title: str) -> None:
            """The first so many files: the last of them may be one more on the first server."""
            due = count / ceil(count / len(servers))
            for way, rate in case(title, chosen[:count]).items():
                judge_ratio(stage, f"{title}, {way}", due, rate.seen, one[way].seen, "one disk")

        some(few, f"{few} files")

    with stage.perturb("one file more is on the first server"):
        more = few + 1

    with stage.judge("all wait for that one"):
        some(more, f"{more} files")

    with stage.perturb("each client has a file by whose name its server comes by chance"):
        named = as_they_come(stage, cast, cast.clients)
        counts = sorted((sum(file.server == server for file in named.names) for server in servers), reverse=True)

    with stage.judge(f"the fullest server has {counts[0]} of {len(named.names)}, and bounds"):
        title = f"{len(named.names)} files by chance"
        case(title, list(named.names), named)
        uneven = counts[0] >= 2 * counts[-1] and counts[0] > len(named.names) / len(servers) + 1
        stage.holds("some server has twice as many as another", uneven, " ".join(map(str, counts)))

    with stage.contrast(f"one more of {many} takes less"):
        some(many + 1, f"{many + 1} files")

    with stage.restore("one disk has what it had"):
        case("one disk, afterwards", first)
        take_away(stage, placed)
        show(stage, "by how many files there are", "files", rows)
