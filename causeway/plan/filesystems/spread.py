"""How the bytes of a file go over a client's connections: what the plan of each driver gives."""

from dataclasses import dataclass
from typing import Literal

Direction = Literal["write", "read"]
DIRECTIONS: tuple[Direction, ...] = ("write", "read")


@dataclass(frozen=True)
class Spread:
    """`connections` of a client's connections to data daemons carry `part` bytes each for each byte of a file.

    At the other end of each `stored` bytes of these are written to a disk, or read from it.

    Where these are not all of them, which they are depends on the file. With `turns` clients that use one file at the
    same time take turns, so that all of them together are no faster than one.
    """

    connections: int
    part: float
    stored: float
    turns: bool

    @property
    def carried(self) -> float:
        """The bytes on the network for each byte of a file."""
        return self.connections * self.part
