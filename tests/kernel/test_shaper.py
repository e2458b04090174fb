"""In the lab's own kernel: a shaper below a bond lets through what the wire carries, framing of each packet counted."""

from typing import Any

import pytest
import shapers
from guests import lines


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return lines("shapers.py", tmp_path_factory.mktemp("guest"))


@pytest.mark.parametrize("number", range(len(shapers.STREAMS)), ids=[f"{n} streams" for n in shapers.STREAMS])
def test_a_wire_below_a_bond_carries_what_it_does(found: list[dict[str, Any]], number: int) -> None:
    assert found[number]["streams"] == shapers.STREAMS[number]
    assert found[number]["wire_mbit"] == pytest.approx(shapers.RATE_MBIT, rel=1e-3)


def test_some_of_what_it_shapes_is_more_than_a_packet(found: list[dict[str, Any]]) -> None:
    assert max(each["longest"] for each in found) > 1514
