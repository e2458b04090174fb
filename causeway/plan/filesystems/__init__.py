"""What is computed of filesystems, by driver: a module (gluster) that has what Driver says."""

from typing import Protocol

from causeway.model.topology import Filesystem
from causeway.plan.filesystems import gluster
from causeway.plan.filesystems.spread import Direction, Spread


class Driver(Protocol):
    def spread(self, filesystem: Filesystem, servers: int, direction: Direction) -> Spread:
        """How the bytes of one file go over a client's connections, with so many servers."""

    def hopes_s(self, filesystem: Filesystem) -> float:
        """How long a client whom no server lets in waits for one that does, in seconds."""


BY_DRIVER: dict[str, Driver] = {"gluster": gluster}
