"""A cluster that is known signs itself a key in another's name.

Claim: a cluster that the owner knows and has denied cannot call itself by the owner's name: a key in that name which it
has signed itself is refused in the handshake by every server, by the filesystem's own mount command, too. Nor does the
owner take a key from it that could sign others, or one of another's name.

Cause: servers go by the name in a client's certificate, and take the word of those who may sign one. What every
cluster gives to the others is a public key that may not. Were it an authority's, as openssl makes certificates by
itself, the owner's own name would be anybody's, and grants, read-only access and denials would mean nothing.

Source: Redpaper, "Key exchange between the two GPFS clusters OWNING and CLIENT"; RFC 5280, 4.2.1.9 (basic constraints).
"""

from causeway.lab.changes.files import file_changed
from causeway.lab.filesystems.administrators import put
from causeway.scenario.cast import Ask, Mounts
from causeway.scenario.stage import Stage
from causeway.scenario.words.trust import HANDSHAKE, MOUNTED, NOT_GRANTED, SHOWN_KEY, Trust, forged_key

KEY = "/tmp/given.pub"


def cast(ask: Ask) -> Mounts:
    return ask.mounts()


def play(stage: Stage, cast: Mounts) -> None:
    lab, user = stage.lab, cast.user
    trust = Trust(stage, cast.filesystems[0], cast.owner, cast.client)

    def takes(key: str) -> str:
        """What the owner's administrator is told when given a key as the client's."""
        put(lab, trust.owner_node, KEY, key)
        done = trust.at_owner(*trust.update, KEY)
        return f"{done.rc}: {done.stderr.strip()}"

    with stage.healthy(f"{user} mounts by the filesystem's own command with its cluster's key"):
        stage.same("a direct mount", MOUNTED, trust.direct_mount(user))

    with stage.perturb(f"the owner denies the client; {user} makes a key in the owner's name, signed by its own"):
        stage.defer(trust.mount_everywhere, "all is mounted everywhere")
        stage.defer(trust.grant, "the client is granted the filesystem")
        trust.deny()
        forged, authority = forged_key(stage, user, trust.owner_name), trust.authority()

    with stage.judge("in its own name it is not granted; in the owner's it does not get that far"):
        stage.same("a direct mount, denied", NOT_GRANTED, trust.direct_mount(user))
        shown = stage.make(file_changed(lab, user, SHOWN_KEY, forged))
        stage.same("a direct mount in the owner's name", HANDSHAKE, trust.direct_mount(user))
        for what, key, said in (
            ("its key as an authority's", authority, "it could be used for more than a cluster's key may be"),
            ("the forged key", forged, f"this is the public key of {trust.owner_name}"),
        ):
            told = takes(key)
            stage.holds(f"mcauth update refuses {what}", told.startswith("1: ") and said in told, told)

    with stage.contrast("where the servers trust an authority's key, the same mount is the owner's own, denied or not"):
        by_hand = stage.make(trust.trusting(trust.owners_keys() + authority))
        stage.same("a direct mount in the owner's name, authority trusted", MOUNTED, trust.direct_mount(user))
        by_hand.undo()
        stage.same("a direct mount in the owner's name, again", HANDSHAKE, trust.direct_mount(user))
        shown.undo()

    with stage.restore(f"the client is granted the filesystem, and {user} mounts with its own key"):
        stage.same("a direct mount, afterwards", MOUNTED, trust.direct_mount(user))
