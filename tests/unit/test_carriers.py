"""By which member a stream comes, from what a switch's flows have carried between two looks."""

from collections import Counter

from causeway.scenario.words.streams import carriers

PAIRS = {("a", "eth1"): [("p", "x-1")], ("a", "eth2"): [("p", "x-2")], ("b", "eth1"): [("q", "x-1"), ("r", "x-1")]}


def test_a_stream_comes_by_the_one_member_that_carried_it_by_whichever_port() -> None:
    more = {("p", "x-2"): 900_000, ("q", "x-1"): 200_000, ("r", "x-1"): 200_000}
    assert carriers(more, PAIRS) == {"a": "eth2", "b": "eth1"}


def test_little_is_no_stream_and_two_members_say_nothing() -> None:
    assert carriers({("p", "x-1"): 300_000}, PAIRS) == {}
    assert carriers({("p", "x-1"): 900_000, ("p", "x-2"): 900_000}, PAIRS) == {}


def test_what_a_forgotten_flow_had_carried_is_not_carried_again() -> None:
    before, now = Counter({("p", "x-1"): 620_000_000}), Counter({("p", "x-1"): 310_000_000, ("p", "x-2"): 5_000_000})
    assert carriers(now - before, PAIRS) == {"a": "eth2"}
