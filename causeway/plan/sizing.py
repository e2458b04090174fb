"""How many storage building blocks a rate or a capacity takes, and what bounds them: servers, arrays, links.

Source: R. L. Paden, "GPFS Best Practices", 2009; its numbers are in blocks.yaml. They are upper bounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field

from causeway.model.thing import Thing

FILE = Path(__file__).with_name("blocks.yaml")
_Positive = Annotated[float, Field(gt=0)]
_Count = Annotated[int, Field(ge=1)]


class Link(Thing):
    """A server's link (MB/s, each way); `needed_mb_s` is what a design counts on."""

    page: str
    rate_mb_s: _Positive
    needed_mb_s: _Positive
    ports: _Count


class Block(Thing):
    """An array with its servers. A rate that the seed has not is None; so is a disk's size."""

    page: str
    write_mb_s: _Positive
    read_mb_s: _Positive
    write_iops: _Positive | None = None
    read_iops: _Positive | None = None
    servers: _Count
    lan: str
    san: str
    disks: _Count
    spares: Annotated[int, Field(ge=0)] = 0
    disk_tb: _Positive | None = None
    data: _Count
    parity: _Count
    small_disks: _Count | None = None
    most_in_pool: _Count | None = None
    cautions: tuple[str, ...] = ()

    @property
    def raw_tb(self) -> float | None:
        """All disks but the spares."""
        return None if self.disk_tb is None else (self.disks - self.spares) * self.disk_tb

    @property
    def usable_tb(self) -> float | None:
        """The data disks of as many whole RAID groups as there are disks for."""
        groups = (self.disks - self.spares) // (self.data + self.parity)
        return None if self.disk_tb is None else groups * self.data * self.disk_tb


class Large(Thing):
    """From which rate on a small block is not for it, and which blocks are."""

    page: str
    mb_s: _Positive
    blocks: list[str]


class Ports(Thing):
    """How many host ports a SAN should have at most."""

    page: str
    ports: _Count


class Catalogue(Thing):
    """All of blocks.yaml."""

    links: dict[str, Link]
    blocks: dict[str, Block]
    large: Large
    most_ports: Ports


@cache
def catalogue() -> Catalogue:
    """The building blocks that there are."""
    return Catalogue.model_validate(yaml.safe_load(FILE.read_text()))


@dataclass(frozen=True)
class Need:
    """What is asked for, in MB/s, operations a second and TB; 0 where nothing is."""

    write_mb_s: float = 0
    read_mb_s: float = 0
    write_iops: float = 0
    read_iops: float = 0
    usable_tb: float = 0


class Unknown(Exception):
    """What is asked for cannot be answered: the seed has no such number for that block."""


@dataclass(frozen=True)
class Stage:
    """What everything passes: an array's disks, its servers' SAN or LAN links; in MB/s."""

    name: str
    write_mb_s: float
    read_mb_s: float


def stages(block: Block) -> list[Stage]:
    """The stages of one block, from the disks to the clients' network."""
    links = catalogue().links
    lan, san = (block.servers * links[name].rate_mb_s for name in (block.lan, block.san))
    return [Stage("array", block.write_mb_s, block.read_mb_s), Stage("SAN", san, san), Stage("LAN", lan, lan)]


def servers_for(rate_mb_s: float, link: Link) -> int:
    """How many servers with such a link a rate takes."""
    return _times(rate_mb_s, link.rate_mb_s)


@dataclass(frozen=True)
class Size:
    """So many blocks, and what they give: `because` is the need that asks for most of them."""

    name: str
    block: Block
    blocks: int
    because: str

    @property
    def servers(self) -> int:
        return self.blocks * self.block.servers

    @property
    def disks(self) -> int:
        return self.blocks * self.block.disks

    @property
    def write(self) -> Stage:
        """The stage that bounds writing."""
        return min(self._stages(), key=lambda stage: stage.write_mb_s)

    @property
    def read(self) -> Stage:
        """The stage that bounds reading."""
        return min(self._stages(), key=lambda stage: stage.read_mb_s)

    @property
    def usable_tb(self) -> float | None:
        return None if self.block.usable_tb is None else self.blocks * self.block.usable_tb

    @property
    def per_server_mb_s(self) -> float:
        """What each server must carry for the arrays to be busy."""
        return max(self.block.write_mb_s, self.block.read_mb_s) / self.block.servers

    def average_mb_s(self, nodes: int) -> tuple[float, float]:
        """What each of so many nodes writes and reads when all do."""
        return self.write.write_mb_s / nodes, self.read.read_mb_s / nodes

    def warnings(self) -> Iterator[str]:
        """What the seed warns of at this size."""
        known, block = catalogue(), self.block
        if block.most_in_pool is not None and self.blocks > block.most_in_pool:
            yield (
                f"not more than {block.most_in_pool} in one file system or storage pool: a RAID rebuild in one array"
                " slows all of them"
            )
        rate = max(self.write.write_mb_s, self.read.read_mb_s)
        if block.small_disks is not None and (self.disks > block.small_disks or rate > known.large.mb_s):
            yield (
                f"for more than {block.small_disks} such disks or {known.large.mb_s:g} MB/s take"
                f" {' or '.join(known.large.blocks)}"
            )
        ports = self.servers * known.links[block.san].ports
        if ports > (most := known.most_ports.ports):
            yield (
                f"{ports} host ports: a SAN should have at most {most}; beyond, the queue depth must be"
                f" {most / ports:.2f} times what it was"
            )
        lan = known.links[block.lan]
        if self.per_server_mb_s > lan.needed_mb_s:
            yield f"each server must carry {self.per_server_mb_s:.0f} MB/s, and {lan.needed_mb_s:g} is what to count on"
        yield from block.cautions

    def _stages(self) -> Iterator[Stage]:
        for stage in stages(self.block):
            yield Stage(stage.name, self.blocks * stage.write_mb_s, self.blocks * stage.read_mb_s)


def size(name: str, need: Need) -> Size:
    """The least number of blocks of this name that meets a need; at least one.

    KeyError for a name that there is not; Unknown where the seed lacks the number that is asked for.
    """
    block = catalogue().blocks[name]
    one = Size(name, block, 1, "the least there is")
    gives = {
        "write_mb_s": one.write.write_mb_s,
        "read_mb_s": one.read.read_mb_s,
        "write_iops": block.write_iops,
        "read_iops": block.read_iops,
        "usable_tb": block.usable_tb,
    }
    blocks, because = 1, one.because
    for what, each in gives.items():
        if not (wanted := getattr(need, what)):
            continue
        if each is None:
            raise Unknown(f"the seed says nothing of {name}'s {what}")
        if (times := _times(wanted, each)) > blocks:
            blocks, because = times, what
    return Size(name, block, blocks, because)


def _times(wanted: float, each: float) -> int:
    """How many of `each` it takes; how floats are rounded is no reason for one more."""
    return ceil(wanted / each - 1e-9)
