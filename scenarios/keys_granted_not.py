"""Known, and not allowed: a cluster whose key is right, and that nobody has granted the filesystem.

Claim: the mount is refused with another error and after another time than that of an unknown cluster: the handshake
succeeds, and the servers then refuse the filesystem. The other filesystem, which is granted, stays mounted.

Cause: authentication says who a cluster is, authorization what it may do; each filesystem has its own list.

Source: Redpaper, "On the remote OWNING cluster, allow access by the CLIENT cluster": "this step did not yet establish
any authorization".
"""

from causeway.lab.changes.files import moved_away
from causeway.lab.clock import Watch
from causeway.plan.filesystems import BY_DRIVER
from causeway.scenario.cast import Ask, Mounts
from causeway.scenario.stage import Stage
from causeway.scenario.words.trust import MOUNTED, NOT_GRANTED, SHOWN_KEY, Trust


def cast(ask: Ask) -> Mounts:
    return ask.mounts(2)


def play(stage: Stage, cast: Mounts) -> None:
    lab, user = stage.lab, cast.user
    denied, other = cast.filesystems[:2]
    filesystem = stage.site.topology.filesystems[denied]
    trust = Trust(stage, denied, cast.owner, cast.client)
    others = {name: "rw, root allowed" for name in stage.site.topology.filesystems if name in cast.filesystems[1:]}

    def mount() -> tuple[str, float]:
        watch = Watch()
        return trust.new_mount(user), watch.virtual_s

    def kind_of_other() -> str:
        place = stage.site.topology.filesystems[other].mount_point
        return lab.on(user, "stat", "-f", "-c", "%T", place).stdout.strip()

    with stage.healthy(f"{denied} and {other} are granted and mounted"):
        stage.same(f"a new mount of {denied}", MOUNTED, mount()[0])
        stage.same(f"{other} is", "fuse", kind_of_other())

    with stage.perturb(f"{denied} is denied; the owner goes on knowing the cluster"):
        stage.defer(trust.mount_everywhere, f"{denied} is mounted everywhere")
        stage.defer(trust.grant, f"{denied} is granted")
        trust.deny()

    with stage.judge(f"the owner's servers refuse {denied}, and only that"):
        stage.same("mcauth show", others, trust.granted())
        said, took_s = mount()
        stage.same(f"a new mount of {denied}, not granted", NOT_GRANTED, said)
        hopes_s = BY_DRIVER[filesystem.driver].hopes_s(filesystem)
        stage.holds(f"it takes the {hopes_s:g} s that a client hopes", abs(took_s - hopes_s) < 1, f"{took_s:.1f} s")
        stage.same(f"{other} is still", "fuse", kind_of_other())

    with stage.contrast("granted, the same mount succeeds; and a key that is not known fails otherwise, at once"):
        trust.grant()
        stage.same(f"a new mount of {denied}, granted", MOUNTED, mount()[0])
        away = stage.make(moved_away(lab, user, SHOWN_KEY))
        said, _ = mount()
        stage.holds("without any key it is another refusal", said not in (MOUNTED, NOT_GRANTED), said)
        away.undo()

    with stage.restore(f"{denied} is mounted again"):
        stage.same(f"a new mount of {denied}, afterwards", MOUNTED, mount()[0])
