"""The public key of a cluster that has the right name and is another one.

Claim: a cluster whose key the owner got wrong mounts nothing, however well its grants are written; with the right key
the same mount succeeds. A file that is not that cluster's public key at all is refused at once.

Cause: who a cluster is, is proved by its key. A site that was installed anew has its old name and another key, and
the copy in somebody's /tmp is the old one.

Source: Redpaper, "Key exchange between the two GPFS clusters OWNING and CLIENT".
"""

from causeway.scenario.cast import Ask, Mounts
from causeway.scenario.stage import Stage
from causeway.scenario.words.trust import KEY_NOT_KNOWN, MOUNTED, OWN_KEY, Trust, another_key

RANDOM = "each lab has keys of its own"


def cast(ask: Ask) -> Mounts:
    return ask.mounts()


def play(stage: Stage, cast: Mounts) -> None:
    user, trust = cast.user, Trust(stage, cast.filesystems[0], cast.owner, cast.client)

    with stage.healthy(f"the owner knows the client's key by its digest, and {user} mounts"):
        known = trust.digest_at_owner()
        stage.same("digest at the owner and at home", trust.digest_at_home(), known, RANDOM, repeats=False)
        stage.same("a new mount", MOUNTED, trust.new_mount(user))

    with stage.perturb("the owner is given a key of the same name that is not the client's"):
        stage.defer(trust.mount_everywhere, "all is mounted everywhere")
        stage.defer(trust.tell_owner, "the owner knows the client")
        private, public = another_key(stage, trust.owner_node, trust.client_name)
        trust.owner(*trust.update, public)

    with stage.judge("all that is written is right but the key, and nothing can be mounted"):
        stage.holds("the digest is another one", trust.digest_at_owner() != known)
        stage.same("a new mount, wrong key", KEY_NOT_KNOWN, trust.new_mount(user))
        for what, file in (("the private key", private), ("the owner's own key", OWN_KEY)):
            refused = trust.at_owner(*trust.update, file)
            stage.same(f"exit code of mcauth update with {what}", 1, refused.rc, refused.stderr.strip())

    with stage.contrast("with the client's own public key, the same mount succeeds"):
        trust.tell_owner()
        stage.same("a new mount, right key", MOUNTED, trust.new_mount(user))

    with stage.restore("the digest is what it was"):
        stage.same("digest, afterwards", known, trust.digest_at_owner(), RANDOM, repeats=False)
