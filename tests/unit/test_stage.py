"""The stage: phases, what is due beside what is seen, changes and their undos. No node is needed for any of it."""

import math
import os
import random
import signal
import time
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, LabBroken
from causeway.lab.changes.change import Change, Step
from causeway.process import transcript
from causeway.report.result import Comparison, Text
from causeway.scenario.stage import Stage
from tests.unit.here import here


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(here(tmp_path), random.Random(1))


def file(path: Path) -> Change:
    """Not twice there, and it may be taken away twice."""
    return Change(f"there is {path.name}", (Step("SN", ("mkdir", str(path))),), (Step("SN", ("rm", "-rf", str(path))),))


FAILS = Change("it cannot be undone", (), (Step("SN", ("false",)),))


def test_no_port_is_drawn_twice_and_who_asks_for_too_many_is_told(stage: Stage) -> None:
    drawn = [port for _ in range(5) for port in stage.untaken(range(6000, 6020), 4)]
    assert sorted(drawn) == list(range(6000, 6020))
    with pytest.raises(ValueError):
        stage.untaken(range(6000, 6020), 1)


# Phases


def test_each_phase_is_a_step_with_its_sentence_and_what_was_typed(stage: Stage) -> None:
    phases = (stage.arrange, stage.healthy, stage.perturb, stage.observe, stage.judge, stage.contrast, stage.restore)
    for phase in phases:
        transcript.typed("SN", ["before"])
        transcript.take_typed()
        with phase("a sentence"):
            transcript.typed("SN", ["ip", "route"])
            stage.same("one", 1, 1)
    assert [step.phase for step in stage.steps] == [
        "Arrange", "Healthy", "Perturb", "Observe", "Judge", "Contrast", "Restore",
    ]  # fmt: skip
    for step in stage.steps:
        assert (step.ok, step.sentence, step.detail, step.commands) == (True, "a sentence", "", ["SN# ip route"])


@pytest.mark.parametrize("phase", ["arrange", "healthy", "perturb", "observe", "judge", "contrast", "restore"])
def test_what_is_seen_and_not_due_fails_its_step_in_every_phase(stage: Stage, phase: str) -> None:
    with pytest.raises(CheckFailed, match="members: expected 4, measured 3"), getattr(stage, phase)("four members"):
        stage.same("members", 4, 3)
    (step,) = stage.steps
    assert not step.ok and step.detail == "members: expected 4, measured 3"


def test_a_step_goes_on_to_its_end_and_names_what_was_wrong_in_it_and_not_before(stage: Stage) -> None:
    with stage.healthy("well"):
        stage.same("before", 1, 1)
    with pytest.raises(CheckFailed) as caught, stage.judge("five things"):
        for number in range(5):
            stage.same(f"thing {number}", 0, number)
    assert str(caught.value) == "; ".join(f"thing {n}: expected 0, measured {n}" for n in (1, 2, 3))
    assert len(stage.comparisons) == 6


@pytest.mark.parametrize("phase", ["healthy", "judge", "contrast", "restore"])
def test_a_phase_that_judges_nothing_fails(stage: Stage, phase: str) -> None:
    with pytest.raises(CheckFailed, match="'silent' judged nothing"), getattr(stage, phase)("silent"):
        pass
    assert not stage.steps[-1].ok


@pytest.mark.parametrize("phase", ["arrange", "perturb", "observe"])
def test_a_phase_that_is_not_there_to_judge_need_not(stage: Stage, phase: str) -> None:
    with getattr(stage, phase)("quiet"):
        pass
    assert stage.steps[-1].ok


def test_an_error_ends_the_step_with_its_words(stage: Stage) -> None:
    with pytest.raises(StopIteration), stage.perturb("something"):
        raise StopIteration
    assert (stage.steps[-1].ok, stage.steps[-1].detail) == (False, "StopIteration")


def test_phases_do_not_lie_within_each_other(stage: Stage) -> None:
    with (
        pytest.raises(RuntimeError, match="Judge 'inner' begins within Healthy"),
        stage.healthy("outer"),
        stage.judge("inner"),
    ):
        pass


# What is due, and what is seen


@pytest.mark.parametrize(
    ("due", "seen", "ok"),
    [
        (4, 4, True), (4, 5, False), (4, "4", False), ("4", 4, False), (4.5, 4.5, True), (1, 1.0, True),
        ("up", "up", True), ("up", "down", False), ("", "", True), ("", "nsd01", False), ("up", None, False),
        (["a", "b"], ("a", "b"), True), (["a", "b"], ["b", "a"], False), ({"a", "b"}, {"b", "a"}, True),
        ([], [], True), ([], ["a"], False), (["a"], [], False), ([], None, False), (None, None, True),
        (None, [], False),
        (["a, b"], ["a", "b"], False), ([1], ["1"], False), ([1], [1.0], True), ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False), (True, True, True), (True, False, False), (True, 1, True),
        (Path("/a"), "/a", True),
        (1.0, math.nan, False), (math.nan, math.nan, False),
    ],
)  # fmt: skip
def test_same_is_equality(stage: Stage, due: Any, seen: Any, ok: bool) -> None:
    stage.same("it", due, seen)
    assert stage.comparisons[0].ok is ok


