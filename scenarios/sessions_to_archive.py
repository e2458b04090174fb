"""Files come back from an archive by sessions with a link each: as many are needed as links make the required rate.

Claim: each session has its own link's rate, and so many together as many times that, whatever the filesystem could
take. The least number of them that makes what is required does, and one less does not. Sessions that send a file each
to the archive have no more than one disk reads, whatever its link carries.

Cause: each client of the archive has one link to it; a file is whole on one server's disk.

Source: LLNL, milestone 464, "Archival Interface", and "Milestone Performance Results": nine ftp sessions on nine
nodes move 1.042 GB/s, where 1 GB/s is required. That a session has one Gigabit link is ours, and so is what is
required where another site plays: what one link less than all carry does not make.
"""

from causeway.report.result import Table
from causeway.scenario.cast import Archive, Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.archive import judge_sessions, least_sessions, link_mb, required_mb, sessions
from causeway.scenario.words.arrays import File, place, take_away
from causeway.scenario.words.storage import array_mb


def cast(ask: Ask) -> Archive:
    return ask.archive(4)


def play(stage: Stage, cast: Archive) -> None:
    movers, one_mb, disk = cast.movers, link_mb(stage, cast), array_mb(stage, cast)
    required, enough = required_mb(stage, cast), least_sessions(stage, cast)
    rows: list[list[str]] = []

    with stage.arrange("each client has an empty file, each on another server"):
        placed = place(stage, cast, [File(*pair) for pair in zip(movers, cast.servers, strict=False)])

    def get(n: int, met: bool) -> None:
        seen = sum(sessions(stage, cast, placed, movers[:n], "get"))
        title = f"{n} sessions get"
        judge_sessions(stage, title, n * min(one_mb, disk["write"]), seen)
        stage.same(f"{title}: {required:.1f} MB/s are met", met, seen >= required)
        rows.append([str(n), "get", f"{n * one_mb:.1f}", f"{seen:.1f}", "met" if met else "not met"])

    with stage.healthy(f"{enough} sessions on {enough} nodes have what is required"):
        get(1, False)
        get(enough, True)

    with stage.perturb("one of them is not there"):
        fewer = enough - 1

    with stage.judge("the others do not make it"):
        get(fewer, False)

    with stage.contrast("what they send to the archive comes from one disk each, which bounds where it reads less"):
        seen = sum(sessions(stage, cast, placed, movers[:enough], "put"))
        most = enough * min(one_mb, disk["read"])
        stage.holds("sessions put: no more than disks read", seen <= most * 1.01, f"{seen:.1f} of {most:.1f} MB/s")
        rows.append(
            [str(enough), "put", f"at most {most:.1f}", f"{seen:.1f}", "met" if seen >= required else "not met"]
        )

    with stage.restore("with all of them it is what is required again"):
        get(enough, True)
        take_away(stage, placed)
        stage.show(
            Table(f"MB/s of all sessions; required: {required:.1f}", ["sessions", "", "computed", "measured", ""], rows)
        )
