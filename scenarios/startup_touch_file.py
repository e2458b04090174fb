"""A start script that waits for a file calls daemons failed that run.

Claim: while SN's daemon is down, the I/O nodes' daemons run and are arbitrating. Nobody becomes active, so the daemon
never calls the script that touches the file, and S40fs gives up after a minute: "did not come up on I/O node". With
mcgetstate in place of the file it sees that they are arbitrating, and goes on.

Cause: a file that is not there says nothing about a daemon. Between the daemon and the file stand a call-back, the
node's /var and its /tmp, and each of them can be what has failed; the daemon itself can be asked.

The Redpaper saw this with large blocks and "NFS stale filehandle errors" on a /tmp that was NFS-mounted. Here a boot's
load alone does not do that: CPUs take no time, and an idle connection's packets pass the boot's (fq_codel). Of 64 nodes
that booted at once with such a /tmp, mounted hard or soft (timeo=7,retrans=3), none was reported: their NFS requests
took 0 to 3 ms on average, reads 20 ms, and none timed out, while SN sent 1.3 and 1.5 GB by its two links in 11 s.

Source: Redpaper, "Making the startup process more scalable": "GPFS was running OK on the "failed" nodes"; "The
"arbitrating" state is typically observed when quorum is lost".
"""

from causeway.lab import blocks, filesystems
from causeway.scenario.stage import Stage

CONFIG = "/bgl/dist/etc/rc.d/rc3.d/S10site_sysconfig"
FAILED = "did not come up on I/O node"


def play(stage: Stage) -> None:
    filesystems.need(stage.lab)
    lab, sn = stage.lab, blocks.service_node(stage.lab)
    nodes = lab.booted_io_nodes()[:2]

    def judge(when: str, how: str, reported: int, state: str) -> None:
        """What the start scripts report when the nodes boot with a check, and what their daemons say."""
        lab.on(sn, "sed", "-i", f"s/FS_STARTUP_CHECK=[a-z]*/FS_STARTUP_CHECK={how}/", CONFIG).must()
        blocks.restart(lab, nodes)
        failed = len(nodes) - len(blocks.silent(lab, nodes, FAILED))
        stage.compare(f"{when}, {how}: nodes reported as failed", reported, failed, "nodes", 0)
        states = filesystems.states(lab, sn)
        for node in nodes:
            stage.compare(f"{when}, {how}: mcgetstate, {node}", state, states[filesystems.member(lab, node)], "", 0)

    with stage.healthy("the file comes when the daemons are active"):
        stage.defer(lambda: lab.on(sn, "sed", "-i", "s/CHECK=touchfile/CHECK=mcgetstate/", CONFIG).must())
        judge("SN up", "touchfile", 0, "active")

    with stage.perturb("SN's daemon, the quorum, is down"):
        stage.defer(lambda: filesystems.mc(lab, sn, "mcmount", "all", "-a").must())
        stage.defer(lambda: filesystems.mc(lab, sn, "mcstartup").must())
        filesystems.mc(lab, sn, "mcshutdown").must()

    with stage.judge("the file never comes, and every node is reported, although its daemon runs"):
        judge("SN down", "touchfile", len(nodes), "arbitrating")

    with stage.contrast("mcgetstate says what is the case, and nobody is reported"):
        judge("SN down", "mcgetstate", 0, "arbitrating")

    with stage.restore("SN's daemon is back, and the nodes are active and have both filesystems mounted"):
        states = filesystems.states(lab, sn)
        for node in nodes:
            stage.compare(f"{node}, afterwards", "active", states[filesystems.member(lab, node)], "", 0)
            mounted = [row["servers"] for row in filesystems.rows(lab, node, "mclsmount", "all")]
            stage.compare(f"servers of what {node} has mounted", "4 of 4, 4 of 4", ", ".join(mounted), "", 0)
