"""A pattern that matches too much lets an impostor in.

Claim: with 10.2.64.* in place of the I/O nodes' addresses, SN has two keys for FEN's address, and takes a machine
that has that address and an I/O node's key for FEN, without a word. With the addresses one by one it refuses.

Cause: ssh accepts a host whose key is on any line that matches its name or address.

Source: Redpaper, "Making the SSH daemons' public keys known", on "duplicate public key matches".
"""

import re

from causeway.lab import blocks
from causeway.lab.faults import file_changed
from causeway.lab.wait import until
from causeway.scenario.ssh import CHANGED, IN, login
from causeway.scenario.stage import Stage

KNOWN = "/etc/ssh/ssh_known_hosts"
IMPOSTOR = "/run/impostor_key"


def play(stage: Stage) -> None:
    lab, sn = stage.lab, blocks.service_node(stage.lab)
    fen = str(stage.site.nodes["FEN"].interfaces["bond0"].address)

    def keys() -> int:
        found = lab.on(sn, "ssh-keygen", "-F", fen, "-f", KNOWN).stdout
        return sum(not line.startswith("#") for line in found.splitlines())

    def listening() -> bool:
        return ":22 " in lab.on("FEN", "ss", "-tln").must()

    def sshd(*options: str) -> None:
        """Start FEN's sshd anew."""
        lab.on("FEN", "pkill", "-f", "sshd: /usr/sbin/sshd .*listener")
        until("nobody listens on FEN", lambda: "sshd" if listening() else "", deadline_s=5)
        lab.on("FEN", "/usr/sbin/sshd", *options).must()
        until("sshd listens on FEN", lambda: "" if listening() else "nobody", deadline_s=5)

    with stage.healthy("SN has one key for FEN's address, FEN is let in, and an impostor is not"):
        stage.compare("keys for FEN's address", 1, keys(), "keys", 0)
        stage.compare("FEN itself", IN, login(stage, sn, fen), "", 0)
        stage.defer(sshd)
        stage.defer(file_changed(lab, "FEN", IMPOSTOR, lab.read(sn, "/bgl/dist/etc/ssh/ssh_host_ed25519_key")))
        lab.on("FEN", "chmod", "600", IMPOSTOR).must()
        sshd("-h", IMPOSTOR)
        stage.compare("FEN's address, an I/O node's key", CHANGED, login(stage, sn, fen), "", 0)

    with stage.perturb("the I/O nodes' addresses become one pattern"):
        before = lab.read(sn, KNOWN)
        wide = re.sub(r"^10\.2\.64\.\d+(,10\.2\.6\d\.\d+)* (.* ion)$", r"10.2.64.* \2", before, flags=re.MULTILINE)
        put_back = file_changed(lab, sn, KNOWN, wide)
        stage.defer(put_back)

    with stage.judge("two keys match FEN's address, and the impostor is let in"):
        stage.compare("keys for FEN's address, pattern", 2, keys(), "keys", 0)
        stage.compare("FEN's address, an I/O node's key, pattern", IN, login(stage, sn, fen), "", 0)

    with stage.contrast("with the addresses one by one the impostor is refused"):
        put_back()
        stage.compare("keys for FEN's address, addresses one by one", 1, keys(), "keys", 0)
        stage.compare("FEN's address, an I/O node's key, one by one", CHANGED, login(stage, sn, fen), "", 0)

    with stage.restore("FEN has its own key again, and is let in"):
        stage.compare("FEN itself, afterwards", IN, login(stage, sn, fen), "", 0)
