"""In the lab's own kernel: a cable is as long as it is said to be, and a stream has one window in each round trip."""

from typing import Any

import pytest
import wires
from guests import lines

from causeway.plan.delays import window_mbit
from causeway.plan.fairshare import tcp_goodput_mbit

TRIP_MS = 2 * wires.DELAY_MS


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return lines("wires.py", tmp_path_factory.mktemp("guest"))[0]


def test_a_round_trip_is_that_of_the_cable_for_small_and_large_packets(seen: dict[str, Any]) -> None:
    assert seen["trips_ms"] == pytest.approx([TRIP_MS, TRIP_MS], rel=0.01)


@pytest.mark.parametrize("number", range(len(wires.BUFFERS)))
def test_a_stream_carries_its_window_in_each_round_trip_or_what_the_wire_does(
    seen: dict[str, Any], number: int
) -> None:
    stream, wire = seen["streams"][number], tcp_goodput_mbit(wires.RATE_MBIT, 1500)
    windowed = window_mbit(stream["window"], TRIP_MS)
    assert (windowed > wire) == (number == len(wires.BUFFERS) - 1), "the windows are not of all kinds"
    assert stream["mbit"] == pytest.approx(min(windowed, wire), rel=0.01)
