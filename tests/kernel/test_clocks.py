"""In the lab's own kernel: who reads the clock does so without it; who waits by reading the clock, or a socket that has
nothing, rests meanwhile."""

from typing import Any

import clocks
import pytest
from guests import lines

#: What the spins are to take, and at most: a rest is a millisecond, and a spin begins with one and ends after two.
LEAST_MS = clocks.SPINS * clocks.SPIN_NS / 1e6
MOST_MS = clocks.SPINS * 3 + 1
#: So many readings are a process's own, and cost it so much; at the next it enters the kernel.
OWN, READING_MS = 32, 256e-6
#: So often a poll that has not slept may promise what there is not, until who believes it rests.
PROMISES = 16
#: How often the clock is read, at most: until it counts as waiting, and then between rests.
MOST_READINGS = 256 + (OWN + 1) * 4 * clocks.SPINS


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return {line["what"]: line for line in lines("clocks.py", tmp_path_factory.mktemp("guest"))}


def test_who_waits_by_reading_the_clock_reads_it_rarely(found: dict[str, dict[str, Any]]) -> None:
    assert 256 <= found["one"]["readings"] < MOST_READINGS
    assert LEAST_MS <= found["one"]["ms"] < MOST_MS


def test_several_that_wait_so_wait_at_the_same_time(found: dict[str, dict[str, Any]]) -> None:
    """Each begins with readings that do not rest, while the others wait for the CPU."""
    for one in found["eight"]["each"]:
        assert one["readings"] < MOST_READINGS
        assert LEAST_MS <= one["ms"] < MOST_MS + 8 * 2


def test_who_does_something_else_between_readings_does_not_rest_for_them(found: dict[str, dict[str, Any]]) -> None:
    """But as who enters the kernel often does, a millisecond after each thousand times: readings are none."""
    readings_ms = clocks.CALLS * clocks.READINGS * READING_MS
    assert readings_ms < found["busy"]["ms"] < readings_ms + 1.1 * clocks.CALLS / 1000


def test_clocks_go_on_for_all_who_read_them_by_themselves_or_from_the_kernel(found: dict[str, dict[str, Any]]) -> None:
    assert found["told"] == {"what": "told", "monotonic": True, "realtime": True}


def test_who_asks_a_silent_peer_again_and_again_asks_rarely_and_hears_it_at_once(
    found: dict[str, dict[str, Any]],
) -> None:
    silent_ms = clocks.SILENT_S * 1000
    assert PROMISES < found["silent"]["tries"] <= PROMISES + silent_ms
    assert silent_ms <= found["silent"]["ms"] < silent_ms + 3


def test_who_gets_something_meanwhile_does_not_rest_for_what_there_is_not(found: dict[str, dict[str, Any]]) -> None:
    """But as who enters the kernel often does: a millisecond after each thousand times."""
    assert found["answered"]["tries"] > 256 + 50 * clocks.SILENT_S * 1000


def test_who_slept_until_a_poll_promised_something_does_not_rest_for_it_soon(found: dict[str, dict[str, Any]]) -> None:
    """Others have run meanwhile, and time has passed. Whoever rests sleeps through ten wakes at once."""
    assert found["woken"]["wakes"] > clocks.WAKES / 2
