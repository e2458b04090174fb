"""A cluster loses a filesystem while it writes.

Claim: a denial reaches the writers within a second, with an error and without a hang, and takes that filesystem only.
A new grant does not bring the old mount back; mounting anew does.

Cause: the servers drop the denied cluster's connections. Its clients try again, are refused, and then give up until
somebody mounts.

Source: Redpaper, "On the remote OWNING cluster, allow access by the CLIENT cluster".
"""

from causeway.scenario.cast import Ask, Mounts
from causeway.scenario.stage import Stage
from causeway.scenario.words.trust import GONE, MOUNTED, Trust, writing

WORKS = "works"


def cast(ask: Ask) -> Mounts:
    return ask.mounts(2)


def play(stage: Stage, cast: Mounts) -> None:
    lab, user = stage.lab, cast.user
    denied, other = cast.filesystems[:2]
    trust = Trust(stage, denied, cast.owner, cast.client)
    file, elsewhere = (f"{stage.site.topology.filesystems[name].mount_point}/denied" for name in (denied, other))
    written = f"{file}.written"  # what is being written when its servers go is healed in its own time

    def use(path: str) -> str:
        return lab.on(user, "touch", path).stderr.strip().rpartition(": ")[2] or WORKS

    with stage.healthy(f"{user} can use {denied} and {other}"):
        for path in (file, elsewhere):
            stage.same(path, WORKS, use(path))

    with stage.perturb(f"the owner denies {denied} while {user} writes a block every 10 ms"):
        stage.defer(lambda: lab.on(user, "rm", "-f", file, elsewhere, written).must(), "its files are gone")
        stage.defer(trust.mount_everywhere, f"{denied} is mounted everywhere")
        stage.defer(trust.grant, f"{denied} is granted")
        with writing(stage, user, written) as fails:
            began = float(lab.on(user, "date", "+%s.%N").must())
            trust.deny()
            failed_at, why = fails()

    with stage.judge(f"the writer gets an error at once, and {other} goes on"):
        stage.same("the writer is told", GONE, why)
        stage.holds("within a second of the command", 0 < failed_at - began < 1, f"{failed_at - began:.2f} s")
        stage.same(f"{denied}, denied", GONE, use(file))
        stage.same(other, WORKS, use(elsewhere))

    with stage.contrast("granted again, the old mount stays dead, and a new one works"):
        trust.grant()
        stage.same(f"{denied}, by the old mount", GONE, use(file))
        stage.same("a new mount", MOUNTED, trust.new_mount(user))
        stage.same(f"{denied}, by the new mount", WORKS, use(file))

    with stage.restore(f"{denied} is mounted everywhere again"):
        stage.same(f"{denied}, afterwards", WORKS, use(file))
