"""One array of a stripe is slow, and all files are: each server does as much as the slowest.

Claim: while one of the servers' cables carries a part of what the others do, what clients write together is that part
of what it was, not what all cables carry together. Each server looked at by itself says which one it is. With its cable
as it was all is as fast as before.

Cause: what is written to a stripe is done when the last of its parts is.

Source: CITA, "Xe cluster details", Events: two disks of an array read 49 MB/s where the others read 72, until they were
reseated. Here it is an array of four, by its cable.
"""

from causeway.plan.paths import path
from causeway.scenario.cast import Ask, Striped
from causeway.scenario.stage import Stage
from causeway.scenario.words.fabric import slower
from causeway.scenario.words.files import Both, both_ways, judge_files
from causeway.scenario.words.storage import clear, judge_ratio, show
from causeway.scenario.words.streams import Lone, near_rate, one_stream

#: The part of its rate that the slow one has: 49 of 72 MB/s.
PART = 49 / 72
#: Of each client's file.
SIZE_MIB = 96


def cast(ask: Ask) -> Striped:
    return ask.striped(bound=True)


def play(stage: Stage, cast: Striped) -> None:
    slow, port = list(cast.ports.items())[1]
    rate, client = stage.site.sends_mbit(port), cast.clients[0]
    network = path(stage.site, client, stage.site.known_by(slow).address).hops[0].network

    def files(title: str) -> Both:
        both = both_ways(stage, cast.filesystem, cast.clients, size_mib=SIZE_MIB, shared=False, readers=2)
        judge_files(stage, title, both)
        rows[title] = both
        return both

    def alone(title: str) -> dict[str, Lone]:
        """What each server gives one client."""
        seen = {server: one_stream(stage, server, client, network) for server in cast.servers}
        for server, lone in seen.items():
            near_rate(stage, f"{title}: {server} alone", lone)
        return seen

    rows: dict[str, Both] = {}
    stage.defer(lambda: clear(stage, cast), "the files are gone")
    with stage.healthy("clients have what all servers' cables carry"):
        whole = files("as built")

    with stage.perturb(f"{slow} does {PART:.3f} of what it did"):
        change, site = slower(stage, [port], round(rate * PART), f"{port} is slow")
        bad = stage.make(change)

    with stage.judge("all files are written as if every server were as slow"), stage.as_if(site):
        less = files(f"{slow} slow")
        judge_ratio(stage, "written", PART, less.written.measured_mb, whole.written.measured_mb, "what it was")

    with stage.judge("each by itself: one is slow"), stage.as_if(site):
        seen = alone("looked for")
        stage.same("the slowest", slow, min(seen, key=lambda server: seen[server].rate_mbit))

    with stage.contrast("with its cable as it was all is as fast as before"):
        bad.undo()
        again = files("as built again")
        judge_ratio(stage, "written again", 1, again.written.measured_mb, whole.written.measured_mb, "what it was")

    with stage.restore("each server gives as much as the others"):
        alone("afterwards")
        show(stage, "by what their servers do", "servers", rows)
