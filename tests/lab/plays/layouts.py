"""Three clusters, two layouts: each mounts what its file says, its own filesystems too, and bytes go as computed.

Claim: an owner's nodes mount what their cluster owns, with an administrator who serves nothing; two clusters mount
another's, and a denial of one leaves the other's mounts; it holds where a server is down, too, and when that is back. A
file that is striped with parity 1 over three servers puts half of its bytes on each when it is written, and is read
from two of them; one that is whole goes to one server.

Source: Gluster docs, "Setting up Volumes" (distributed, dispersed).
"""

from causeway.lab import filesystems
from causeway.lab.filesystems.administrators import mc, place, rows, states
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import both_ways, enough_mib, judge_files, judge_spread
from causeway.scenario.words.trust import GONE, MOUNTED, NOT_GRANTED, Trust
from causeway.wait import until

#: What a server's bricks of scratch start with.
BRICKS = "/var/lib/glusterd/vols/scratch/scratch.*.vol"


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    trust = Trust(stage, "scratch", "STRIPES", "VIEWERS")

    def use(node: str, file: str) -> str:
        return lab.on(node, "touch", file).stderr.strip().rpartition(": ")[2] or "works"

    with stage.healthy("all nodes are active, and each cluster's mount what it mounts"):
        for cluster in site.topology.clusters:
            seen = states(lab, place(lab, cluster))
            stage.compare(f"states in {cluster}", str(dict.fromkeys(seen, "active")), str(seen), "", 0)
            stage.compare(f"members of {cluster}", len(site.members(cluster)), len(seen), "", 0)
        for name in site.topology.filesystems:
            clusters = [cluster for cluster in site.topology.clusters if name in site.mounts(cluster)]
            due = [node for node, about in site.nodes.items() if about.cluster in clusters]
            stage.compare(f"{name} is mounted on", str(due), str(filesystems.mounted(lab)[name]), "", 0)

    with stage.healthy("files go over the connections that the layout says, as fast as links and disks let them"):
        for name in site.topology.filesystems:
            for nodes in (["view2"], ["view1", "view2"]):
                both = both_ways(stage, name, nodes, size_mib=enough_mib(site, name), shared=False)
                judge_spread(stage, both)
                judge_files(stage, f"{name}, {len(nodes)} clients, a file each", both)
        judge_files(
            stage,
            "archive, 2 clients, one file",
            both_ways(stage, name, nodes, size_mib=enough_mib(site, name), shared=True),
        )
        (row,) = rows(lab, "view2", "mclsmount", "scratch")
        stage.compare("servers of scratch on view2", "3 of 3", row["servers"], "", 0)
        (row,) = rows(lab, "arc2", "mclsmount", "archive")
        stage.compare("servers of archive on its own node arc2", "2 of 2", row["servers"], "", 0)

    def grant() -> None:
        """All servers must take it, and one that was just started takes its time."""
        grant = ("mcauth", "grant", trust.client_name, "-f", "scratch", "-a", "rw", "-r", "no")
        until("all servers take the grant", lambda: trust.at_owner(*grant).stderr.strip(), deadline_s=60, poll_s=1)

    with stage.perturb("VIEWERS is denied scratch"):
        stage.defer(trust.mount_everywhere)
        stage.defer(grant)
        trust.deny()

    with stage.judge("only VIEWERS loses it"):
        stage.compare("view2", GONE, use("view2", "/scratch/x"), "", 0)
        stage.compare("view2, a new mount", NOT_GRANTED, trust.new_mount("view2"), "", 0)
        for node, file in {"arc2": "/scratch/x", "oss2": "/scratch/x", "view2": "/archive/x"}.items():
            stage.compare(f"{node}: {file}", "works", use(node, file), "", 0)

    with stage.contrast("granted again it mounts; of three servers one may be missing, of two with whole files none"):
        trust.grant()
        stage.compare("view2, granted again", MOUNTED, trust.new_mount("view2"), "", 0)
        stage.defer(lambda: mc(lab, "oss3", "mcstartup").must())
        stage.defer(lambda: mc(lab, "arc2", "mcstartup").must())
        for server in ("oss3", "arc2"):
            mc(lab, server, "mcshutdown").must()
        stage.compare("view2, two of three servers", MOUNTED, trust.new_mount("view2"), "", 0)
        trust.deny()
        stage.compare("view2, denied while oss3 is down", GONE, use("view2", "/scratch/x"), "", 0)
        mc(lab, "oss3", "mcstartup").must()
        let_in = lab.on("oss3", "sh", "-c", f"cat {BRICKS}").must()
        stage.compare("oss3 lets VIEWERS in when it is back", 0, let_in.count(trust.client_name), "times", 0)
        stage.compare("view2, oss3 is back", NOT_GRANTED, trust.new_mount("view2"), "", 0)
        grant()
        stage.compare("view2, granted again by all servers", MOUNTED, trust.new_mount("view2"), "", 0)
        lab.on("view2", "umount", "-l", "/archive").must()
        said = mc(lab, "view2", "mcmount", "archive")
        stage.compare("mcmount of archive, one of two servers", 1, said.rc, "exit code", 0, said.stderr.strip())

    with stage.restore("all is as the lab came up"):
        for name in site.topology.filesystems:
            mc(lab, place(lab, "VIEWERS"), "mcmount", name, "-a").must()
            stage.compare(
                f"{name} on view2", "works", use("view2", f"{site.mounts('VIEWERS')[name].mount_point}/x"), "", 0
            )
