"""What the commands ask of a parallel filesystem. Each driver is a module of these functions.

For readers and type checkers: no command loads it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from mc.config import Config, Filesystem
from mc.drivers.known import Disk, Known, State


class Keys(Protocol):
    """How a cluster proves that it is the one: by a pair, or by a secret that both sides have.

    What others are to have of it is always one file, ssl/id_rsa.pub, whether it is public or a secret that has to be
    carried with care; what was got of others is kept in one file each, too.
    """

    def numbers(self, ssl: Path) -> list[int]:
        """The keys that there are, oldest first: one, or two while keys are being changed."""

    def in_use(self, ssl: Path) -> int | None:
        """The one that this cluster shows to others."""

    def generate(self, ssl: Path, cluster: str) -> None:
        """Make a new one; the first is used at once. Refused where the kind allows no second."""

    def use(self, ssl: Path, number: int) -> None:
        """Show this one to others from now on."""

    def drop(self, ssl: Path, number: int) -> None:
        """Forget one."""

    def publish(self, ssl: Path) -> None:
        """Write what other clusters are to have."""

    def know(self, file: Path, given: Path, cluster: str) -> None:
        """Keep what another cluster has given, in one of our files. Refused where it is not that cluster's key."""

    def forget(self, file: Path) -> None:
        """Keep it no more."""

    def digests(self, file: Path) -> list[str]:
        """What two administrators can compare by telephone."""


class Driver(Protocol):
    """A parallel filesystem.

    NATIVE: what the commands' help says of the native commands and files, by the words in braces there.
    ATTRIBUTES: the cluster's attributes that are this driver's own, and what makes a value of each hold.
    KEYS: the kind of keys that it takes.
    PORT: the one that clients ask a server at first, by TCP.
    """

    NATIVE: Mapping[str, str]
    ATTRIBUTES: Mapping[str, Callable[[Config, str], None]]
    KEYS: Keys
    PORT: int

    def start(self, config: Config) -> None:
        """Start all daemons that this node is to run, by the cluster's tables: there may be none, or several.

        What serves filesystems lets in nobody whom the tables do not name, from its first moment on.
        """

    def stop(self) -> None:
        """End all of this node's daemons."""

    def answers(self, config: Config, /, host: str | None = None) -> bool:
        """Whether a node's daemons (None: this node's) answer to this cluster's key."""

    def trust(self, config: Config) -> None:
        """Have the daemons know the keys in config.ssl, this cluster's and the others'."""

    def serve(self, config: Config, filesystem: Filesystem) -> None:
        """Make a filesystem on its servers, with all daemons that it takes. Refused where its layout cannot be."""

    def absent(self, filesystem: Filesystem) -> list[str]:
        """Those of its servers that do not serve it, or do not answer."""

    def end(self, filesystem: Filesystem, server: str) -> bool:
        """Have a server that does not answer serve it no more. Whether that is certain: the node has done it."""

    def grant(self, config: Config, filesystem: Filesystem, *, restart: bool) -> None:
        """Have the servers allow what the grants say. `restart`: who may only read has changed."""

    def disks(self, filesystem: Known) -> list[Disk]:
        """The disks that it consists of, as its contacts tell clients. Refused where none of these answers."""

    def level(self) -> str:
        """The release of this node's software, in a few words."""

    def mount(self, config: Config, /, filesystem: Known) -> None:
        """Mount it on this node. Refused with the reason."""

    def mounted(self, at: str) -> bool:
        """Whether a filesystem of this driver is mounted there."""

    def state(self, at: str) -> State | None:
        """What the client of a mounted filesystem says itself; None where nothing is mounted."""

    def unmount(self, at: str, *, force: bool = False) -> None:
        """`force` takes it from those who use it, as a shutdown does."""
