"""Logins of root from one node to another, for scenarios about keys."""

from collections.abc import Sequence

from causeway.errors import LabBroken
from causeway.model.site import Site
from causeway.scenario.stage import Stage
from causeway.scenario.words.answers import meaning

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


#: The keys that a node knows hosts by, whoever logs in.
KNOWN = "/etc/ssh/ssh_known_hosts"
#: How long a script on a terminal waits for an answer here; it would wait for ever.
_PATIENCE_S = 30
THROUGH, ASKED = "went through", f"asked, and still waited after {_PATIENCE_S} s"


def called(site: Site, host: str) -> str:
    """What a node can be found by: its own name, or its first, or its address; what is no node is called as it is."""
    if host not in site.nodes:
        return host
    names = [name for leg in site.nodes[host].interfaces.values() for name in leg.names]
    return host if host in names else [*names, str(site.known_by(host).address)][0]


def login(stage: Stage, client: str, host: str, *options: str) -> str:
    """What becomes of `ssh HOST true` as root on a node, where nobody can answer a question."""
    argv = ("ssh", "-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", *options, called(stage.site, host), "true")
    done = stage.lab.on(client, *argv)
    if done.rc == 0:
        return IN
    if said := meaning(done, _SAID):
        return said
    raise LabBroken(f"ssh from {client} to {host} ended with {done.rc}: {done.stderr.strip()}")


def logins(stage: Stage, client: str, hosts: Sequence[str]) -> list[str]:
    """What becomes of root's logins on several hosts."""
    return [login(stage, client, host) for host in hosts]


def until_heard(stage: Stage, client: str, host: str) -> None:
    """Wait until a host's sshd listens, as one does that was just started."""
    stage.until("sshd answers", lambda: login(stage, client, host) != NOBODY, is_=True, within_s=5)


def until_left(stage: Stage, host: str) -> None:
    """Wait until nobody is logged in on a host any more: sessions go on when its sshd has ended."""
    sessions = ("pgrep", "-x", "sshd-session")
    stage.until(f"sessions on {host}", lambda: stage.lab.on(host, *sessions).stdout.split(), is_=[], within_s=10)


def login_on_terminal(stage: Stage, client: str, host: str) -> str:
    """What becomes of a script's `ssh HOST true` that was started on somebody's terminal, who types nothing."""
    step = f"timeout --foreground {_PATIENCE_S} ssh {called(stage.site, host)} true </dev/null"
    done = stage.lab.on(client, "sh", "-c", f"sleep {_PATIENCE_S + 1} | script -q -e -c '{step}' /dev/null")
    asked = "Are you sure you want to continue connecting" in done.stdout
    return THROUGH if done.rc == 0 else ASKED if asked and done.rc == 124 else f"{done.rc}: {done.stdout}"


def keys_known(stage: Stage, client: str, address: str) -> int:
    """How many keys a node knows for an address."""
    found = stage.lab.on(client, "ssh-keygen", "-F", address, "-f", KNOWN).stdout
    return sum(not line.startswith("#") for line in found.splitlines())


def wildcard(addresses: Sequence[str]) -> str:
    """What somebody writes who does not like to list addresses: their first numbers, as many as are common to all."""
    numbers = [address.split(".")[:3] for address in addresses]
    common = []
    for column in zip(*numbers, strict=True):
        if len(set(column)) > 1:
            break
        common.append(column[0])
    return ".".join([*common, "*"])
