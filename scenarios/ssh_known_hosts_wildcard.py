"""A pattern that matches too much lets an impostor in.

Claim: with one pattern in place of the diskless nodes' addresses, their server has two keys for a host whose address
matches it, too, and takes a machine that has that address and a diskless node's key for the host, without a word. With
the addresses one by one it refuses.

Cause: ssh accepts a host whose key is on any line that matches its name or address.

Source: Redpaper, "Making the SSH daemons' public keys known", on "duplicate public key matches".
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatch

from causeway.errors import Unsupported
from causeway.lab.changes.daemons import daemon_with
from causeway.lab.changes.files import file_changed, replaced
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.bluegene import HOST_KEY
from causeway.scenario.words.logins import CHANGED, IN, KNOWN, keys_known, login, until_heard, wildcard

IMPOSTOR = "/run/impostor_key"


@dataclass(frozen=True)
class Cast:
    """Diskless nodes' server, a host at an address that the pattern for the nodes' matches, and one of the nodes'."""

    server: str
    host: str
    address: str
    pattern: str
    among: str


def cast(ask: Ask) -> Cast:
    found = ask.diskless(288, platform="bluegene")
    nodes = [str(ask.site.known_by(node).address) for node in found.nodes]
    host = ask.caller(found.server, but=found.nodes)
    address, pattern = str(ask.site.known_by(host).address), wildcard(nodes)
    if not fnmatch(address, pattern):
        raise Unsupported(
            f"{ask.site.name}'s {host} has no address like the diskless nodes' ({address}, not {pattern})"
        )
    return Cast(found.server, host, address, pattern, nodes[0])


def play(stage: Stage, cast: Cast) -> None:
    lab, server, host, address = stage.lab, cast.server, cast.host, cast.address

    with stage.arrange(f"{host}'s sshd shows the diskless nodes' key, as a machine at its address would"):
        stage.make(file_changed(lab, host, IMPOSTOR, lab.read(server, HOST_KEY)))
        lab.on(host, "chmod", "600", IMPOSTOR).must()
        shown = daemon_with(lab, host, "sshd", "-h", IMPOSTOR)
        impostor = stage.make(shown, then=lambda: until_heard(stage, server, address))

    with stage.healthy(f"{server} has one key for {host}'s address, and refuses another"):
        stage.same(f"keys for {host}'s address", 1, keys_known(stage, server, address))
        stage.same(f"{host}'s address, a diskless node's key", CHANGED, login(stage, server, address))

    with stage.perturb(f"the diskless nodes' addresses become {cast.pattern}"):
        one_by_one = rf"^(\S+,)?{re.escape(cast.among)}(,\S+)? "
        wide = stage.make(replaced(lab, server, KNOWN, one_by_one, f"{cast.pattern} "))

    with stage.judge(f"two keys match {host}'s address, and the impostor is let in"):
        stage.same(f"keys for {host}'s address, pattern", 2, keys_known(stage, server, address))
        stage.same(f"{host}'s address, a diskless node's key, pattern", IN, login(stage, server, address))

    with stage.contrast("with the addresses one by one the impostor is refused, and the host itself is let in"):
        wide.undo()
        stage.same(f"keys for {host}'s address, addresses one by one", 1, keys_known(stage, server, address))
        stage.same(f"{host}'s address, a diskless node's key, one by one", CHANGED, login(stage, server, address))
        impostor.undo()
        stage.same(f"{host} itself", IN, login(stage, server, address))

    with stage.restore(f"{host} has its own key again, and is let in"):
        stage.same(f"{host} itself, afterwards", IN, login(stage, server, address))
