"""A file that one cluster writes others read and take over, without a copy; who loses the grant loses it alone.

Claim: what a node of one cluster has written a node of each other cluster reads, with the same checksum; what another
writes to the same file, all see. A cluster that the owner denies the filesystem is told so, and the others go on;
granted again, and mounted anew, it reads what they have written meanwhile.

Cause: the servers have the one file, and know whom they let in cluster by cluster.

Source: LLNL, milestone 464, "Background": a compute cluster produces data, and a visualization cluster consumes it; any
combination of compute, visualization and archiving clusters may mount one central filesystem.
"""

from functools import partial

from causeway.scenario.cast import Ask, Shared
from causeway.scenario.stage import Stage
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.transports import digest
from causeway.scenario.words.trust import GONE, MOUNTED, Trust

MIB = 8
#: For how long a client may take what it has of a file for true (seconds): what its kernel, md-cache and io-cache know
#: is a second old at most, and each may have it of the next; three reads of the file at a disk's pace come on top.
PATIENCE_S = 6


def cast(ask: Ask) -> Shared:
    return ask.shared(2)


def play(stage: Stage, cast: Shared) -> None:
    lab, users = stage.lab, {cluster: hosts[0] for cluster, hosts in cast.users.items()}
    file = f"{stage.site.topology.filesystems[cast.filesystem].mount_point}/passed-on"
    (first, *_, denied), (writer, taker) = users, list(users.values())[:2]

    def write(node: str) -> str:
        """Random bytes; and what they add up to before they are in the file."""
        words = f"dd if=/dev/urandom bs=1M count={MIB} iflag=fullblock 2>/dev/null | tee {file} | sha256sum"
        return lab.on(node, "sh", "-c", words).must().split()[0]

    def seen(node: str) -> str:
        return digest(stage, node, file)[:16]

    def read(title: str, due: str, nodes: list[str]) -> None:
        for node in nodes:
            stage.until(f"{title}: SHA-256 at {node}", partial(seen, node), is_=due[:16], within_s=PATIENCE_S)

    with stage.healthy(f"what {writer} of {first} writes a node of each cluster reads"):
        stage.defer(lambda: lab.on(writer, "rm", "-f", file).must(), "the file is gone")
        read(f"{writer} wrote", write(writer), list(users.values()))

    with stage.perturb(f"{taker} writes the file anew"):
        written = write(taker)

    with stage.judge("all see what it has now"):
        read(f"{taker} wrote", written, list(users.values()))

    lost, others = users[denied], [node for cluster, node in users.items() if cluster != denied]
    with stage.perturb(f"the owner denies {denied} the filesystem"):
        trust = Trust(stage, cast.filesystem, cast.owner, denied)
        stage.defer(trust.mount_everywhere, f"{cast.filesystem} is mounted everywhere")
        stage.defer(trust.grant, f"{cast.filesystem} is granted")
        trust.deny()

    with stage.judge(f"{lost} has lost it, and nobody else has"):
        told = lab.on(lost, "touch", file).stderr.strip().rpartition(": ")[2]
        stage.same(f"what {lost} is told", GONE, told)
        meanwhile = write(writer)
        read(f"{denied} is denied", meanwhile, others)

    with stage.contrast(f"granted again, {lost} reads what was written meanwhile"):
        trust.grant()
        stage.same("a new mount", MOUNTED, trust.new_mount(lost))
        read("granted", meanwhile, list(users.values()))

    with stage.restore("all is mounted as before"):
        for cluster, node in users.items():
            stage.same(f"what {node} of {cluster} has mounted", due_mounts(stage, node), mounted(stage, node))
