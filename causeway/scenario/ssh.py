"""Logins of root from one node to another, for scenarios about keys."""

from causeway.errors import LabBroken
from causeway.scenario.answers import meaning
from causeway.scenario.stage import Stage

IN = "lets root in"
NOT_KNOWN = "host key not known"
CHANGED = "host key has changed"
NOT_AUTHORIZED = "root not authorized"
NOBODY = "nobody listens"
#: What ssh prints, and what it means.
_SAID = {
    "REMOTE HOST IDENTIFICATION HAS CHANGED": CHANGED,
    "Host key verification failed": NOT_KNOWN,
    "Permission denied": NOT_AUTHORIZED,
    "Connection refused": NOBODY,
}


def login(stage: Stage, client: str, host: str, *options: str) -> str:
    """What becomes of `ssh HOST true` as root on a node, where nobody can answer a question."""
    argv = ("ssh", "-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", *options, host, "true")
    done = stage.lab.on(client, *argv)
    if done.rc == 0:
        return IN
    if said := meaning(done, _SAID):
        return said
    raise LabBroken(f"ssh from {client} to {host} ended with {done.rc}: {done.stderr.strip()}")
