"""A key that is not valid yet, because the clock of the node that made it was ahead.

Claim: a cluster whose new key was made by a clock that was ten minutes ahead is refused by everybody, and gets in by
itself when that time has passed; nothing else is changed. So clocks belong to what two clusters agree on.

Cause: a public key says from when on it is valid, by the clock of its maker; who checks it goes by its own.

Source: Redpaper, "Other network-related customization" (the I/O nodes' NTP server), "SSL setup for the local CLIENT
cluster"; openssl-x509(1), notBefore.
"""

from causeway.errors import Unsupported
from causeway.lab import clock
from causeway.scenario.cast import Ask, Mounts
from causeway.scenario.stage import Stage
from causeway.scenario.words.trust import MOUNTED, Trust, key_of_the_future

AHEAD_S = 600


def cast(ask: Ask) -> Mounts:
    return ask.mounts(alone=True)


def play(stage: Stage, cast: Mounts) -> None:
    if clock.name() != "virtual":
        raise Unsupported("it waits for ten minutes, which costs nothing in virtual time only")
    node, trust = cast.administrator, Trust(stage, cast.filesystems[0], cast.owner, cast.client)

    with stage.healthy(f"the key is valid, and {node} mounts"):
        stage.same("a new mount", MOUNTED, trust.new_mount(node))

    with stage.perturb(f"{node}'s public key is one that begins in ten minutes; both clusters have it"):
        stage.defer(trust.mount_everywhere, "all is mounted everywhere")
        stage.defer(trust.tell_owner, "the owner knows the key that is valid")
        carried = key_of_the_future(stage, trust, AHEAD_S)
        trust.owner(*trust.update, carried)

    with stage.judge("nobody takes it"):
        said = trust.new_mount(node)
        stage.holds("a new mount with a key of the future is refused", said != MOUNTED, said)
        verify = stage.lab.on(trust.owner_node, "openssl", "verify", "-CAfile", carried, carried)
        stage.holds("openssl says why", "not yet valid" in verify.stdout + verify.stderr, verify.stderr.strip())

    with stage.contrast("ten minutes later the same key is good, and nobody has touched anything"):
        stage.let_pass(AHEAD_S, "ten minutes, by which the clock was ahead")
        stage.same("a new mount, ten minutes later", MOUNTED, trust.new_mount(node))

    with stage.restore(f"the first public key is back, and {node} mounts"):
        stage.same("a new mount, afterwards", MOUNTED, trust.new_mount(node))
