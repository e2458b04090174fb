"""A disk array's cable is pulled for a minute: a job waits or goes on, by its patience, and loses nothing.

Claim: a job that syncs what it writes, on a client that is patient with a silent server, waits until the cable is back
and goes on without an error; parity does not help it, for it has not given the server up. One on a client that is not
waits for a while, and goes on with the other servers while the cable is still out. Either way all that they were told
to be written is there, and another node reads it.

Cause: a write to a stripe waits for each server that counts as there. TCP keeps what was not acknowledged, and sends it
again when it can.

Source: CITA, "Xe cluster details", Events, 23 March: an array was unplugged for a minute while a job wrote; many
errors, and the files were whole. That node hung and was reset, which is not shown.
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from causeway.lab.faults import link_down
from causeway.scenario.cast import Ask, Striped
from causeway.scenario.stage import Stage
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.records import Written, judge_written, patience, writing

#: Seconds that the cable is out, and records that a job writes meanwhile and before, one each second.
OUT_S, BEFORE_S, RECORDS = 60, 5, 15
#: How long a silent server is waited for (network.ping-timeout): as clients do here, and for twice the time.
USUAL_S, PATIENT_S = 10, 120
#: When TCP has sent again at the latest once the way is back: eight times twice as late as before (RTO of 0.2 s).
TCP_S = 0.2 * (2**9 - 1)
#: What giving up and going on take on top (seconds). A client asks a server that often whether it is there, and waits
#: as long for the answer: so it is given up within twice the time.
SPARE_S = 4
#: How long healing and connecting may take.
PATIENCE_S = 60


def cast(ask: Ask) -> Striped:
    return ask.striped()


def play(stage: Stage, cast: Striped) -> None:
    name, (patient, other, *_) = cast.filesystem, cast.clients
    server, port = next(iter(cast.ports.items()))
    at = stage.site.topology.filesystems[name].mount_point
    whole, nodes = due_mounts(stage, patient)[name], (patient, other)

    def servers(node: str) -> str:
        return mounted(stage, node)[name]

    def write(title: str, meanwhile: Callable[[], None]) -> dict[str, Written]:
        """Both write at once; what each has written the other reads."""
        with ExitStack() as stack:
            files = {node: f"{at}/records.{node}" for node in nodes}
            writers = {n: stack.enter_context(writing(stage, n, file, RECORDS)) for n, file in files.items()}
            meanwhile()
            done = {node: writer.written() for node, writer in writers.items()}
            for node, reader in ((patient, other), (other, patient)):
                stage.until(f"servers that {node} reaches", partial(servers, node), is_=whole, within_s=PATIENCE_S)
                judge_written(stage, f"{title}: {node}", reader, files[node], RECORDS, done[node])
        return done

    def unplug() -> None:
        stage.let_pass(BEFORE_S, "the jobs write")
        cable = stage.make(link_down(stage.lab, port.node, port.device))
        stage.let_pass(OUT_S, f"{server}'s cable is out")
        cable.undo()

    with stage.arrange(f"{patient} waits for a silent server for {PATIENT_S} s, {other} for {USUAL_S} s"):
        patience(stage, name, [patient], PATIENT_S, USUAL_S)

    with stage.healthy("jobs on both write a record a second"):
        longest = max(done.longest_s for done in write("healthy", lambda: None).values())
        stage.holds("no record takes a second", longest < 1, f"{longest:.1f} s")

    with stage.perturb(f"{server} is unplugged for {OUT_S} s while they write"):
        jobs = write("unplugged", unplug)

    with stage.judge(f"{patient}'s job has waited until the cable was back, and nothing is lost"):
        took = jobs[patient].longest_s
        stage.holds(
            f"its longest record, {OUT_S} s and what TCP takes", OUT_S - 1 <= took <= TCP_S + SPARE_S, f"{took} s"
        )

    with stage.contrast(f"{other}'s has gone on while it was out"):
        took = jobs[other].longest_s
        in_time = USUAL_S - 1 <= took <= 2 * USUAL_S + SPARE_S
        stage.holds(f"its longest record, {USUAL_S} to {2 * USUAL_S} s", in_time, f"{took} s")

    with stage.restore("both reach all servers"):
        for node in nodes:
            stage.same(f"servers that {node} reaches", whole, servers(node))
