"""This machine as a node of a cluster, and how a command on it ends."""

from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

from mc.config import Config, Node

#: This machine as a node: the commands know themselves by their addresses.
HERE = Node(1, "SN-b", "127.0.0.1", "quorum")


def lay_out(var: Path) -> None:
    """Make the folders and links of a /var/mc, without any table or key."""
    (var / "state.a").mkdir(parents=True)
    for part, mode in {"gen": 0o755, "ssl": 0o700}.items():
        (var / "state.a" / part).mkdir(mode)
        (var / part).symlink_to(f"now/{part}")
    (var / "now").symlink_to("state.a")


def configured(name: str, id: str = "", server: str = "", **about: Any) -> Config:
    """A configuration of which all this is said."""
    return like(Config(name, id, server), **about)


def like(config: Config, **about: Any) -> Config:
    """The same, but for what is said."""
    other = copy(config)
    for what, value in about.items():
        assert hasattr(other, what), what
        setattr(other, what, value)
    return other


class Said(NamedTuple):
    """How a command ended, and what it said."""

    rc: int
    out: str
    err: str


Does = Callable[[str], Said]
