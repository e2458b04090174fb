"""Known, and not allowed: a cluster whose key is right, and that nobody has granted the filesystem.

Claim: the mount is refused with another error and after another time than that of an unknown cluster: the handshake
succeeds, and the servers then refuse the filesystem. The other filesystem, which is granted, stays mounted.

Cause: authentication says who a cluster is, authorization what it may do; each filesystem has its own list.

Source: Redpaper, "On the remote OWNING cluster, allow access by the CLIENT cluster": "this step did not yet establish
any authorization".
"""

from causeway.lab import filesystems
from causeway.lab.clock import Watch
from causeway.scenario.stage import Stage
from causeway.scenario.trust import MOUNTED, NOT_GRANTED, Trust

NODE = "FEN"


def play(stage: Stage) -> None:
    lab, trust = stage.lab, Trust(stage, "work")

    def mount() -> tuple[str, float]:
        watch = Watch()
        return trust.new_mount(NODE), watch.virtual_s

    def other_filesystem() -> str:
        return lab.on(NODE, "stat", "-f", "-c", "%T", "/home1").stdout.strip()

    with stage.healthy("work and home1 are granted and mounted"):
        stage.compare("a new mount of work", MOUNTED, mount()[0], "", 0)
        stage.compare("home1 is", "fuse", other_filesystem(), "", 0)

    with stage.perturb("work is denied; the owner goes on knowing the cluster"):
        stage.defer(trust.mount_everywhere)
        stage.defer(trust.grant)
        trust.deny()

    with stage.judge("the owner's servers refuse work, and only that"):
        (row,) = filesystems.rows(lab, trust.owner_node, "mcauth", "show", trust.client_name)
        stage.compare("mcauth show", "home1 (rw, root allowed)", row["filesystem_access"], "", 0)
        said, took_s = mount()
        stage.compare("a new mount of work, not granted", NOT_GRANTED, said, "", 0)
        why = "a client hopes for ten seconds that one of the servers will have it after all"
        stage.compare("it takes", 10, round(took_s, 1), "s", 0.1, why)
        stage.compare("home1 is still", "fuse", other_filesystem(), "", 0)

    with stage.contrast("granted, the same mount succeeds; and a key that is not known fails otherwise, at once"):
        trust.grant()
        stage.compare("a new mount of work, granted", MOUNTED, mount()[0], "", 0)
        lab.on(NODE, "mv", "/var/mc/ssl/glusterfs.pem", "/var/mc/ssl/away").must()
        stage.defer(lambda: lab.on(NODE, "mv", "/var/mc/ssl/away", "/var/mc/ssl/glusterfs.pem"))
        stage.compare("without any key it is another refusal", True, mount()[0] not in (MOUNTED, NOT_GRANTED), "", 0)

    with stage.restore("work is mounted again"):
        stage.compare("a new mount of work, afterwards", MOUNTED, mount()[0], "", 0)