def test_same_shows_several_as_a_person_reads_them(stage: Stage) -> None:
    stage.same("members", ["eth2", "eth3"], [])
    stage.same("streams", {"eth2": 2}, {"eth2": 3}, "the hash says so")
    stage.same("id", "4f2a", "4f2a", "random", repeats=False)
    assert stage.comparisons == [
        Comparison("members", "eth2, eth3", "none", "", 0),
        Comparison("streams", "eth2: 2", "eth2: 3", "", 0, "the hash says so"),
        Comparison("id", "4f2a", "4f2a", "", 0, "random", repeats=False),
    ]


def test_holds_is_a_truth_and_shows_what_was_seen(stage: Stage) -> None:
    stage.holds("it is fast", True, 0.5)
    with pytest.raises(CheckFailed, match=r"it is fast: expected yes, measured no \(seen: 7.5\)"), stage.judge("fast"):
        stage.holds("it is fast", False, 7.5)
    assert [(c.ok, c.why, c.repeats) for c in stage.comparisons] == [
        (True, "seen: 0.5", True),
        (False, "seen: 7.5", True),
    ]


@pytest.mark.parametrize(
    ("seen", "within", "ok"),
    [(990.0, 0.01, True), (989.9, 0.01, False), (1010.1, 0.01, False), (None, 1, False), (math.nan, 1, False)],
)
def test_near_is_within_a_part_of_what_is_due(stage: Stage, seen: float | None, within: float, ok: bool) -> None:
    stage.near("rate", 1000.0, seen, "Mbit/s", within=within, why="TCP")
    (comparison,) = stage.comparisons
    assert (comparison.ok, comparison.repeats, comparison.unit) == (ok, False, "Mbit/s")


def test_what_is_compared_exactly_repeats_and_what_has_a_tolerance_does_not(stage: Stage) -> None:
    stage.compare("exact", 1, 1, "", 0)
    stage.compare("about", 1, 1, "", 0.1, "why")
    stage.near("a count", 100, 100, "", why="it is counted", repeats=True)
    assert [comparison.repeats for comparison in stage.comparisons] == [True, False, True]


# Waiting


def never() -> list[str]:
    return ["eth3"]


@pytest.mark.parametrize(
    ("phase", "blame"),
    [
        ("arrange", LabBroken), ("healthy", CheckFailed), ("perturb", LabBroken), ("observe", CheckFailed),
        ("judge", CheckFailed), ("contrast", CheckFailed), ("restore", LabBroken),
    ],
)  # fmt: skip
def test_a_symptom_that_never_comes_is_a_failed_check_where_it_is_the_question(
    stage: Stage, phase: str, blame: type[Exception]
) -> None:
    with pytest.raises(blame) as caught, getattr(stage, phase)("all are out"):
        stage.until("members left", never, is_=[], within_s=0.01, poll_s=0.001)
    assert str(caught.value) == "members left, not none: not within 0.01 s; last: ['eth3']"
    assert stage.steps[-1].detail == str(caught.value)


def test_until_gives_what_it_sees_and_that_it_came_is_judged(stage: Stage) -> None:
    members = [["eth2", "eth3"], ("eth2",)]
    with stage.judge("one is out"):
        assert stage.until("members", lambda: members.pop(0), is_=["eth2"], within_s=5, poll_s=0.001) == ("eth2",)
        assert stage.until("a number", lambda: 7, is_=lambda n: n > 5, within_s=5) == 7
    assert [(c.what, c.why) for c in stage.comparisons] == [("members", "seen: eth2"), ("a number", "seen: 7")]


def test_time_that_passes_is_told_with_its_reason(stage: Stage) -> None:
    began = time.monotonic()
    with stage.observe("later"):
        stage.let_pass(0.02, "the lease ends")
    assert time.monotonic() - began >= 0.02
    assert stage.steps[0].detail == "0.02 s pass: the lease ends"


# Changes


def test_what_is_made_is_told_and_is_undone_when_it_says_so_or_at_the_end_and_never_twice(
    stage: Stage, tmp_path: Path
) -> None:
    with stage.perturb("two files"):
        one, _ = stage.make(file(tmp_path / "one")), stage.make(file(tmp_path / "two"))
    assert stage.steps[0].detail == "there is one; there is two"
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]
    one.undo()
    assert os.listdir(tmp_path) == ["two"]
    (tmp_path / "one").mkdir()  # somebody else's
    one.undo()
    stage.undo()
    stage.undo()
    assert os.listdir(tmp_path) == ["one"]


