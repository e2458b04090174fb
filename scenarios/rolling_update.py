"""File servers are updated one after the other while a job writes; who does not wait for healing takes the job away.

Claim: a server whose daemon is shut down, updated and started again costs a job that writes no error and hardly a
moment: the others' parity stands in for it. What it has missed is healed once it is back. Where the next one waits for
that, all have the new level at the end, and nothing is lost. Where it does not, a file lacks two servers at once, one
more than its parity bears: the job ends with an error, though never were two daemons down. What it leaves behind is
healed only after somebody has written there again: the servers do not agree when their directory was changed.

Cause: a server that is back is not whole yet. Until its clients have found it, and it is healed, it counts as missing.

Source: Redpaper, "GPFS software installation": the nodes of a cluster had one PTF level, and later, in production, all
of them another one. How that was done it does not say.
"""

from causeway.scenario.cast import Ask, Sharing
from causeway.scenario.stage import Stage
from causeway.scenario.words.records import judge_written, writing
from causeway.scenario.words.servers import agree, due_whole, levels, shut_down, updated, whole

#: How many records a job writes, one a second, for each server that is updated meanwhile.
RECORDS = 25
#: How long a daemon is down (seconds), how long a record may take meanwhile, and how long healing; how often it is
#: looked whether that is done, for which each client and each server is asked.
DOWN_S, MOMENT_S, HEALED_S, LOOK_S = 3, 2, 120, 1


def cast(ask: Ask) -> Sharing:
    return ask.sharing(parity=True)


def play(stage: Stage, cast: Sharing) -> None:
    name, (client, reader) = cast.filesystem, cast.clients
    servers, due = stage.site.servers(name), due_whole(stage, client, name)
    file, count = f"{stage.site.topology.filesystems[name].mount_point}/records", RECORDS * len(servers)

    def state() -> tuple[str, int]:
        return whole(stage, client, name)

    def is_whole() -> None:
        what = f"servers that {client} reaches, and what is to be healed"
        stage.until(what, state, is_=due, within_s=HEALED_S, poll_s=LOOK_S)

    with stage.healthy("all servers have one level, and nothing is to be healed"):
        before = levels(stage, name)
        stage.same("levels", 1, len(set(before.values())))
        stage.same("servers, and what is to be healed", due, state())

    with (
        stage.perturb("a job writes, and the servers are updated in turn, each when the one before is whole"),
        writing(stage, client, file, count) as writer,
    ):
        for server in servers:
            with shut_down(stage, server):
                stage.make(updated(stage, server))
                stage.let_pass(DOWN_S, f"{server} is updated, and the job writes")
            is_whole()
        stage.holds("the job still writes when the last one is whole", writer.at_it)
        rolled = writer.written()
        judge_written(stage, "one after the other", reader, file, count, rolled)

    with stage.judge("it has noticed next to nothing, and all have the new level"):
        stage.holds(f"no record takes {MOMENT_S} s", rolled.longest_s < MOMENT_S, f"{rolled.longest_s:.2f} s")
        after = levels(stage, name)
        stage.same("levels, updated", 1, len(set(after.values())))
        stage.same("servers with their old level", [], [s for s in servers if after[s] == before[s]])

    with stage.contrast("who does not wait takes a second one away before the first is whole"):
        with writing(stage, client, file, count) as writer:
            for server in servers[:2]:
                with shut_down(stage, server):
                    stage.let_pass(DOWN_S, f"{server} is down, and the job writes")
            hurried = writer.written()
        stage.holds("the job ends with an error", hurried.error != "", hurried.error)
        stage.holds("before its end", len(hurried.calls) < count, f"{len(hurried.calls)} records")

    with stage.restore("the old level is back on all; after a write there, all is healed"):
        reached = f"servers that {client} reaches"
        stage.until(reached, lambda: state()[0], is_=due[0], within_s=HEALED_S, poll_s=LOOK_S)
        agree(stage, client, name)
        is_whole()
        stage.same("levels, as before", before, levels(stage, name))
