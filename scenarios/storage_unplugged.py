"""A disk array's cable is pulled for a minute: a job goes on or waits, by its patience, and loses nothing.

Claim: a job that syncs what it writes waits for a while, gives the array up, and goes on with the others while the
cable is still out. One whose client is more patient with a silent server waits until the cable is back, and goes on
without an error; parity does not help it, for it has not given the array up. Either way all that they were told to be
written is there, and another node reads it.

Cause: a write to a stripe waits for each server that counts as there. TCP keeps what was not acknowledged, and sends it
again when it can.

Source: CITA, "Xe cluster details", Events, 23 March: an array was unplugged for a minute while a job wrote; many
errors, and the files were whole. That node hung and was reset, which is not shown.
"""

from collections.abc import Callable

from causeway.lab.faults import link_down
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Striped
from causeway.scenario.stage import Stage
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.records import judge_written, patience, writing

#: Seconds that the cable is out, and records that a job writes meanwhile and before, one each second.
OUT_S, BEFORE_S, RECORDS = 60, 5, 15
#: How long a silent server is waited for (network.ping-timeout): as clients do here, and for twice the time.
USUAL_S, PATIENT_S = 10, 120
#: When TCP has sent again at the latest once the way is back: eight times twice as late as before. Its first is 0.2 s
#: after what was not acknowledged, and a round trip's deviation, in steps of 10 ms: `ss` shows 0.21, some 0.22.
TCP_S = 0.22 * (2**9 - 1)
#: What giving up and going on take on top (seconds). A client asks a server that often whether it is there, and waits
#: as long for the answer: so it is given up within twice the time.
SPARE_S = 4
#: How long healing and connecting may take.
PATIENCE_S = 60


def cast(ask: Ask) -> Striped:
    return ask.striped()


def play(stage: Stage, cast: Striped) -> None:
    name, (client, reader, *_) = cast.filesystem, cast.clients
    server, port = next(iter(cast.ports.items()))
    file = f"{stage.site.topology.filesystems[name].mount_point}/records.{client}"
    whole = due_mounts(stage, client)[name]
    rows: list[list[str]] = []

    def servers() -> str:
        return mounted(stage, client)[name]

    def longest_s(title: str, meanwhile: Callable[[], None]) -> float:
        """How long the longest record of a job takes that another node then reads."""
        with writing(stage, client, file, RECORDS) as writer:
            meanwhile()
            done = writer.written()
            stage.until(f"{title}: servers that {client} reaches", servers, is_=whole, within_s=PATIENCE_S)
            judge_written(stage, title, reader, file, RECORDS, done)
        rows.append([title, f"{done.longest_s:.1f}", str(len(done.calls)), done.error or "none"])
        return done.longest_s

    def unplug() -> None:
        stage.let_pass(BEFORE_S, "the job writes")
        cable = stage.make(link_down(stage.lab, port.node, port.device))
        stage.let_pass(OUT_S, f"{server}'s cable is out")
        cable.undo()

    with stage.healthy(f"a job on {client} writes a record a second"):
        took = longest_s("healthy", lambda: None)
        stage.holds("no record takes a second", took < 1, f"{took:.1f} s")

    with stage.perturb(f"{server} is unplugged for {OUT_S} s while it writes"):
        took = longest_s("unplugged", unplug)

    with stage.judge("it has gone on while the cable was out, and nothing is lost"):
        in_time = USUAL_S - 1 <= took <= 2 * USUAL_S + SPARE_S
        stage.holds(f"its longest record, {USUAL_S} to {2 * USUAL_S} s", in_time, f"{took:.1f} s")

    with stage.contrast(f"with a patience of {PATIENT_S} s it waits until the cable is back, and nothing is lost"):
        patience(stage, name, [client], PATIENT_S, USUAL_S)
        took = longest_s("unplugged, patient", unplug)
        until_back = OUT_S - 1 <= took <= TCP_S + SPARE_S
        stage.holds(f"its longest record, {OUT_S} s and what TCP takes", until_back, f"{took:.1f} s")
        stage.show(Table("A job's records", ["when", "the longest, s", "written", "error"], rows))

    with stage.restore("its client reaches all servers"):
        stage.same(f"servers that {client} reaches", whole, servers())
