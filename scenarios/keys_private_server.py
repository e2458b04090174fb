"""Whoever is root on a node with the owner's key has the owner's filesystems, granted to its cluster or not.

Claim: a client that the owner has denied is refused with its cluster's own key. Where one of its nodes has the owner's
pair, as a server of the owner's that stands beside the clients must have, root there mounts the filesystem all the
same, and the owner's list of grants says nothing of it. Without that pair the node is refused again.

Cause: servers go by the key that a node shows. What a cluster may do is asked by that key's name, and an owner needs no
grant of itself.

Source: GPFS at NERSC, section VIII.B: private NSD servers are "part of the storage cluster", stand with the remote one,
and "both the storage cluster and the remote cluster must have fully privileged access" to them; "security issues must
be carefully worked out".
"""

from causeway.lab.changes.change import together
from causeway.lab.changes.files import file_changed
from causeway.scenario.cast import Ask, Mounts
from causeway.scenario.stage import Stage
from causeway.scenario.words.trust import MOUNTED, NOT_GRANTED, PRIVATE_KEY, SHOWN_KEY, Trust


def cast(ask: Ask) -> Mounts:
    return ask.mounts()


def play(stage: Stage, cast: Mounts) -> None:
    lab, user, name = stage.lab, cast.user, cast.filesystems[0]
    trust = Trust(stage, name, cast.owner, cast.client)

    with stage.healthy(f"{user} mounts {name} with its cluster's key"):
        stage.same("a direct mount", MOUNTED, trust.direct_mount(user))
        stage.holds(f"{name} is among what is granted", name in trust.granted(), trust.granted())

    with stage.perturb("the owner denies the client"):
        stage.defer(trust.mount_everywhere, "all is mounted everywhere")
        stage.defer(trust.grant, "the client is granted the filesystem")
        trust.deny()

    with stage.judge(f"{user} is refused"):
        stage.same("a direct mount, denied", NOT_GRANTED, trust.direct_mount(user))

    with stage.perturb(f"{user} has the owner's pair, as a server of the owner's would"):
        pair = [file_changed(lab, user, file, lab.read(trust.owner_node, file)) for file in (PRIVATE_KEY, SHOWN_KEY)]
        has = stage.make(together(f"{user} has the pair of {trust.owner_name}", pair))

    with stage.judge("it mounts all the same, and the owner's list says nothing of it"):
        stage.same("a direct mount with the owner's pair", MOUNTED, trust.direct_mount(user))
        stage.holds(f"{name} is not among what is granted", name not in trust.granted(), trust.granted())

    with stage.contrast("with its own cluster's pair it is refused again, and granted it mounts"):
        has.undo()
        stage.same("a direct mount, its own pair again", NOT_GRANTED, trust.direct_mount(user))
        trust.grant()
        stage.same("a direct mount, granted", MOUNTED, trust.direct_mount(user))

    with stage.restore(f"{user} mounts {name}"):
        stage.same("a direct mount, afterwards", MOUNTED, trust.direct_mount(user))
