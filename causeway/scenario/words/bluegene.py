"""Blue Gene's diskless nodes, for scenarios: what they take from their server when they boot, and how they boot.

Their server keeps two trees for them, the system's and the site's. The paths here are the site's, on the server.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from causeway import interrupts
from causeway.lab import disks
from causeway.lab.changes.change import Change
from causeway.lab.changes.files import replaced
from causeway.lab.lab import Lab
from causeway.lab.pools import bluegene
from causeway.plan.paths import path
from causeway.scenario.stage import Stage

_SITE = "/bgl/dist"
#: Says whether a node renews the lease of its address (BOOTPROTO=dhcp) or keeps it (static).
NETWORK = f"{_SITE}/etc/sysconfig/network"
#: Whom the nodes' root knows, and the keys that all of their sshds have.
SYSTEM_KNOWN, ROOT_KNOWN = f"{_SITE}/etc/ssh/ssh_known_hosts", f"{_SITE}/root/.ssh/known_hosts"
HOST_KEY = f"{_SITE}/etc/ssh/ssh_host_ed25519_key"
#: What S16sshd looks for on a node, once, and who writes it.
TRIGGER, WRITES_TRIGGER = "/etc/sysconfig/ssh", "site_sysconfig"
_PROFILE = "/etc/bgl/profile"
_SEEN = "/run/stale.pcap.txt"
#: An NFSv4 answer of status 70 (RFC 7530, NFS4ERR_STALE) in a TCP segment that begins with it: the record's mark is
#: followed by 24 bytes of RPC (RFC 5531), and then by what the whole compound ended with.
_STALE = "tcp src port 2049 and tcp[((tcp[12:1] & 0xf0) >> 2) + 28:4] = 70"


def start_script(number: int, name: str) -> str:
    """A start script of the site's tree; nodes run them in the order of their numbers."""
    return f"{_SITE}/etc/rc.d/rc3.d/S{number:02}{name}"


def own_tree(stage: Stage, node: str) -> str:
    """Where the server keeps a node's /var, in a file system of that node's."""
    return f"/bgl/gpfsvar/{stage.site.known_by(node).address}/var"


def boot_block(stage: Stage, block: str) -> None:
    """Boot a block in the place of those that are allocated; how it went, `how_booted` tells."""
    free_all(stage)
    disks.forget(stage.site)  # whoever boots a block has not just booted another
    bluegene.allocate(stage.lab, block)


def free_all(stage: Stage) -> None:
    """Free every block that is allocated."""
    for block in bluegene.allocated(stage.lab):
        bluegene.deallocate(stage.lab, block)


def boot_as_the_lab(stage: Stage) -> None:
    """Boot what the lab comes up with."""
    free_all(stage)
    bluegene.allocate(stage.lab, bluegene.pool_of(stage.lab).booted).must()


def tmp_on_server(lab: Lab, server: str) -> Change:
    """The nodes that a server boots have their /tmp there, made anew when their block is allocated."""
    return replaced(lab, server, _PROFILE, "^BGL_TMP=local$", "BGL_TMP=nfs")


def failed_calls(stage: Stage, node: str) -> int:
    """How many calls for its /tmp have failed, as the node's NFS client counts them (/proc/self/mountstats)."""
    return parse_mountstats(stage.lab.on(node, "cat", "/proc/self/mountstats").must(), "/tmp")


def parse_mountstats(text: str, at: str) -> int:
    """The errors of all operations on what is mounted there: the last number of each line; 0 where nothing is."""
    part = re.search(rf"^device \S+ mounted on {at} with fstype nfs4.*?(?=^device |\Z)", text, re.MULTILINE | re.DOTALL)
    if part is None:
        return 0
    _, _, operations = part[0].partition("per-op statistics")
    return sum(int(line.split()[-1]) for line in operations.splitlines() if line.strip())


@contextmanager
def stale_answers(stage: Stage, server: str, client: str) -> Iterator[Counter[str]]:
    """How many answers of a server's NFS say that a handle is stale, by the address that they go to, seen on the wire.

    It looks where the server sends to a client, and what it has seen is there when the context ends.
    """
    found: Counter[str] = Counter()
    device = path(stage.site, server, stage.site.known_by(client).address).hops[0].sender.device
    catch = stage.lab.start_on(server, "sh", "-c", f"exec tcpdump -l -n -i {device} '{_STALE}' >{_SEEN}")
    try:
        yield found
        found.update(parse_answers(stage.lab.read(server, _SEEN)))
    finally:
        with interrupts.held():
            catch.kill()
            stage.lab.on(server, "rm", "-f", _SEEN)


def parse_answers(text: str) -> Counter[str]:
    """Read tcpdump's lines: IP 10.0.0.1.2049 > 10.0.0.2.999: ..."""
    return Counter(re.findall(r" IP \S+ > (\S+)\.\d+: ", text))
