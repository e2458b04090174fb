"""Ctrl-C and SIGTERM: an exception where one can be stopped, and later where something must come to its end."""

import os
import signal
from collections.abc import Iterator

import pytest

from causeway import interrupts

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def as_a_person_has_it() -> Iterator[None]:
    """Whoever runs the tests in the background may ignore some."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", SIGNALS)
def test_each_becomes_an_exception_and_is_handled_as_before_afterwards(number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    with pytest.raises(KeyboardInterrupt), interrupts.raised():
        send(number)
    assert [signal.getsignal(each) for each in SIGNALS] == before


@pytest.mark.parametrize("number", SIGNALS)
def test_what_holds_them_comes_to_its_end_first(number: signal.Signals) -> None:
    did = []
    with pytest.raises(KeyboardInterrupt), interrupts.raised(), interrupts.held() as noted:
        assert not noted.came
        send(number)
        did.append("the rest")
        assert noted.came
    assert did == ["the rest"]


def test_without_one_nothing_is_raised() -> None:
    with interrupts.held() as noted:
        pass
    assert not noted.came


def test_what_is_ignored_goes_on_to_be() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with interrupts.raised(), interrupts.held() as noted:
        send(signal.SIGHUP)
    assert not noted.came and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
