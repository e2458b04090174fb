"""A cluster changes its key, and one of its nodes misses it.

Claim: from the new key's making to its commit both are valid, and no mount fails. A node that was away when the key
was committed goes on showing the old one: as soon as the owner has dropped that, the node mounts nothing, and within
its own cluster it is arbitrating. When its daemon starts it takes what it missed, and mounts.

Cause: a node proves its cluster by the key that it has; the configuration server gives changes to those nodes that
answer, and to the others when they start.

Source: Redpaper, "SSL setup for the local CLIENT cluster" (mmauth genkey new, commit).
"""

from causeway.lab.faults import service_stopped
from causeway.scenario.cast import Ask, Mounts
from causeway.scenario.stage import Stage
from causeway.scenario.words.logins import until_left
from causeway.scenario.words.trust import ARBITRATING, MOUNTED, Trust


def cast(ask: Ask) -> Mounts:
    return ask.mounts(alone=True)


def play(stage: Stage, cast: Mounts) -> None:
    present, away = cast.administrator, cast.user
    trust = Trust(stage, cast.filesystems[0], cast.owner, cast.client)

    def judge(node: str, when: str, mount: str) -> None:
        stage.same(f"{node}: a new mount, {when}", mount, trust.new_mount(node))

    with stage.arrange("the client cluster makes a new key beside the old one, and the owner gets both"):
        stage.defer(trust.mount_everywhere, "all is mounted everywhere")
        stage.defer(lambda: trust.start(away), f"{away} has the configuration that all have")
        stage.defer(trust.one_key, f"{trust.client_name} has one key, and the owner has that")
        trust.client("mcauth", "genkey", "new")
        trust.tell_owner()

    with stage.healthy("both nodes mount while there are two keys"):
        for node in (present, away):
            judge(node, "both keys are valid", MOUNTED)

    with stage.perturb(f"{away} does not answer while the new key is committed and the owner drops the old one"):
        silent = stage.make(service_stopped(stage.lab, away, "sshd"))
        until_left(stage, away)
        trust.client("mcauth", "genkey", "commit")
        trust.tell_owner()
        silent.undo()

    with stage.judge(f"{present} mounts with the new key, {away} nothing"):
        judge(present, "one key", MOUNTED)
        judge(away, "one key", ARBITRATING)
        stage.same(f"mcgetstate of {away}", "arbitrating", trust.state(away))

    with stage.contrast(f"when the daemon of {away} starts it takes what it missed, and the same mount succeeds"):
        trust.start(away)
        judge(away, "new key", MOUNTED)
        stage.same(f"mcgetstate of {away}, new key", "active", trust.state(away))

    with stage.restore("both nodes are active"):
        for node in (present, away):
            stage.same(f"mcgetstate of {node}, afterwards", "active", trust.state(node))
