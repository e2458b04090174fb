"""A node whose public key nobody has authorized is asked for a password that nobody can type.

Claim: without a node's key in a host's authorized_keys, root on that node cannot log in there, while the other way, and
the way of another host, go on as before. With the key it can, and no daemon is restarted for it.

Cause: an ssh connection has two halves. known_hosts says whom the client trusts, authorized_keys says whom
the server lets in; each is kept at its own end.

Source: Redpaper, "Setting up ssh authorization", step 6.
"""

import re
from dataclasses import dataclass

from causeway.lab.changes.files import replaced
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.logins import IN, NOT_AUTHORIZED, login

AUTHORIZED, OWN_KEY = "/root/.ssh/authorized_keys", "/root/.ssh/id_ed25519.pub"


@dataclass(frozen=True)
class Cast:
    """A node that logs in on a host, and another that does, with a key of its own."""

    node: str
    host: str
    other: str


def cast(ask: Ask) -> Cast:
    host, other, node = ask.colleagues(3)
    return Cast(node, host, other)


def play(stage: Stage, cast: Cast) -> None:
    lab, node, host, other = stage.lab, cast.node, cast.host, cast.other

    with stage.healthy(f"root goes both ways between {host} and {node}, and from {other} to {host}"):
        for client, server in ((node, host), (host, node), (other, host)):
            stage.same(f"{client} to {server}", IN, login(stage, client, server))

    with stage.perturb(f"{node}'s line is missing in {host}'s authorized_keys"):
        key = re.escape(lab.read(node, OWN_KEY).split()[1])
        missing = stage.make(replaced(lab, host, AUTHORIZED, rf"^.*{key}.*\n", ""))

    with stage.judge(f"only {node}'s way to {host} is closed"):
        stage.same(f"{node} to {host}, key missing", NOT_AUTHORIZED, login(stage, node, host))
        stage.same(f"{host} to {node}, meanwhile", IN, login(stage, host, node))
        stage.same(f"{other} to {host}, meanwhile", IN, login(stage, other, host))

    with stage.contrast("with the line in its place the same login succeeds"):
        missing.undo()
        stage.same(f"{node} to {host}, key there", IN, login(stage, node, host))

    with stage.restore("both ways are open"):
        stage.same(f"{node} to {host}, afterwards", IN, login(stage, node, host))
