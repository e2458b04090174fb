"""What two clusters know and allow of each other, changed by their administrators, and what a client sees then."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from causeway.lab import filesystems
from causeway.lab.filesystems import PUBLIC_KEY, carry, cluster_name, mc
from causeway.lab.wait import until
from causeway.scenario.answers import meaning
from causeway.scenario.stage import Stage

MOUNTED = "mounted"
KEY_NOT_KNOWN = "refused: key not known"
NOT_GRANTED = "refused: not granted"
OTHER_KEY = "refused: the owner shows another key"
NO_CONTACT = "refused: no contact answers"
ARBITRATING = "refused: its daemon is arbitrating"
#: What mcmount says, and what that means.
_MEANINGS = {
    "does not know this cluster's key": KEY_NOT_KNOWN,
    "has not granted it": NOT_GRANTED,
    "is not the one that this cluster knows": OTHER_KEY,
    "no contact node answers": NO_CONTACT,
    "the daemon of this node is arbitrating": ARBITRATING,
}
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

    def __init__(self, stage: Stage, filesystem: str) -> None:
        filesystems.need(stage.lab)
        self.lab, self.filesystem = stage.lab, filesystem
        self._about = stage.site.topology.filesystems[filesystem]
        self._client_cluster = filesystems.clients(stage.lab)[0]
        self.owner_node = filesystems.configuration_server(stage.lab, self._about.owner)
        self.client_node = filesystems.configuration_server(stage.lab, self._client_cluster)
        self.owner_name = cluster_name(stage.lab, self._about.owner)
        self.client_name = cluster_name(stage.lab, self._client_cluster)

    def owner(self, *argv: str) -> None:
        """A command of the owner's administrator, which must succeed."""
        mc(self.lab, self.owner_node, *argv).must()

    def client(self, *argv: str) -> None:
        """A command of the client cluster's administrator, which must succeed."""
        mc(self.lab, self.client_node, *argv).must()

    def grant(self, access: str = "rw", root: str = "no") -> None:
        self.owner("mcauth", "grant", self.client_name, "-f", self.filesystem, "-a", access, "-r", root)

    def deny(self) -> None:
        self.owner("mcauth", "deny", self.client_name, "-f", self.filesystem)

    def tell_owner(self) -> None:
        """Carry the client cluster's public keys to the owner, who knows it by these from then on."""
        carry(self.lab, self.client_node, PUBLIC_KEY, self.owner_node, "/tmp/client.pub")
        self.owner("mcauth", "update", self.client_name, "-k", "/tmp/client.pub")

    def tell_client(self) -> None:
        """Carry the owner's public keys to the client cluster, which knows it by these from then on."""
        carry(self.lab, self.owner_node, PUBLIC_KEY, self.client_node, "/tmp/owner.pub")
        self.client("mcremotecluster", "update", self.owner_name, "-k", "/tmp/owner.pub")

    def new_mount(self, node: str) -> str:
        """What becomes of `mcmount` on a node, after what was mounted there has been taken away."""
        self.lab.on(node, "umount", "-l", self._about.mount_point)
        done = mc(self.lab, node, "mcmount", self.filesystem)
        if done.rc == 0:
            return MOUNTED
        return meaning(done, _MEANINGS) or done.stderr.strip()

    def mount_everywhere(self) -> None:
        """As the lab came up."""
        self.client("mcmount", "all", "-a")
