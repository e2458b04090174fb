"""A cluster changes its key, and one of its nodes misses it.

Claim: from the new key's making to its commit both are valid, and no mount fails. A node that was away when the key
was committed goes on showing the old one: as soon as the owner has dropped that, the node mounts nothing, and within
its own cluster it is arbitrating. When its daemon starts it takes what it missed, and mounts.

Cause: a node proves its cluster by the key that it has; the configuration server gives changes to those nodes that
answer, and to the others when they start.

Source: Redpaper, "SSL setup for the local CLIENT cluster" (mmauth genkey new, commit); issue 5, 4.
"""

from causeway.lab import filesystems
from causeway.lab.faults import service_stopped
from causeway.scenario.membership import state
from causeway.scenario.stage import Stage
from causeway.scenario.trust import ARBITRATING, MOUNTED, Trust

PRESENT, AWAY = "SN", "FEN"


def play(stage: Stage) -> None:
    lab, trust = stage.lab, Trust(stage, "work")
    away = filesystems.member(lab, AWAY)

    with stage.healthy("both nodes mount with the first key, and while there are two"):
        stage.defer(trust.mount_everywhere)
        trust.client("mcauth", "genkey", "new")
        trust.tell_owner()
        for node in (PRESENT, AWAY):
            stage.compare(f"{node}: a new mount while both keys are valid", MOUNTED, trust.new_mount(node), "", 0)

    with stage.perturb(f"{AWAY} does not answer while the new key is committed and the owner drops the old one"):
        answers_again = service_stopped(lab, AWAY, "sshd")
        stage.defer(answers_again)
        trust.client("mcauth", "genkey", "commit")
        trust.tell_owner()
        answers_again()

    with stage.judge(f"{PRESENT} mounts with the new key, {AWAY} nothing"):
        stage.compare(f"{PRESENT}: a new mount", MOUNTED, trust.new_mount(PRESENT), "", 0)
        stage.compare(f"{AWAY}: a new mount", ARBITRATING, trust.new_mount(AWAY), "", 0)
        stage.compare(f"mcgetstate of {AWAY}", "arbitrating", state(stage, away), "", 0)

    with stage.contrast(f"when the daemon of {AWAY} starts it takes what it missed, and the same mount succeeds"):
        trust.client("mcstartup", "-w", away)
        stage.compare(f"{AWAY}: a new mount, new key", MOUNTED, trust.new_mount(AWAY), "", 0)
        stage.compare(f"mcgetstate of {AWAY}, new key", "active", state(stage, away), "", 0)

    with stage.restore("both nodes are active"):
        for node in (PRESENT, AWAY):
            name = filesystems.member(lab, node)
            stage.compare(f"mcgetstate of {node}, afterwards", "active", state(stage, name), "", 0)
