"""A key that is not valid yet, because the clock of the node that made it was ahead.

Claim: a cluster whose new key was made by a clock that was ten minutes ahead is refused by everybody, and gets in by
itself when that time has passed; nothing else is changed. So clocks belong to what two clusters agree on.

Cause: a public key says from when on it is valid, by the clock of its maker; who checks it goes by its own.

Source: issue 5, 4 (`keys_clock_skew`); Redpaper, "Other network-related customization" (the I/O nodes' NTP server).
"""

import time

from causeway.errors import Unsupported
from causeway.lab import clock
from causeway.scenario.stage import Stage
from causeway.scenario.trust import MOUNTED, Trust

AHEAD_S = 600
NODE = "SN"
#: A pair for the same cluster whose public key begins later: what genkey would have made by a clock that is ahead.
MAKE = (
    "cd /var/mc/ssl && from=$(date -u -d @$(($(date +%s) + {ahead})) +%Y%m%d%H%M%SZ) &&"
    " openssl req -x509 -key id_rsa -subj /CN={name} -not_before $from -not_after 20400101000000Z -out /tmp/ahead.cert"
)


def play(stage: Stage) -> None:
    if clock.name() != "virtual":
        raise Unsupported("it waits for ten minutes, which costs nothing in virtual time only")
    lab, trust = stage.lab, Trust(stage, "work")
    cert = "/var/mc/ssl/id_rsa.cert"

    def owner_knows(file: str) -> None:
        text = lab.read(NODE, file)
        lab.file(trust.owner_node, "/tmp/ahead.pub").write_text(text)
        trust.owner("mcauth", "update", trust.client_name, "-k", "/tmp/ahead.pub")

    with stage.healthy("the key is valid, and SN mounts"):
        good = lab.read(NODE, cert)
        stage.compare("a new mount", MOUNTED, trust.new_mount(NODE), "", 0)

    with stage.perturb("SN's public key is one that begins in ten minutes; both clusters have it"):
        stage.defer(trust.mount_everywhere)
        stage.defer(trust.tell_owner)
        stage.defer(lambda: lab.file(NODE, cert).write_text(good))
        lab.on(NODE, "sh", "-c", MAKE.format(ahead=AHEAD_S, name=trust.client_name)).must()
        lab.file(NODE, cert).write_text(lab.read(NODE, "/tmp/ahead.cert"))
        owner_knows("/tmp/ahead.cert")

    with stage.judge("nobody takes it"):
        stage.compare("a new mount, key of the future", True, trust.new_mount(NODE) != MOUNTED, "", 0)
        verify = lab.on(trust.owner_node, "openssl", "verify", "-CAfile", "/tmp/ahead.pub", "/tmp/ahead.pub")
        stage.compare("openssl says why", True, "not yet valid" in verify.stdout + verify.stderr, "", 0)

    with stage.contrast("ten minutes later the same key is good, and nobody has touched anything"):
        time.sleep(AHEAD_S)
        stage.compare("a new mount, ten minutes later", MOUNTED, trust.new_mount(NODE), "", 0)

    with stage.restore("the first public key is back, and SN mounts"):
        stage.compare("a new mount, afterwards", MOUNTED, trust.new_mount(NODE), "", 0)
