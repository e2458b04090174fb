"""File servers are updated one after the other while a job writes; who does not wait for healing takes the job away.

Claim: a server whose daemon is shut down, updated and started again costs a job that writes no error and hardly a
moment: the others' parity stands in for it. What it has missed is healed once it is back. Where the next one waits for
that, all have the new level at the end, and nothing is lost. Where it does not, a file lacks two servers at once, one
more than its parity bears: the job ends with an error, though never were two daemons down.

Cause: a server that is back is not whole yet. Until its clients have found it, and it is healed, it counts as missing.

Source: Redpaper, "GPFS software installation": the nodes of a cluster had one PTF level, and later, in production, all
of them another one. How that was done it does not say.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from causeway.lab.changes.files import file_changed
from causeway.lab.filesystems import driver_of
from causeway.lab.filesystems.administrators import mc, member, place, rows
from causeway.scenario.cast import Ask, Sharing
from causeway.scenario.stage import Stage
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.records import judge_written, writing

#: A file of the commands on each server, and an update of it that changes nothing but its bytes.
UPDATED, UPDATE = "/usr/lpp/mc/mc/table.py", "# updated\n"
#: How many records a job writes, one a second, for each server that is updated meanwhile.
RECORDS = 25
#: How long a daemon is down (seconds), how long a record may take meanwhile, and how long healing.
DOWN_S, MOMENT_S, HEALED_S = 3, 2, 120


def cast(ask: Ask) -> Sharing:
    return ask.sharing(parity=True)


def play(stage: Stage, cast: Sharing) -> None:
    lab, name, (client, reader) = stage.lab, cast.filesystem, cast.clients
    about, servers = stage.site.topology.filesystems[name], stage.site.servers(name)
    administrator, file = place(lab, about.owner), f"{about.mount_point}/records"
    whole = (due_mounts(stage, client)[name], 0)

    def levels() -> dict[str, str]:
        said = {row["node_name"]: row["level"] for row in rows(lab, administrator, "mcgetstate", "-a", "-L")}
        return {server: said[member(lab, server)] for server in servers}

    def state() -> tuple[str, int]:
        """How many servers the job's node reaches, and what is left to heal."""
        return mounted(stage, client)[name], driver_of(lab, name).unhealed(lab, name)

    def heal() -> None:
        stage.until("servers, and what is to be healed", state, is_=whole, within_s=HEALED_S)

    @contextmanager
    def down(server: str) -> Iterator[None]:
        mc(lab, server, "mcshutdown").must()
        yield
        stage.let_pass(DOWN_S, f"{server} is down, and the job writes")
        mc(lab, server, "mcstartup").must()

    with stage.healthy("all servers have one level, and nothing is to be healed"):
        before = levels()
        stage.same("levels", 1, len(set(before.values())))
        stage.same("servers, and what is to be healed", whole, state())

    with (
        stage.perturb("a job writes, and the servers are updated in turn, each when the one before is healed"),
        writing(stage, client, file, RECORDS * len(servers)) as writer,
    ):
        for server in servers:
            with down(server):
                stage.make(file_changed(lab, server, UPDATED, lab.read(server, UPDATED) + UPDATE))
            heal()
        stage.holds("the job still writes when the last one is healed", writer.at_it)
        rolled = writer.written()
        judge_written(stage, "one after the other", reader, file, RECORDS * len(servers), rolled)

    with stage.judge("it has noticed next to nothing, and all have the new level"):
        stage.holds(f"no record takes {MOMENT_S} s", rolled.longest_s < MOMENT_S, f"{rolled.longest_s:.2f} s")
        after = levels()
        stage.same("levels, updated", 1, len(set(after.values())))
        stage.same("servers with their old level", [], [s for s in servers if after[s] == before[s]])

    with stage.contrast("who does not wait takes a second one away before the first is whole"):
        with writing(stage, client, file, RECORDS * 2) as writer:
            for server in servers[:2]:
                with down(server):
                    pass
            hurried = writer.written()
        stage.holds("the job ends with an error", hurried.error != "", hurried.error)
        stage.holds("before its end", len(hurried.calls) < RECORDS * 2, f"{len(hurried.calls)} records")

    with stage.restore("the old level is back on all, and nothing is to be healed"):
        heal()
        stage.same("levels, as before", before, levels())
