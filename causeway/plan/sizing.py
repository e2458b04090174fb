"""How many storage building blocks a rate or a capacity takes, and what bounds them: servers, arrays, links, clients.

Source: R. L. Paden, "GPFS Best Practices", 2009; its numbers are in blocks.yaml, each with its passage. They are upper
bounds. A file of one's own may have other blocks, in the same form.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, StringConstraints, ValidationError

from causeway.errors import BadInput
from causeway.model.findings import Finding, one_of
from causeway.model.thing import Thing
from causeway.model.yaml_text import Text

FILE = Path(__file__).with_name("blocks.yaml")
#: Numbers beyond this are mistakes.
MOST = 1e9
_Positive = Annotated[float, Field(gt=0, le=MOST)]
_Count = Annotated[int, Field(ge=1, le=MOST)]
_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$")]
#: What a terminal is shown of a stranger's file.
_Words = Annotated[str, StringConstraints(pattern=r"^[ -~]{1,200}$")]
#: For each number the seed's page, as `pages` calls it, and what stands there.
_Says = Annotated[dict[str, str], Field(default_factory=dict)]


class Link(Thing):
    """A server's link (MB/s, each way); `needed_mb_s` is what a design counts on."""

    rate_mb_s: _Positive
    needed_mb_s: _Positive
    ports: _Count
    says: _Says


class Tier(Thing):
    """What so many RAID groups were measured to give."""

    write_mb_s: _Positive
    read_mb_s: _Positive
    write_iops: _Positive | None = None
    read_iops: _Positive | None = None


class Block(Thing):
    """An array with its servers. A rate that the seed has not is None; so is a disk's size."""

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
    parity: Annotated[int, Field(ge=0)]
    tiers: Annotated[dict[_Count, Tier], Field(default_factory=dict)]
    small_disks: _Count | None = None
    most_in_pool: _Count | None = None
    cautions: tuple[_Words, ...] = ()
    says: _Says

    @property
    def groups(self) -> int:
        """As many whole RAID groups as there are disks for."""
        return (self.disks - self.spares) // (self.data + self.parity)

    @property
    def raw_tb(self) -> float | None:
        """All disks but the spares."""
        return None if self.disk_tb is None else (self.disks - self.spares) * self.disk_tb

    @property
    def usable_tb(self) -> float | None:
        """The data disks of the RAID groups."""
        return None if self.disk_tb is None else self.groups * self.data * self.disk_tb


class Large(Thing):
    """From which rate on a small block is not for it, and which blocks are."""

    mb_s: _Positive
    blocks: list[str]
    says: str


class Ports(Thing):
    """How many host ports a SAN should have at most."""

    ports: _Count
    says: str


class Unfit(Thing):
    """Arrays that are not for this at all."""

    arrays: list[str]
    says: str


class Catalogue(Thing):
    """All of blocks.yaml."""

    pages: dict[str, str]
    links: dict[str, Link]
    blocks: dict[str, Block]
    large: Large
    most_ports: Ports
    unfit: Unfit


class Own(Thing):
    """A file of blocks of one's own; its links are beside those that there are."""

    links: Annotated[dict[_Name, Link], Field(default_factory=dict)]
    blocks: Annotated[dict[_Name, Block], Field(min_length=1)]


@cache
def catalogue() -> Catalogue:
    """The building blocks that there are."""
    return Catalogue.model_validate(yaml.safe_load(FILE.read_text()))


def own(file: Path) -> Catalogue:
    """The blocks of a file, in place of those that there are. BadInput with all its mistakes, each with its line."""
    text, known = Text(file), catalogue()
    findings = list(text.findings)
    try:
        found = Own.model_validate(text.data)
    except ValidationError as error:
        remedy = "docs/sizing.md has the form"
        items = error.errors(include_url=False, include_context=False)
        findings += [Finding(item["loc"], f"{item['msg'][0].lower()}{item['msg'][1:]}", remedy) for item in items]
    else:
        known = known.model_copy(update={"links": {**known.links, **found.links}, "blocks": found.blocks})
        findings += _wrong(known)
    if findings:
        raise BadInput([text.problem(finding) for finding in findings])
    return known


