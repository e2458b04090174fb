"""Each number that the seed of the building blocks has printed, computed anew; its contradictions."""

import re

import pytest

from causeway.docs.sizing import sizing_page
from causeway.plan.published import Cell, contradictions_of, place, published
from causeway.plan.sizing import Size, catalogue

CELLS, CONTRADICTIONS = published().cells, published().contradictions
BLOCKS, LINKS = catalogue().blocks, catalogue().links


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.says)
def test_a_cell_comes_out_or_is_part_of_a_contradiction(cell: Cell) -> None:
    assert cell.agrees == (cell.but is None), f"{cell.printed} is printed, and {cell.ours} computed"


def test_the_contradictions_are_exactly_these() -> None:
    by_cells = {cell.but for cell in CELLS if not cell.agrees}
    assert by_cells == {"averages", "peak", "sas", "ds3400-usable", "ds3400-read", "ds5300-tbe", "ds5300-fc8"}
    #: What the seed says in two places, and no cell computes.
    by_places = {"tiers", "linear", "operations", "ds3400-spares", "ds3400-most", "15krpm", "ds5300-disks"}
    assert CONTRADICTIONS.keys() == by_cells | by_places


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_has_numbers_that_differ_and_places_that_there_are(name: str) -> None:
    one = CONTRADICTIONS[name]
    printed = [figure.printed for figure in one.figures]
    assert len(set(printed)) == len(printed) > 1
    assert all(re.search(r"\d", text) for text in printed)
    assert all(place(figure.says) for figure in one.figures)
    assert one.blocks and set(one.blocks) <= BLOCKS.keys()
    assert all(name in contradictions_of(block) for block in one.blocks)


def digits(name: str, figure: int) -> list[float]:
    """The numbers of a contradiction's figure."""
    text = re.sub(r",(?=\d)", "", CONTRADICTIONS[name].figures[figure].printed)
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def test_what_we_set_beside_the_seeds_numbers_follows_from_them() -> None:
    dcs9900, ds3400, ds5300 = BLOCKS["dcs9900-sata"], BLOCKS["ds3400"], BLOCKS["ds5300-fc"]
    rates = dcs9900.write_mb_s, dcs9900.read_mb_s
    assert digits("averages", 1) == [round(rate / nodes, 1) for nodes in (84, 252, 336) for rate in rates]
    assert dcs9900.groups == 30
    assert digits("tiers", 1) == [dcs9900.tiers[32].write_mb_s, dcs9900.tiers[32].read_mb_s]
    assert digits("linear", 0) == [dcs9900.tiers[1].write_mb_s]
    assert digits("linear", 1) == [round(dcs9900.tiers[64].write_mb_s / 64, 1)]
    assert digits("operations", 1) == [dcs9900.tiers[32].write_iops, dcs9900.tiers[32].read_iops]
    assert digits("ds3400-usable", 1) == [Size("ds3400", 4).usable_tb]
    left = [4 * (ds3400.disks - spares) for spares in (4, 1)]
    assert left == [72, 84]  # of 450 GB: 32.4 and 37.8 TB
    assert digits("ds3400-read", 1) == [4 * LINKS["tbe"].rate_mb_s]
    for block, disks, figure in (ds3400, 22, 0), (ds5300, 128, 1):
        per_disk = [round((rate or 0) / disks) for rate in (block.write_iops, block.read_iops)]
        assert digits("15krpm", figure) == per_disk
    assert digits("ds5300-disks", 1) == [BLOCKS["ds5300-sata"].disks]
    assert 256 % (BLOCKS["ds5300-sata"].data + BLOCKS["ds5300-sata"].parity) != 0
    assert digits("ds5300-tbe", 1) == [8 * LINKS["tbe"].rate_mb_s / 1000]
    assert digits("ds5300-tbe", 0) == [8 * LINKS["tbe"].needed_mb_s / 1000]
    assert digits("ds5300-fc8", 1) == [8 * LINKS["fc8"].rate_mb_s / 1000]


@pytest.mark.parametrize(
    ("printed", "agrees"),
    {
        "< 5.4 GB/s": True,
        "< 5.5 GB/s": False,  # a bound that is not near
        "< 5.3 GB/s": False,
        "5400 MB/s": True,
        "5401 MB/s": False,
        ">= 5500 MB/s": True,
        ">= 5300 MB/s": False,
    }.items(),
)
def test_when_a_cell_agrees(printed: str, agrees: bool) -> None:
    cell = Cell.model_validate({"says": "dcs9900: x", "is": printed, "by": "bound", "of": "dcs9900-sata"})
    assert cell.agrees is agrees


def test_the_page_has_every_cell_and_contradiction() -> None:
    page = sizing_page()
    assert all(f"| {cell.printed.replace('|', '')} | {cell.ours} |" in page for cell in CELLS)
    assert all(f"| {name} |" in page for name in CONTRADICTIONS)
