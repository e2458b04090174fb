"""Files on many servers are done when the fullest one is: as many on each have all disks, one more on one takes much.

Claim: where each of the servers has two of some files their disks all work to the end. One file more makes three on
one server, and all wait for that one: together they have some two thirds of it. Of files whose servers come by chance
some server has twice as many and others have none, which takes more. Many files even that out: one more of many takes
little.

Cause: each file is on one server, each server has one disk, and who waits for all waits for the last.

Source: LLNL, milestone 464, Appendix B: file per process, the rate is that of the whole run; "our good results were
when numtasks == 56", and all of that cluster's counts of tasks are multiples of 14, the number of servers. The reason
is ours: the report gives none.
"""

from causeway.scenario.cast import Ask, Platforms
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import File, as_they_come, judge, place, show
from causeway.scenario.words.platforms import Both, disks_mb, work
from causeway.scenario.words.storage import judge_ratio


def cast(ask: Ask) -> Platforms:
    return ask.platforms()


def play(stage: Stage, cast: Platforms) -> None:
    servers, all_mb = cast.servers, disks_mb(stage, cast)
    n, clients = len(servers), [*cast.direct, *cast.by]
    rows: dict[str, Both] = {}
    chosen = [File(clients[k % len(clients)], servers[k % n]) for k in range(6 * n + 1)]

    with stage.arrange("clients have empty files, on servers in turn"):
        placed = place(stage, cast, chosen)

    def some(count: int, title: str) -> None:
        """The first so many files: the last of them may be one more on the first server."""
        rows[title] = work(stage, cast, placed, chosen[:count])
        judge(stage, title, rows[title])
        for way, rate in rows[title].items():
            due = count / n / -(-count // n)
            judge_ratio(stage, f"{title}, {way}", due, rate.seen, all_mb[way], "all disks")

    with stage.healthy("two files on each server have what all disks do"):
        some(2 * n, f"{2 * n} files")

    with stage.perturb("one file more is on the first server"):
        more = 2 * n + 1

    with stage.judge("all wait for that one"):
        some(more, f"{more} files")

    with stage.perturb("as many files as at first have names by which their servers come by chance"):
        named = as_they_come(stage, cast, clients[: 2 * n])
        counts = sorted((sum(file.server == server for file in named.names) for server in servers), reverse=True)

    with stage.judge(f"the fullest server has {counts[0]} of them, and bounds"):
        title = f"{2 * n} files by chance"
        rows[title] = work(stage, cast, named, list(named.names))
        judge(stage, title, rows[title])
        stage.holds("some server has more than two", counts[0] > 2, " ".join(map(str, counts)))

    with stage.contrast("of many files one more takes little"):
        for count in (6 * n, 6 * n + 1):
            some(count, f"{count} files")

    with stage.restore("two on each again"):
        some(2 * n, f"{2 * n} files, afterwards")
        show(stage, "by how many files there are", "files", rows)
