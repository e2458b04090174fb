"""Waiting for a condition: it ends with what was seen last, or says what that was."""

import time
from collections.abc import Iterator

import pytest

from causeway.errors import CheckFailed, LabBroken
from causeway.wait import until


def counting() -> Iterator[int]:
    yield from range(1000)


def test_it_gives_the_value_that_was_enough_and_looks_no_more() -> None:
    seen = counting()
    assert until("three", lambda: next(seen), enough=lambda n: n == 3, deadline_s=5, poll_s=0.001) == 3
    assert next(seen) == 4


def test_without_saying_what_is_enough_it_waits_until_nothing_is_missing() -> None:
    missing = [["nsd01", "nsd02"], ["nsd02"], []]
    assert until("all are up", lambda: missing.pop(0), deadline_s=5, poll_s=0.001) == []
    assert until("it says nothing", lambda: "", deadline_s=0) == ""


def test_what_holds_already_is_not_waited_for() -> None:
    began = time.monotonic()
    until("at once", lambda: "", deadline_s=0, poll_s=10)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("blame", [LabBroken, CheckFailed])
def test_too_late_it_raises_what_its_caller_says_with_name_deadline_and_last_value(blame: type[Exception]) -> None:
    with pytest.raises(blame) as caught:
        until("nsd01 is up", lambda: "booting", deadline_s=0.02, poll_s=0.005, otherwise=blame)
    assert str(caught.value) == "nsd01 is up: not within 0.02 s; last: booting"


def test_unless_told_otherwise_the_lab_is_to_blame_and_a_probe_that_raises_ends_it() -> None:
    with pytest.raises(LabBroken, match="never: not within 0 s; last: no"):
        until("never", lambda: "no", deadline_s=0, poll_s=0.001)

    def hopeless() -> str:
        raise CheckFailed("it can never be")

    with pytest.raises(CheckFailed, match="it can never be"):
        until("never", hopeless, deadline_s=1000)
