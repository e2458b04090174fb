"""What the commands and a driver tell each other of filesystems."""

from typing import NamedTuple


class Known(NamedTuple):
    """A filesystem that the nodes of this cluster can mount, its own or another cluster's (not `own`).

    Its contacts, the first of which answers, are asked what it consists of. `access` is rw or ro.
    """

    name: str
    remote_name: str
    contacts: list[str]
    mount_point: str
    access: str
    own: bool
    automount: bool


class State(NamedTuple):
    """A mounted filesystem as its client sees it: the servers that it has, and is connected to; `spare` may be missing.

    "Server" is what a client needs connections to: a driver that has several daemons a server counts those.
    """

    connected: int
    servers: int
    spare: int

    @property
    def needed(self) -> int:
        return self.servers - self.spare

    @property
    def usable(self) -> bool:
        return self.servers > 0 and self.connected >= self.needed


class Disk(NamedTuple):
    """A part of a filesystem, by its path on the server that serves it; of that, the name that clients are told."""

    path: str
    server: str
