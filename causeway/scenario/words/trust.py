"""What two clusters know and allow of each other, changed by their administrators, and what a client sees then."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from causeway.lab.changes.change import Change, together
from causeway.lab.changes.files import file_changed
from causeway.lab.filesystems import administrators, driver_of
from causeway.lab.filesystems.administrators import (
    PUBLIC_KEY,
    carry,
    cluster_name,
    mc,
    member,
    place,
    put,
    rows,
    states,
)
from causeway.process import Result
from causeway.scenario.stage import Stage
from causeway.scenario.words.answers import meaning
from causeway.wait import until

MOUNTED = "mounted"
KEY_NOT_KNOWN = "refused: key not known"
NOT_GRANTED = "refused: not granted"
OTHER_KEY = "refused: the owner shows another key"
NO_CONTACT = "refused: no contact answers"
HANDSHAKE = "refused in the handshake"
ARBITRATING = "refused: its daemon is arbitrating"
#: What mcmount says, and what that means.
_MEANINGS = {
    "does not know this cluster's key": KEY_NOT_KNOWN,
    "has not granted it": NOT_GRANTED,
    "is not the one that this cluster knows": OTHER_KEY,
    "no contact node answers": NO_CONTACT,
    "the daemon of this node is arbitrating": ARBITRATING,
}
OWN_KEY = PUBLIC_KEY
#: What somebody who has lost a filesystem is told when using it.
GONE = "Transport endpoint is not connected"
#: Writes and syncs a block every 10 ms; says when it failed, and why.
_WRITER = """
import json, os, sys, time
try:
    with open(sys.argv[1], "w") as file:
        while True:
            file.write("x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            time.sleep(0.01)
except OSError as error:
    print(json.dumps([time.time(), os.strerror(error.errno)]))
"""
#: What a public key is for that mcauth takes: TLS, and not to sign others (nodes/mc/mc/keys.py).
_ENDS = (
    "-addext basicConstraints=critical,CA:FALSE -addext keyUsage=critical,digitalSignature"
    " -addext extendedKeyUsage=serverAuth,clientAuth"
)
#: A pair of the same name as a cluster's: what a site has that was installed anew.
_ANOTHER = (
    f"openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=$0 {_ENDS} -days 30"
    " -keyout /tmp/other.key -out /tmp/other.pub"
)
#: A public key for a pair that is there, valid from so many seconds on: what genkey makes by a clock that is ahead.
_FUTURE = f"""
cd /var/mc/ssl && from=$(date -u -d "@$(($(date +%s) + $1))" +%Y%m%d%H%M%SZ) &&
    openssl req -x509 -key id_rsa -subj "/CN=$0" {_ENDS} \\
        -not_before "$from" -not_after 20400101000000Z -out /tmp/ahead.cert
"""
#: A public key for the pair that is there, in another name, signed with that pair. It is shown with its signer's.
_FORGED = f"""
cd /var/mc/ssl && openssl req -x509 -key id_rsa -subj "/CN=$0" {_ENDS} -days 30 -CA id_rsa.cert -CAkey id_rsa \\
    -out /tmp/forged.cert && cat /tmp/forged.cert id_rsa.cert
"""
#: The public key of the pair that is there as openssl makes it by itself: that of an authority, which can sign others.
_AUTHORITY = "openssl req -x509 -key /var/mc/ssl/id_rsa -subj /CN=$0 -days 30"
#: Does a command until it has printed some words for the nth time (-v: before a step), and breaks it off by a signal:
#: kill -9 ends it alone, what a terminal sends goes to what it has started, too. Prints how it ended.
_BREAKS_OFF = """
import os, signal, subprocess, sys
name, words, nth, *argv = sys.argv[1:]
left, number = int(nth), getattr(signal, "SIG" + name)
command = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
for line in command.stderr:
    left -= words in line
    if not left:
        command.kill() if name == "KILL" else os.killpg(command.pid, number)
        break
print(command.wait())
"""
#: What a node shows to servers of its cluster's key, and the private one with which it shows that it is its own.
SHOWN_KEY, PRIVATE_KEY = "/var/mc/ssl/id_rsa.cert", "/var/mc/ssl/id_rsa"
#: Where a direct mount goes.
DIRECT = "/mnt/direct"


@contextmanager
def writing(stage: Stage, node: str, file: str) -> Iterator[Callable[[], tuple[float, str]]]:
    """Have a node write to a file meanwhile. Gives what waits for it to fail: seconds since 1970, and the error."""
    writer = stage.lab.start_on(node, "python3", "-c", _WRITER, file)

    def fails() -> tuple[float, str]:
        failed_at, why = json.loads(writer.result(60).must())
        return float(failed_at), str(why)

    try:
        until("it writes", lambda: "" if stage.lab.on(node, "test", "-s", file).rc == 0 else "not yet", deadline_s=10)
        yield fails
    finally:
        writer.kill()


class Trust:
    """The owner of a filesystem, and a client cluster that mounts it, each worked on at its own place."""

    def __init__(self, stage: Stage, filesystem: str, owner: str, client: str) -> None:
        self.lab, self.filesystem, self._client = stage.lab, filesystem, client
        self._mount_point = stage.site.topology.filesystems[filesystem].mount_point
        self.owner_node, self.client_node = place(stage.lab, owner), place(stage.lab, client)
        self.owner_name, self.client_name = cluster_name(stage.lab, owner), cluster_name(stage.lab, client)
        #: What the owner types before a file to know the client by it from then on.
        self.update = ("mcauth", "update", self.client_name, "-k")

    def at_owner(self, *argv: str) -> Result:
        """A command of the owner's administrator."""
        return mc(self.lab, self.owner_node, *argv)

    def owner(self, *argv: str) -> None:
        """A command of the owner's administrator, which must succeed."""
        self.at_owner(*argv).must()

    def client(self, *argv: str) -> None:
        """A command of the client cluster's administrator, which must succeed."""
        mc(self.lab, self.client_node, *argv).must()

    def grant(self, access: str = "rw", root: str = "no") -> None:
        self.owner("mcauth", "grant", self.client_name, "-f", self.filesystem, "-a", access, "-r", root)

    def deny(self) -> None:
        self.owner("mcauth", "deny", self.client_name, "-f", self.filesystem)

    def deny_until(self, signal: str, words: str, nth: int) -> int:
        """Deny, and break that off by a signal (INT, HUP, KILL) when -v prints the words for the nth time, before that
        step is done; the exit code, or -N for a signal."""
        deny = ("mcauth", "deny", self.client_name, "-f", self.filesystem, "-v")
        break_off = ("python3", "-c", _BREAKS_OFF, signal, words, str(nth))
        return int(mc(self.lab, self.owner_node, *break_off, *deny).must())

    def granted(self) -> dict[str, str]:
        """What `mcauth show` says that the client may mount: filesystem -> how."""
        (row,) = rows(self.lab, self.owner_node, "mcauth", "show", self.client_name)
        return dict(re.findall(r"(\w+) \(([^)]*)\)", row["filesystem_access"]))

    def digest_at_owner(self) -> str:
        """The digest of the key by which the owner knows the client."""
        (row,) = rows(self.lab, self.owner_node, "mcauth", "show", self.client_name)
        return str(row["SHA-256_digest"])

    def digest_at_home(self) -> str:
        """The digest of the client's own key."""
        return str(rows(self.lab, self.client_node, "mcauth", "show")[0]["SHA-256_digest"])

    def state(self, node: str) -> str:
        """What `mcgetstate` says of a node at the client's administrator."""
        return states(self.lab, self.client_node)[member(self.lab, node)]

    def start(self, node: str) -> None:
        """Start the daemon of a node of the client cluster."""
        self.client("mcstartup", "-w", member(self.lab, node))

    def tell_owner(self) -> None:
        """Carry the client cluster's public keys to the owner, who knows it by these from then on."""
        carry(self.lab, self.client_node, PUBLIC_KEY, self.owner_node, "/tmp/client.pub")
        self.owner(*self.update, "/tmp/client.pub")

    def one_key(self) -> None:
        """End a change of the client cluster's key wherever it was broken off: the new one is shown, and known."""
        done = mc(self.lab, self.client_node, "mcauth", "genkey", "commit")
        if done.rc and "there is no new key" not in done.stderr:
            done.must()
        if self.digest_at_owner() != self.digest_at_home():
            self.tell_owner()

    def tell_client(self) -> None:
        """Carry the owner's public keys to the client cluster, which knows it by these from then on."""
        carry(self.lab, self.owner_node, PUBLIC_KEY, self.client_node, "/tmp/owner.pub")
        self.client("mcremotecluster", "update", self.owner_name, "-k", "/tmp/owner.pub")

    def new_mount(self, node: str) -> str:
        """What becomes of `mcmount` on a node, after what was mounted there has been taken away."""
        self.lab.on(node, "umount", "-l", self._mount_point)
        done = mc(self.lab, node, "mcmount", self.filesystem)
        if done.rc == 0:
            return MOUNTED
        return meaning(done, _MEANINGS) or done.stderr.strip()

    def direct_mount(self, node: str) -> str:
        """What becomes of the filesystem's own mount command on a node, with the key that the node shows.

        It is mounted beside where it belongs, and taken away again.
        """
        driver = driver_of(self.lab, self.filesystem)
        why = driver.mount_directly(self.lab, self.filesystem, node, DIRECT)
        self.lab.on(node, "umount", "-l", DIRECT)
        return why or MOUNTED

    def authority(self) -> str:
        """The client cluster's public key in a form in which it can sign others, which `mcauth genkey` never makes."""
        return self.lab.on(self.client_node, "sh", "-c", _AUTHORITY, self.client_name).must()

    def trusting(self, keys: str) -> Change:
        """The owner's servers trust other keys of clients than the administrator has given them."""
        servers, file = self.lab.site.servers(self.filesystem), driver_of(self.lab, self.filesystem).ADMITTED
        changes = (file_changed(self.lab, server, file, keys) for server in servers)
        return together(f"the servers of {self.filesystem} trust other keys", changes)

    def owners_keys(self) -> str:
        """The owner's own public keys."""
        return self.lab.read(self.owner_node, PUBLIC_KEY)

    def mount_everywhere(self) -> None:
        """Have the client cluster's nodes as the lab came up."""
        administrators.mount_everywhere(self.lab, self._client)


def another_key(stage: Stage, node: str, name: str) -> tuple[str, str]:
    """Make a pair of a cluster's name on a node; its files, the private one first."""
    stage.lab.on(node, "sh", "-c", _ANOTHER, name).must()
    return "/tmp/other.key", "/tmp/other.pub"


def forged_key(stage: Stage, node: str, name: str) -> str:
    """A public key for a node's own pair in a name that is not its cluster's, with the cluster's that has signed it."""
    return stage.lab.on(node, "sh", "-c", _FORGED, name).must()


def key_of_the_future(stage: Stage, trust: Trust, ahead_s: int) -> str:
    """Give a client cluster's administrator a public key that begins later, until the scenario's undo; its file at
    the owner."""
    lab, node = stage.lab, trust.client_node
    good = lab.read(node, SHOWN_KEY)
    stage.defer(lambda: put(lab, node, SHOWN_KEY, good), "the key is the one that is valid")
    lab.on(node, "sh", "-c", _FUTURE, trust.client_name, str(ahead_s)).must()
    carry(lab, node, "/tmp/ahead.cert", node, SHOWN_KEY)
    carry(lab, node, "/tmp/ahead.cert", trust.owner_node, "/tmp/ahead.pub")
    return "/tmp/ahead.pub"