def _wrong(known: Catalogue) -> Iterator[Finding]:
    for name, block in known.blocks.items():
        for end in "lan", "san":
            if (link := getattr(block, end)) not in known.links:
                yield Finding(("blocks", name, end), f"there is no link {link!r}", one_of(link, known.links))
        if block.groups < 1:
            has = f"{block.disks} disks with {block.spares} spares"
            yield Finding(("blocks", name, "disks"), f"{has} are no group of {block.data}+{block.parity}", "add disks")


@dataclass(frozen=True)
class Need:
    """What is asked for, in MB/s, operations a second and TB; 0 where nothing is."""

    write_mb_s: float = 0
    read_mb_s: float = 0
    write_iops: float = 0
    read_iops: float = 0
    usable_tb: float = 0


class NoAnswer(Exception):
    """There is no such number for a block, or no number of blocks does what is asked for."""


@dataclass(frozen=True)
class Clients:
    """Nodes that work at once, each with a link like a server's; `blocking` to 1 of them share an uplink's rate."""

    nodes: int
    blocking: float = 1


@dataclass(frozen=True)
class Stage:
    """What everything passes: an array's disks, its servers' SAN or LAN links, its clients' uplinks; in MB/s."""

    name: str
    write_mb_s: float
    read_mb_s: float


def servers_for(rate_mb_s: float, link: Link) -> int:
    """How many servers with such a link a rate takes."""
    return _times(rate_mb_s, link.rate_mb_s)


