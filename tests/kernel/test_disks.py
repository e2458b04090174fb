"""In the lab's own kernel: a disk takes as long as it is said to, to a thousandth; read and write apart."""

import disks
import pytest
from guests import lines


@pytest.fixture(scope="module")
def seconds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    return lines("disks.py", tmp_path_factory.mktemp("guest"), memory_mib=512)[0]


@pytest.mark.parametrize("way", ["read", "write"])
@pytest.mark.parametrize("name", ["rate", "access"])
def test_what_lies_together_takes_its_bytes_at_the_rate(
    seconds: dict[str, dict[str, float]], name: str, way: str
) -> None:
    kb_s, access_us = disks.ARMS[name][way == "write"], disks.ARMS[name][2 + (way == "write")]
    rest_us = (seconds[name][way] - disks.MIB * 2**20 / (kb_s * 1000)) * 1e6
    pieces = round(rest_us / access_us) if access_us else 0  # ext4 may have put the file in more than one place
    assert rest_us == pytest.approx(pieces * access_us, abs=100)
    assert (pieces > 0) == (access_us > 0)
    assert pieces < 5


@pytest.mark.parametrize("way", ["read", "write"])
def test_each_place_apart_takes_the_access_time(seconds: dict[str, dict[str, float]], way: str) -> None:
    kb_s, access_us = disks.ARMS["access"][way == "write"], disks.ARMS["access"][2 + (way == "write")]
    due = disks.PLACES * (access_us / 1e6 + disks.BLOCK / (kb_s * 1000))
    assert seconds["access"][f"{way} apart"] == pytest.approx(due, rel=1e-3)


def test_what_is_to_be_on_the_disk_takes_the_access_time_twice(seconds: dict[str, dict[str, float]]) -> None:
    """Once for what the journal says, and once for the block that says that all of it is there."""
    access_s, most_bytes = disks.ARMS["access"][3] / 1e6, 16 * 1024
    rest_s = seconds["access"]["commits"] - disks.PLACES * 2 * access_s
    assert 0 < rest_s < disks.PLACES * most_bytes / (disks.ARMS["access"][1] * 1000) + 4 * access_s
    assert seconds["rate"]["commits"] < disks.PLACES * most_bytes / (disks.ARMS["rate"][1] * 1000)


def test_a_disk_of_which_nothing_is_said_takes_no_time(seconds: dict[str, dict[str, float]]) -> None:
    assert max(seconds["none"].values()) < 1e-3
