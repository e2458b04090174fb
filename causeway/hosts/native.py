"""This machine itself as the lab host."""

import os
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from causeway import process
from causeway.folders import LABS

if TYPE_CHECKING:
    from causeway.model.site import Site


@dataclass(frozen=True)
class NativeHost:
    """This machine: the tool inside is the tool outside, told that it is inside."""

    name: str

    def site(self) -> "Site":
        """The site of its lab."""
        from causeway.lab.lab import Lab

        return Lab.find(self.name).site

    def do(self, argv: list[str]) -> int:
        """Do a command, which has this process's terminal; returns its exit code."""
        return process.join([sys.executable, "-m", "causeway", *argv], os.environ | {"CAUSEWAY_LAB_HOST": "native"})

    terminal = do

    def lines(self, argv: list[str]) -> Generator[str, None, None]:
        """What the tool prints while it does a command, line by line; whoever ends this ends the command."""
        argv = [sys.executable, "-m", "causeway", *argv]
        return process.lines(argv, os.environ | {"CAUSEWAY_LAB_HOST": "native"})

    def end(self, graceful_s: float) -> None:  # noqa: ARG002 a machine is not ended, and its lab only in order
        """Take the lab down."""
        self.do(["down", self.name])


def all_hosts() -> Iterator[NativeHost]:
    """One for each lab that is up on this machine."""
    for folder in sorted(LABS.glob("*")):
        yield NativeHost(folder.name)
