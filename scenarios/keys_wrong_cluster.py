"""The public key of a cluster that has the right name and is another one.

Claim: a cluster whose key the owner got wrong mounts nothing, however well its grants are written; with the right key
the same mount succeeds. A file that is not that cluster's public key at all is refused at once.

Cause: who a cluster is, is proved by its key. A site that was installed anew has its old name and another key, and
the copy in somebody's /tmp is the old one.

Source: Redpaper, "Key exchange between the two GPFS clusters OWNING and CLIENT".
"""

from causeway.lab import filesystems
from causeway.scenario.stage import Stage
from causeway.scenario.trust import KEY_NOT_KNOWN, MOUNTED, Trust

NODE, RANDOM = "FEN", "each lab has keys of its own"
OTHER = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN={name} -days 30 -keyout /tmp/other.key -out /tmp/other.pub"


def play(stage: Stage) -> None:
    lab, trust = stage.lab, Trust(stage, "work")
    update = ("mcauth", "update", trust.client_name, "-k")

    def digest() -> str:
        rows = filesystems.rows(lab, trust.owner_node, "mcauth", "show", trust.client_name)
        return str(rows[0]["SHA-256_digest"])

    with stage.healthy("the owner knows the client's key by its digest, and the front end mounts"):
        known = digest()
        own = filesystems.rows(lab, trust.client_node, "mcauth", "show")[0]["SHA-256_digest"]
        stage.compare("digest at the owner and at home", str(own), known, "", 0, RANDOM)
        stage.compare("a new mount", MOUNTED, trust.new_mount(NODE), "", 0)

    with stage.perturb("the owner is given a key of the same name that is not the client's"):
        stage.defer(trust.mount_everywhere)
        stage.defer(trust.tell_owner)
        lab.on(trust.owner_node, "sh", "-c", OTHER.format(name=trust.client_name)).must()
        trust.owner(*update, "/tmp/other.pub")

    with stage.judge("all that is written is right but the key, and nothing can be mounted"):
        stage.compare("the digest is another one", True, digest() != known, "", 0)
        stage.compare("a new mount, wrong key", KEY_NOT_KNOWN, trust.new_mount(NODE), "", 0)
        for what, file in (("the private key", "/tmp/other.key"), ("the owner's own key", filesystems.PUBLIC_KEY)):
            refused = filesystems.mc(lab, trust.owner_node, *update, file)
            stage.compare(f"mcauth update with {what}", 1, refused.rc, "exit code", 0, refused.stderr.strip())

    with stage.contrast("with the client's own public key, the same mount succeeds"):
        trust.tell_owner()
        stage.compare("a new mount, right key", MOUNTED, trust.new_mount(NODE), "", 0)

    with stage.restore("the digest is what it was"):
        stage.compare("digest, afterwards", known, digest(), "", 0, RANDOM)