@dataclass(frozen=True)
class Size:
    """So many blocks, and what they give: `because` is the need that asks for most of them."""

    name: str
    blocks: int = 1
    because: str = "the least there is"
    clients: Clients | None = None
    known: Catalogue = field(default_factory=catalogue, repr=False)

    @property
    def block(self) -> Block:
        return self.known.blocks[self.name]

    @property
    def lan(self) -> Link:
        return self.known.links[self.block.lan]

    @property
    def san(self) -> Link:
        return self.known.links[self.block.san]

    @property
    def servers(self) -> int:
        return self.blocks * self.block.servers

    @property
    def servers_needed(self) -> int:
        """How many servers the arrays would keep busy."""
        rate = self.blocks * max(self.block.write_mb_s, self.block.read_mb_s)
        return max(servers_for(rate, link) for link in (self.lan, self.san))

    @property
    def disks(self) -> int:
        return self.blocks * self.block.disks

    @property
    def raw_tb(self) -> float | None:
        return None if self.block.raw_tb is None else self.blocks * self.block.raw_tb

    @property
    def usable_tb(self) -> float | None:
        return None if self.block.usable_tb is None else self.blocks * self.block.usable_tb

    @property
    def stages(self) -> list[Stage]:
        """From the disks to the clients."""
        array = Stage("array", self.blocks * self.block.write_mb_s, self.blocks * self.block.read_mb_s)
        rates = {"SAN": self.servers * self.san.rate_mb_s, "LAN": self.servers * self.lan.rate_mb_s}
        if self.clients is not None:
            rates["clients"] = self.clients.nodes * self.lan.rate_mb_s
            if self.clients.blocking > 1:
                rates["uplinks"] = rates["clients"] / self.clients.blocking
        return [array, *(Stage(name, rate, rate) for name, rate in rates.items())]

    @property
    def write(self) -> Stage:
        """The stage that bounds writing."""
        return min(self.stages, key=lambda stage: stage.write_mb_s)

    @property
    def read(self) -> Stage:
        """The stage that bounds reading."""
        return min(self.stages, key=lambda stage: stage.read_mb_s)

    @property
    def per_server_mb_s(self) -> float:
        """What each server must carry for the arrays to be busy."""
        return max(self.block.write_mb_s, self.block.read_mb_s) / self.block.servers

    @property
    def average_mb_s(self) -> tuple[float, float] | None:
        """What each client writes and reads when all do."""
        if self.clients is None:
            return None
        return self.write.write_mb_s / self.clients.nodes, self.read.read_mb_s / self.clients.nodes

    def warnings(self) -> Iterator[str]:
        """What the seed warns of at this size."""
        known, block = self.known, self.block
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
        ports = self.servers * self.san.ports
        if ports > (most := known.most_ports.ports):
            yield (
                f"{ports} host ports: a SAN should have at most {most}; beyond, the queue depth must be"
                f" {most / ports:.2f} times what it was"
            )
        if self.servers_needed > self.servers:
            yield f"its arrays would keep {self.servers_needed} servers busy, and there are {self.servers}"
        if self.per_server_mb_s > self.lan.needed_mb_s:
            each = f"each server must carry {self.per_server_mb_s:.0f} MB/s"
            yield f"{each}, and {self.lan.needed_mb_s:g} is what to count on"
        yield from self._of_uplinks()
        yield from self._of_tiers()
        yield from block.cautions

    def _of_uplinks(self) -> Iterator[str]:
        """Servers that are plugged in like clients share an uplink, too."""
        if self.clients is None:
            return
        lan = self.servers * self.lan.rate_mb_s / self.clients.blocking
        if self.clients.blocking > 1 and lan < max(self.write.write_mb_s, self.read.read_mb_s):
            yield f"servers behind uplinks of {self.clients.blocking:g}:1 would carry {lan:.0f} MB/s together"

    def _of_tiers(self) -> Iterator[str]:
        """A rate that was not measured with so few disks."""
        block = self.block
        for tiers, gave in sorted(block.tiers.items()):
            if tiers >= block.groups and (gave.write_mb_s < block.write_mb_s or gave.read_mb_s < block.read_mb_s):
                yield (
                    f"its {block.disks} disks are {block.groups} tiers: {tiers} were measured to write"
                    f" {gave.write_mb_s:g} and read {gave.read_mb_s:g} MB/s"
                )
                return


def size(name: str, need: Need, clients: Clients | None = None, known: Catalogue | None = None) -> Size:
    """The least number of blocks of this name that meets a need; at least one.

    KeyError for a name that there is not; NoAnswer where a block lacks the number that is asked for, or where the
    clients carry less than that.
    """
    one = Size(name, clients=clients, known=known or catalogue())
    block, inner = one.block, {stage.name: stage for stage in one.stages}
    gives = {
        "write_mb_s": min(inner[name].write_mb_s for name in ("array", "SAN", "LAN")),
        "read_mb_s": min(inner[name].read_mb_s for name in ("array", "SAN", "LAN")),
        "write_iops": block.write_iops,
        "read_iops": block.read_iops,
        "usable_tb": block.usable_tb,
    }
    outer = [stage for stage in one.stages if stage.name in ("clients", "uplinks")]
    blocks, because = 1, one.because
    for what, wanted in _asked(need).items():
        if (each := gives[what]) is None:
            raise NoAnswer(f"nothing is known of {name}'s {what}")
        for stage in outer:
            if getattr(stage, what, wanted) < wanted:
                raise NoAnswer(f"{stage.name} carry {stage.write_mb_s:g} MB/s, however many {name} there are")
        if (times := _times(wanted, each)) > blocks:
            blocks, because = times, what
    return Size(name, blocks, because, clients, one.known)


def _asked(need: Need) -> Mapping[str, float]:
    return {what: wanted for what, wanted in vars(need).items() if wanted}


def _times(wanted: float, each: float) -> int:
    """How many of `each` it takes; how floats are rounded is no reason for one more."""
    return ceil(wanted / each - 1e-9)
