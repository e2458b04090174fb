"""Files go as fast as nodes have links: more nodes are faster, more processes on one node are not.

Claim: by a network that is slow beside the servers' two nodes write twice as much as one, and four four times, while
two or four processes on one node have together what one has. Reading grows with nodes, too, as far as the servers that
have their files' parts are not the same. By a network on which one node has nearly all that the servers give, more
nodes add little, either.

Cause: all processes of a node share its link, and all nodes the servers'.

Source: CITA, "Xe cluster details", "Lustre to SAS": writing grows with the number of nodes more than with that of
processes, and reading is flat from the first node on. Its rates were RAID's and CPUs'.
"""

from causeway.plan.filesystems.spread import DIRECTIONS
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Transports
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import TOLERANCE, WHY
from causeway.scenario.words.transports import Both, by_processes, megabytes, mount_anew, moved

#: Nodes with a process each, and processes on one node.
COUNTS = (1, 2, 4)
#: By the fast network: one alone waits for its calls' answers, and does a tenth less than the link carries.
BUSY = 2


def cast(ask: Ask) -> Transports:
    return ask.transports(clients=max(COUNTS))


def play(stage: Stage, cast: Transports) -> None:
    nodes, networks = cast.clients, stage.site.topology.networks
    rows: dict[str, Both] = {}

    def work(title: str, count: int, processes: int, network: str) -> Both:
        """A node's files of a size that its link carries in a while, or its part of what the servers' carry."""
        size = megabytes(networks[network].rate_mbit) // (2 * count if network == cast.usual else 1)
        seen = by_processes(stage, cast, nodes[:count], processes, size)
        # by the fast network servers bound what is read: several files of a node have their parts on more of these
        for way in DIRECTIONS if network == cast.other else DIRECTIONS[:1]:
            what = f"{title}: {way}"
            stage.near(what, round(seen.due[way], 1), round(seen.seen[way], 1), "MB/s", within=TOLERANCE, why=WHY)
        rows[title] = seen
        return seen

    def judge_times(title: str, more: Both, one: Both) -> None:
        for way in DIRECTIONS:
            due, seen = (
                round(rates[way] / first[way], 2) for rates, first in ((more.due, one.due), (more.seen, one.seen))
            )
            stage.near(f"{title}, {way}: in rates of one", due, seen, "", within=TOLERANCE, why=WHY)

    with stage.arrange(f"{len(nodes)} nodes go by {cast.other}"):
        change, slow = moved(stage, nodes, cast.other)
        by_other = stage.make(change, then=lambda: mount_anew(stage, cast.filesystem, nodes))

    with stage.healthy("one process on one node has the node's link"), stage.as_if(slow):
        one = work(f"{cast.other}, 1 node", 1, 1, cast.other)

    with stage.perturb("more processes work, on more nodes or on one"), stage.as_if(slow):
        on_many = {n: work(f"{cast.other}, {n} nodes", n, 1, cast.other) for n in COUNTS[1:]}
        on_one = {n: work(f"{cast.other}, 1 node, {n} processes", 1, n, cast.other) for n in COUNTS[1:]}

    with stage.judge("so many nodes have so many times as much; so many processes on one have what one has"):
        for n in COUNTS[1:]:
            judge_times(f"{n} nodes", on_many[n], one)
            judge_times(f"{n} processes", on_one[n], one)
            stage.near(
                f"{n} nodes, write: computed", n, on_many[n].due["write"] / one.due["write"], "", why="their links"
            )

    with stage.contrast(f"by {cast.usual} one node has nearly all, and four have little more"):
        by_other.undo()
        first = work(f"{cast.usual}, 1 node", 1, BUSY, cast.usual)
        most = work(f"{cast.usual}, {len(nodes)} nodes", len(nodes), BUSY, cast.usual)
        for way in DIRECTIONS:
            times = most.seen[way] / first.seen[way]
            stage.holds(f"{way}: less than one and a half times as much", times < 1.5, f"{times:.2f}")

    with stage.restore(f"all go by {cast.usual}"):
        work(f"{cast.usual}, 1 node, afterwards", 1, BUSY, cast.usual)
        lines = [[t, *(f"{v:.1f}" for w in DIRECTIONS for v in (b.due[w], b.seen[w]))] for t, b in rows.items()]
        columns = ["by", "write, computed", "measured", "read, computed", "measured"]
        stage.show(Table("MB/s of all processes", columns, lines))