def test_the_last_change_is_undone_first_and_in_the_step_of_restore(stage: Stage) -> None:
    did: list[str] = []
    for name in ("a", "b", "c"):
        stage.defer(lambda name=name: did.append(name))  # type: ignore[misc]
    stage.defer(lambda: time.sleep(0.05))
    with stage.restore("as before"):
        assert did == ["c", "b", "a"]
        stage.same("as before", 1, 1)
    assert stage.steps[0].wall_s >= 0.05


def test_what_comes_then_comes_after_the_making_and_after_the_undoing(stage: Stage, tmp_path: Path) -> None:
    seen: list[list[str]] = []
    made = stage.make(file(tmp_path / "a"), then=lambda: seen.append(os.listdir(tmp_path)))
    assert seen == [["a"]]
    made.undo()
    stage.undo()
    assert seen == [["a"], []]


def test_half_made_it_is_undone_at_once_and_at_the_end_what_comes_then_is_done(stage: Stage, tmp_path: Path) -> None:
    did: list[str] = []
    half = Change("half", (*file(tmp_path / "a").there, Step("SN", ("false",))), file(tmp_path / "a").back)
    with pytest.raises(LabBroken, match="`false`"):
        stage.make(half, then=lambda: did.append("then"))
    assert os.listdir(tmp_path) == [] and did == []
    stage.undo()
    assert did == ["then"] and stage.not_restored == []


def test_all_undos_run_whatever_one_does_and_all_that_failed_are_told(stage: Stage, tmp_path: Path) -> None:
    did: list[str] = []

    def fail() -> None:
        raise StopIteration

    stage.defer(lambda: did.append("first"))
    stage.make(FAILS, then=lambda: did.append("then"))
    stage.make(file(tmp_path / "a"))
    stage.defer(fail, "the bricks")
    stage.defer(lambda: did.append("last"))
    with pytest.raises(LabBroken) as caught:
        stage.undo()
    assert did == ["then", "last", "then", "first"] and os.listdir(tmp_path) == []
    assert stage.not_restored == ["the bricks: StopIteration", "it cannot be undone: `false` ended with 1: "]
    assert str(caught.value) == f"not undone: {'; '.join(stage.not_restored)}"
    stage.undo()  # nothing is left


def test_an_undo_that_failed_is_tried_again_at_the_end(stage: Stage) -> None:
    tries: list[int] = []

    def fails_once() -> None:
        tries.append(1)
        if len(tries) == 2:  # the first time is after the making
            raise LabBroken("not yet")

    made = stage.make(Change("nothing", (), ()), then=fails_once)
    with pytest.raises(LabBroken, match="not yet"):
        made.undo()
    stage.undo()
    assert len(tries) == 3 and stage.not_restored == []


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_an_interrupt_waits_until_all_is_undone(stage: Stage) -> None:
    did: list[str] = []
    stage.defer(lambda: did.append("first"))
    stage.defer(interrupt)
    stage.defer(lambda: did.append("last"))
    with pytest.raises(KeyboardInterrupt):
        stage.undo()
    assert did == ["last", "first"] and stage.not_restored == []


def test_an_undo_that_an_interrupt_has_spoilt_is_tried_once_more(stage: Stage) -> None:
    tries: list[int] = []

    def spoilt() -> None:
        tries.append(1)
        if len(tries) == 1:
            interrupt()
            raise LabBroken("ended by signal 2")

    stage.defer(spoilt)
    with pytest.raises(KeyboardInterrupt):
        stage.undo()
    assert len(tries) == 2 and stage.not_restored == []


@pytest.mark.parametrize("fails", [False, True])
def test_an_interrupt_and_an_undo_that_fails_are_both_known(stage: Stage, fails: bool) -> None:
    def undo() -> None:
        interrupt()
        if fails:
            raise LabBroken("gone")

    stage.defer(undo, "the cable")
    with pytest.raises(KeyboardInterrupt):
        stage.undo()
    assert stage.not_restored == (["the cable: gone"] if fails else [])


# The rest


def test_what_is_expected_of_another_site_is_expected_meanwhile_only(stage: Stage) -> None:
    whole, other = stage.site, copy(stage.site)
    with pytest.raises(StopIteration), stage.as_if(other):
        assert stage.site is other
        raise StopIteration
    assert stage.site is whole


def test_exhibits_are_kept(stage: Stage) -> None:
    stage.show(Text("title", "text"))
    assert stage.exhibits == [Text("title", "text")]


def test_two_stages_of_one_seed_draw_the_same(tmp_path: Path) -> None:
    draws: list[Callable[[], float]] = [Stage(here(tmp_path), random.Random("1 a")).random.random for _ in range(2)]
    assert draws[0]() == draws[1]()
