"""A job's time is what it computes and what it writes by the network's rate: who computes does not mind a slow one.

Claim: the same job takes longer by the slow network by as much as its bytes take longer there; a job that hardly writes
takes as long by either. At half the slow network's rate the first is slower by as much again as computed, and the
second as fast as before.

Cause: a job that waits for what it writes adds the two times up.

Source: CITA, "Xe cluster details", "Apps": job e took 16,598 s by InfiniBand and 18,819 s by Gigabit Ethernet (means of
two), job 3 5,093 and 5,143. Here 400 times less, and what a job computes and writes is declared: so much that the two
networks are as far apart as there. So what is found is that times add up, and what a third rate does.
"""

from causeway.report.result import Table
from causeway.scenario.cast import Ask, Transports
from causeway.scenario.stage import Stage
from causeway.scenario.words.computing import Job, timed
from causeway.scenario.words.fabric import slower
from causeway.scenario.words.files import TOLERANCE
from causeway.scenario.words.files import WHY as FILES_WHY
from causeway.scenario.words.storage import port_in
from causeway.scenario.words.transports import by_processes, megabytes, mount_anew, moved

#: The notes' jobs e and 3.
WRITES, COMPUTES = Job("e", 41.0, 53.4), Job("3", 12.72, 1.2)
#: What is written before, to see by which connections.
SIZE_MIB = 8
WITHIN = 0.02
WHY = "files are a tenth off at most, and the lesser part of it; after each pause TCP begins anew"


def cast(ask: Ask) -> Transports:
    return ask.transports(clients=2)


def play(stage: Stage, cast: Transports) -> None:
    nodes, networks = cast.clients, stage.site.topology.networks
    jobs = dict(zip(nodes, (WRITES, COMPUTES), strict=True))
    ports = [port_in(stage, node, cast.other) for node in nodes]
    rows: dict[str, dict[str, tuple[float, float]]] = {}

    def play_jobs(title: str) -> dict[str, float]:
        rate = by_processes(stage, cast, nodes[:1], 1, SIZE_MIB).due["write"]
        seen = timed(stage, cast.filesystem, jobs)
        rows[title] = {}
        for node, job in jobs.items():
            due = job.due_s(rate)
            stage.near(f"{title}: job {job.name}", round(due, 1), round(seen[node], 1), "s", within=WITHIN, why=WHY)
            rows[title][job.name] = due, seen[node]
        return seen

    with stage.healthy(f"two jobs by {cast.usual} take what they compute and write"):
        fast = play_jobs(cast.usual)

    with stage.perturb(f"their nodes go by {cast.other}"):
        change, site = moved(stage, nodes, cast.other)
        by_other = stage.make(change, then=lambda: mount_anew(stage, cast.filesystem, nodes))

    with stage.judge("who writes takes longer, who computes does not"), stage.as_if(site):
        slow = play_jobs(cast.other)
        stage.holds("who writes, by a tenth or more", slow[nodes[0]] > 1.1 * fast[nodes[0]], slow[nodes[0]])
        stage.holds("who computes, by a hundredth at most", slow[nodes[1]] < 1.01 * fast[nodes[1]], slow[nodes[1]])

    with stage.judge(f"at half the rate of {cast.other} as computed from that"), stage.as_if(site):
        change, half = slower(stage, ports, networks[cast.other].rate_mbit // 2, f"{cast.other} has half its rate")
        halved = stage.make(change)
        with stage.as_if(half):
            slowest = play_jobs(f"{cast.other}, half")
        stage.holds(
            "who computes, by three hundredths at most", slowest[nodes[1]] < 1.03 * fast[nodes[1]], slowest[nodes[1]]
        )

    with stage.contrast(f"by {cast.usual} they do not notice it"):
        by_other.undo()
        play_jobs(f"{cast.usual}, {cast.other} slow")
        halved.undo()

    with stage.restore(f"one writes as fast as it did by {cast.usual}"):
        seen = by_processes(stage, cast, nodes[:1], 2, megabytes(networks[cast.usual].rate_mbit) // 2)
        due, rate = round(seen.due["write"], 1), round(seen.seen["write"], 1)
        stage.near("MB/s written, afterwards", due, rate, "MB/s", within=TOLERANCE, why=FILES_WHY)
        lines = [[title, *(f"{s:.1f}" for pair in row.values() for s in pair)] for title, row in rows.items()]
        columns = ["by", "job e, computed", "measured", "job 3, computed", "measured"]
        stage.show(Table("Seconds", columns, lines))
