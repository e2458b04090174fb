"""One root for all nodes, for scenarios: what is the same everywhere, what is a node's own, and what a push costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.lab.changes.change import Change, Step
from causeway.lab.clock import Watch
from causeway.lab.pools import boards
from causeway.model.pools.boot import DEVICE
from causeway.model.pools.onesis import OneSis
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.scenario.cast import Diskless, Imaged
from causeway.scenario.stage import Stage
from causeway.scenario.words.routes import counting

#: The nodes' root, on the node that boots them.
ROOT = "/var/lib/oneSIS/root"
#: Says whether a node renews the lease of its address (BOOTPROTO=dhcp) or keeps it (static).
NETWORK = "/etc/sysconfig/network"
#: A folder of each node's own, and a file that is another for nodes of a class.
SPOOL, MOTD = "/var/spool/pbs", "/etc/motd"
#: Where a node with a disk takes a pushed image, and what the node that pushes leaves out.
PUSHED, EXCLUDED = "/srv/image", "/run/image.exclude"
#: The header of an Ethernet frame, and those of TCP and IP with a time stamp.
_ETHERNET, _TCP_IP = 14, 52
_PUSH = """
set -eu
root=$1 to=$2 exclude=$3
shift 3
[ -e "$exclude" ] || exclude=/dev/null
pids=
for host; do
	tar -c -C "$root" --one-file-system -X "$exclude" . |
		ssh -o BatchMode=yes "$host" "mkdir -p '$to' && tar -x -C '$to'" &
	pids="$pids $!"
done
for pid in $pids; do wait "$pid"; done
"""


@dataclass(frozen=True)
class Pushed:
    """What a push took, and what left the pusher's port meanwhile."""

    seconds: float
    wire_mb: float


def refused(stage: Stage, nodes: Sequence[str], path: str) -> list[str]:
    """What each node says to who writes a file there; "" where it is written."""
    said = (stage.lab.on(node, "touch", path) for node in nodes)
    return [done.stderr.strip().rpartition(": ")[2] if done.rc else "" for done in said]


def texts(stage: Stage, nodes: Sequence[str], path: str) -> list[str]:
    """What each node finds in a file; "" where there is none."""
    return [stage.lab.on(node, "cat", path).stdout.strip() for node in nodes]


def class_texts(stage: Stage, cast: Diskless, path: str) -> list[str]:
    """What each node is to find in a file that differs by class, by the tree itself."""
    pool = stage.site.topology.pools[cast.pool]
    assert isinstance(pool, OneSis)
    of = {node: name for name, those in pool.classes.items() for node in those}
    return [stage.lab.read(cast.server, f"{ROOT}{path}.{of.get(node, 'default')}").strip() for node in cast.nodes]


def having(stage: Stage, nodes: Sequence[str], path: str, server: str, file: str) -> list[str]:
    """The nodes that read in a file what the tree on a server has in one of it."""
    due = _sum(stage, server, f"{ROOT}{file}")
    return [node for node in nodes if due and _sum(stage, node, path) == due]


def _sum(stage: Stage, node: str, path: str) -> str:
    """SHA-256 of a file; "" where there is none."""
    return stage.lab.on(node, "sha256sum", path).stdout.partition(" ")[0]


def added(server: str, path: str, mib: int) -> Change:
    """A file of so many MiB, of random bytes, is new in the tree."""
    file = f"{ROOT}{path}"
    make = 'mkdir -p "${0%/*}" && head -c "$1" /dev/urandom >"$0"'
    there, back = ("sh", "-c", make, file, str(mib * 2**20)), ("rm", "-f", file)
    return Change(f"{server}:{file} is new", (Step(server, there),), (Step(server, back),))


def sysimage(stage: Stage, server: str) -> str:
    """What mk-sysimage says that it has done to the tree."""
    return stage.lab.on(server, "mk-sysimage", ROOT).must().strip()


def boots_of(stage: Stage, nodes: Sequence[str]) -> dict[str, list[boards.Said]]:
    """What each node's console has shown since it was switched on: another boot begins another one."""
    return {node: boards.console(stage.lab, node) for node in nodes}


def image_mb(stage: Stage, server: str) -> float:
    """The size of the tree, without the software that is mounted in it, as it is pushed (10^6 bytes)."""
    return int(stage.lab.on(server, "sh", "-c", f"tar -c -C {ROOT} --one-file-system . | wc -c").must()) / 1e6


def link_mb(stage: Stage, cast: Imaged) -> float:
    """What a pusher's link carries of TCP, in MB/s."""
    return tcp_goodput_mbit(stage.site.sends_mbit(cast.port), stage.site.mtu(cast.port)) / 8


def framed(stage: Stage, cast: Imaged) -> float:
    """How much more than what is pushed leaves the port, as it counts: frames without preamble and check sequence."""
    mtu = stage.site.mtu(cast.port)
    return (mtu + _ETHERNET) / (mtu - _TCP_IP)


def push(stage: Stage, cast: Imaged) -> Pushed:
    """Push the tree to all hosts side by side, but for what the pusher's list leaves out."""
    hosts = [str(stage.site.known_by(host).address) for host in cast.hosts]
    with counting(stage, cast.server, [cast.port.device]) as sent:
        watch = Watch()
        stage.lab.on(cast.server, "sh", "-c", _PUSH, "push", ROOT, PUSHED, EXCLUDED, *hosts, timeout_s=600).must()
        return Pushed(watch.virtual_s, sent() / 1e6)


def clear(stage: Stage, hosts: Sequence[str]) -> None:
    """Take away what was pushed."""
    for host in hosts:
        stage.lab.on(host, "rm", "-rf", PUSHED).must()


def readdress(stage: Stage, caller: str, by: IPv4Address, node: str) -> None:
    """Give a node the address that it boots with once more, by a login at another one of its addresses."""
    leg = stage.site.nodes[node].interfaces[DEVICE]
    length = stage.site.topology.networks[leg.network].subnet.prefixlen
    words = ("ip", "addr", "add", f"{leg.address}/{length}", "broadcast", "+", "dev", DEVICE)
    stage.lab.on(caller, "ssh", "-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", f"{by}", *words).must()
