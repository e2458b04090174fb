"""Source ports that are drawn until their streams fall as wanted: soon, or it is said that they cannot."""

import random
from pathlib import Path

import pytest

from causeway.errors import Unsupported
from causeway.lab.probes.nuttcp import Stream
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import draw
from tests.unit.here import here

PEER = ["FEN"]


def drawn(folder: Path, seed: int, accept: object) -> list[Stream]:
    stage = Stage(here(folder), random.Random(seed))
    return draw(stage, Ask(stage.site).channel(), PEER, "t", accept)  # type: ignore[arg-type]


def test_a_draw_is_the_seeds_and_is_one_that_is_wanted(tmp_path: Path) -> None:
    counts: list[list[int]] = []

    def second(count: list[int]) -> bool:
        counts.append(count)
        return count[1] == 1

    assert drawn(tmp_path, 1, second) == drawn(tmp_path, 1, lambda count: count[1] == 1)
    assert drawn(tmp_path, 1, second) != drawn(tmp_path, 2, second)
    assert counts[-1] == [0, 1, 0, 0] and all(sum(count) == 1 for count in counts)


def test_what_no_draw_can_be_is_not_tried_for_ever(tmp_path: Path) -> None:
    with pytest.raises(Unsupported) as caught:
        drawn(tmp_path, 1, lambda count: len(set(count)) == 1)  # one stream is on one member
    assert str(caught.value) == (
        "1 streams do not fall on nsd01's 4 members as this takes it: 400 draws of source ports were in vain"
        " (it sends by layer3+4)"
    )
