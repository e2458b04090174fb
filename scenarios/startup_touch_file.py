"""A start script that waits for a file calls daemons failed that run.

Claim: while the quorum's daemon is down, the diskless nodes' daemons run and are arbitrating. Nobody becomes active, so
the daemon never calls the script that touches the file, and S40fs gives up after 300 looks: "did not come up on I/O
node". With mcgetstate in place of the file it sees that they are arbitrating, and goes on.

Cause: a file that is not there says nothing about a daemon. Between the daemon and the file stand a call-back, the
node's /var and its /tmp, and each of them can be what has failed; the daemon itself can be asked.

The Redpaper saw this with large blocks and "NFS stale filehandle errors" on a /tmp that was NFS-mounted. Here a boot's
load alone does not do that: CPUs take no time, and an idle connection's packets pass the boot's (fq_codel). Of 64 nodes
that booted at once with such a /tmp, mounted hard or soft (timeo=7,retrans=3), none was reported: their NFS requests
took 0 to 3 ms on average, reads 20 ms, and none timed out, while their server sent 1.3 and 1.5 GB by its two links in
11 s.

Source: Redpaper, "Making the startup process more scalable": "GPFS was running OK on the "failed" nodes"; "The
"arbitrating" state is typically observed when quorum is lost".
"""

from dataclasses import dataclass

from causeway.lab.changes.files import replaced
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import WRITES_TRIGGER, start_script
from causeway.scenario.words.diskless import boot, boots, saying
from causeway.scenario.words.membership import state
from causeway.scenario.words.mounts import due_mounts, end_daemon, mounted

SCRIPT = start_script(10, WRITES_TRIGGER)
FAILED = "did not come up on I/O node"


@dataclass(frozen=True)
class Cast:
    """Diskless nodes, whom they boot from, and the node that is their cluster's quorum."""

    nodes: list[str]
    server: str
    quorum: str


def cast(ask: Ask) -> Cast:
    found = ask.diskless(2, platform="bluegene")
    return Cast(found.nodes, found.server, ask.member(found.nodes[0]).administrator)


def play(stage: Stage, cast: Cast) -> None:
    lab, nodes, quorum = stage.lab, cast.nodes, cast.quorum

    def judge(when: str, reported: list[str], due: str) -> None:
        """What the start scripts have reported of the nodes, and what their daemons say."""
        stage.same(f"{when}: nodes reported as failed", reported, saying(stage, nodes, FAILED))
        stage.same(f"{when}: mcgetstate", [due] * len(nodes), [state(stage, node) for node in nodes])

    with stage.arrange("the start script waits for the file, and the nodes are booted again"):
        by_file = replaced(lab, cast.server, SCRIPT, "CHECK=mcgetstate", "CHECK=touchfile")
        stage.defer(boots(stage, nodes), "the nodes' latest boot was one without a quorum")
        waiting = stage.make(by_file, then=boots(stage, nodes))

    with stage.healthy(f"{quorum} is up, the daemons are active, and then the file comes"):
        judge("quorum up, touchfile", [], "active")

    with stage.perturb(f"{quorum}'s daemon, the quorum, is down, and the nodes are booted again"):
        end_daemon(stage, quorum)
        boot(stage, nodes)

    with stage.judge("the file never comes, and every node is reported, although its daemon runs"):
        judge("quorum down, touchfile", nodes, "arbitrating")

    with stage.contrast("mcgetstate says what is the case, and nobody is reported"):
        waiting.undo()
        judge("quorum down, mcgetstate", [], "arbitrating")

    with stage.restore(f"{quorum}'s daemon is back, and the nodes are active and have all filesystems mounted"):
        for node in nodes:
            stage.same(f"{node}, afterwards", "active", state(stage, node))
            stage.same(f"servers of what {node} has mounted", due_mounts(stage, node), mounted(stage, node))
