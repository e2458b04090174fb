"""A disk array's cable is pulled for a minute: a job waits or goes on, by its patience, and loses nothing.

Claim: where clients are patient with a silent server, a job that syncs what it writes waits until the cable is back,
and goes on without an error; parity does not help it, for nobody has given the server up. Where they are not, it waits
until then, and goes on with the others while the cable is still out. Either way all that it was told to be written is
there, and another node reads it.

Cause: a write to a stripe waits for each server that counts as there. TCP keeps what was not acknowledged, and sends it
again when it can.

Source: CITA, "Xe cluster details", Events, 23 March: an array was unplugged for a minute while a job wrote; many
errors, and the files were whole. That node hung and was reset, which is not shown.
"""

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
    name, (client, reader, *_) = cast.filesystem, cast.clients
    server, port = next(iter(cast.ports.items()))
    file = f"{stage.site.topology.filesystems[name].mount_point}/records"
    whole = due_mounts(stage, client)[name]

    def servers(node: str) -> str:
        return mounted(stage, node)[name]

    def unplugged(title: str) -> Written:
        with writing(stage, client, file, RECORDS) as writer:
            stage.let_pass(BEFORE_S, "the job writes")
            cable = stage.make(link_down(stage.lab, port.node, port.device))
            stage.let_pass(OUT_S, f"{server}'s cable is out")
            cable.undo()
            done = writer.written()
            for node in (client, reader):
                stage.until(f"servers that {node} reaches", partial(servers, node), is_=whole, within_s=PATIENCE_S)
            judge_written(stage, title, reader, file, RECORDS, done)
        return done

    with stage.arrange(f"{client} waits for a silent server for {PATIENT_S} s"):
        patience(stage, name, [client], PATIENT_S, USUAL_S)

    with stage.healthy("a job writes a record a second"):
        with writing(stage, client, file, RECORDS) as writer:
            done = writer.written()
            judge_written(stage, "healthy", reader, file, RECORDS, done)
        stage.holds("no record takes a second", done.longest_s < 1, f"{done.longest_s:.1f} s")

    with stage.perturb(f"{server} is unplugged for {OUT_S} s while it writes"):
        waited = unplugged("patient")

    with stage.judge("it waits until the cable is back, and nothing is lost"):
        in_time = OUT_S - 1 <= waited.longest_s <= TCP_S + SPARE_S
        stage.holds(f"the longest record, {OUT_S} s and what TCP takes", in_time, f"{waited.longest_s:.1f} s")

    with stage.contrast(f"who waits for {USUAL_S} s goes on while the cable is out"):
        patience(stage, name, [client], USUAL_S, USUAL_S)
        went_on = unplugged("impatient")
        in_time = USUAL_S - 1 <= went_on.longest_s <= 2 * USUAL_S + SPARE_S
        stage.holds(f"the longest record, {USUAL_S} to {2 * USUAL_S} s", in_time, f"{went_on.longest_s:.1f} s")

    with stage.restore("all reach all servers"):
        for node in (client, reader):
            stage.same(f"servers that {node} reaches", whole, servers(node))
