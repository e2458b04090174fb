"""The numbers that the seed of the building blocks has printed, computed anew, and what they contradict each other in.

Source: R. L. Paden, "GPFS Best Practices", 2009; cells and contradictions are in published.yaml.
"""

import re
from collections.abc import Callable
from functools import cache
from math import isclose, prod
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field

from causeway.model.thing import Thing
from causeway.plan.sizing import Clients, Size, catalogue

FILE = Path(__file__).with_name("published.yaml")
_PRINTED = re.compile(r"(?P<sign><|>=)? ?(?P<digits>[\d,]+(?:\.(?P<decimals>\d+))?)(?: (?P<unit>\S+))?")
#: What units are in those that are computed in: MB/s, TB, operations a second.
_UNITS = {"GB/s": 1000}


class Cell(Thing):
    """A printed number, and by what it is computed; `but` is the contradiction that it is part of."""

    says: str
    printed: Annotated[str, Field(alias="is", pattern=_PRINTED.pattern)]
    by: str
    of: str = ""
    blocks: int = 1
    way: Literal["write", "read"] = "write"
    nodes: int | None = None
    blocking: float = 1
    link: str = ""
    times: int = 1
    factors: tuple[float, ...] = ()
    but: str | None = None

    @property
    def size(self) -> Size:
        """The blocks that it is about."""
        clients = None if self.nodes is None else Clients(self.nodes, self.blocking)
        return Size(self.of, self.blocks, clients=clients)

    @property
    def computed(self) -> float:
        """In MB/s, TB, operations a second, or pieces."""
        return FORMULAS[self.by](self)

    @property
    def agrees(self) -> bool:
        """Whether what is computed is what is printed: below a bound by less than its last digit; else equal.

        What is only required (>=) may be more.
        """
        sign, value, digit = self._printed()
        if sign == "":
            return isclose(self.computed, value)
        above = value - self.computed
        return above >= -1e-9 and (sign == ">=" or above < digit)

    @property
    def ours(self) -> str:
        """What is computed, in the printed unit."""
        unit = self._unit
        return f"{self.computed / _UNITS.get(unit, 1):.6g} {unit}".strip()

    @property
    def _unit(self) -> str:
        return self.printed.split()[-1] if self.printed[-1].isalpha() else ""

    def _printed(self) -> tuple[str, float, float]:
        """Sign, number and what its last digit counts."""
        found = _PRINTED.fullmatch(self.printed)
        assert found is not None
        scale = _UNITS.get(self._unit, 1)
        return (
            found["sign"] or "",
            float(found["digits"].replace(",", "")) * scale,
            float(scale * 10 ** -len(found["decimals"] or "")),
        )


class Figure(Thing):
    """One of two numbers for one thing, and where it stands."""

    printed: Annotated[str, Field(alias="is")]
    says: str


class Contradiction(Thing):
    """What the seed says twice and not alike, and what the calculator takes."""

    blocks: list[str]
    about: str
    figures: Annotated[list[Figure], Field(min_length=2)]
    takes: str


class Published(Thing):
    """All of published.yaml."""

    cells: list[Cell]
    contradictions: dict[str, Contradiction]


@cache
def published() -> Published:
    """What the seed has printed."""
    return Published.model_validate(yaml.safe_load(FILE.read_text()))


def contradictions_of(block: str) -> dict[str, Contradiction]:
    """Those that touch a block."""
    return {name: one for name, one in published().contradictions.items() if block in one.blocks}


def place(says: str) -> str:
    """A passage with the titles of its pages in place of their short names."""
    names, _, words = says.partition(": ")
    return f"{words} ({'; '.join(catalogue().pages[name] for name in names.split(', '))})"


def _bound(cell: Cell) -> float:
    size = cell.size
    return size.write.write_mb_s if cell.way == "write" else size.read.read_mb_s


def _operations(cell: Cell) -> float:
    block = cell.size.block
    return cell.blocks * ((block.write_iops if cell.way == "write" else block.read_iops) or 0)


#: By its name, how a cell is computed.
FORMULAS: dict[str, Callable[[Cell], float]] = {
    "bound": _bound,
    "average": lambda cell: _bound(cell) / (cell.nodes or 1),
    "port": lambda cell: cell.size.lan.rate_mb_s / cell.blocking,
    "operations": _operations,
    "per_server": lambda cell: cell.size.per_server_mb_s,
    "disks": lambda cell: cell.size.disks,
    "raw": lambda cell: cell.size.raw_tb or 0,
    "usable": lambda cell: cell.size.usable_tb or 0,
    "links": lambda cell: cell.times * catalogue().links[cell.link].rate_mb_s,
    "product": lambda cell: prod(cell.factors),
}
