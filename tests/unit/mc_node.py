"""This machine as a node of a cluster, and how a command on it ends."""

from collections.abc import Callable
from typing import NamedTuple

from mc.config import Node

#: This machine as a node: the commands know themselves by their addresses.
HERE = Node(1, "SN-b", "127.0.0.1", "quorum")


class Said(NamedTuple):
    """How a command ended, and what it said."""

    rc: int
    out: str
    err: str


Does = Callable[[str], Said]
