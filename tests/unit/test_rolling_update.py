"""Servers that are updated in turn: who plays, what their wholeness is, and how each check fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.lab.changes.change import Change
from causeway.lab.filesystems.gluster import heal, parse_unhealed
from causeway.lab.lab import Lab
from causeway.lab.probes.records import SIZE, record
from causeway.process import Result
from causeway.scenario.cast import Ask
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words.records import Written
from tests.unit.here import SITE
from tests.unit.test_xe_files import XE
from tests.unit.told import Told, play

UPDATE = load("rolling_update")
NODES = ["nsd01", "nsd02", "nsd03", "nsd04"]


def test_it_takes_parity_and_two_hosts() -> None:
    assert Ask(SITE).sharing(parity=True).clients == ["FEN", "R00-M0-NC-3"]
    whole = {name: f.model_copy(update={"parity": 0}) for name, f in XE.topology.filesystems.items()}
    without = replace(XE, topology=XE.topology.model_copy(update={"filesystems": whole}))
    with pytest.raises(Unsupported, match="xe has no filesystem with parity that two hosts mount"):
        Ask(without).sharing(parity=True)


def test_a_brick_that_does_not_say_what_it_lacks_counts_as_one_entry() -> None:
    said = "Brick a:/x\nStatus: Connected\nNumber of entries: 2\n\nBrick b:/x\nNumber of entries: -\n"
    assert parse_unhealed(said) == 3
    assert parse_unhealed("Number of entries: 0\nNumber of entries: 0\n") == 0


def test_healing_that_a_server_refuses_which_has_just_started_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [
        Result((), 1, "", "Staging failed on nsd02f. Error: Self-heal daemon is not running."),
        Result((), 0, "", ""),
    ]
    asked = []

    def on(_: Lab, node: str, *argv: str) -> Result:
        asked.append((node, " ".join(argv)))
        return said[len(asked) - 1]

    monkeypatch.setattr(Lab, "on", on)
    monkeypatch.setattr("time.sleep", lambda _: None)
    heal(Lab(SITE, tmp_path), "home1")
    assert asked == [("nsd01", "gluster volume heal home1")] * 2


def test_a_record_is_its_number_over_and_over_and_a_digest_that_of_all() -> None:
    assert len(record(7)) == SIZE and record(7)[:8] == bytes([0, 0, 0, 7] * 2)
    one, two = (Written([(0.0, 0.1)] * n, "") for n in (1, 2))
    assert one.digest != two.digest and two.longest_s == 0.1


def play_update(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new, waited, jobs, agreed = set[str](), 0, 0, False

    def levels(*_: Any) -> dict[str, str]:
        found = {server: "2" if server in new else "1" for server in NODES}
        if wrong == "they differ from the start" or (wrong == "one stays behind" and new):
            found["nsd04"] = "1a" if not new else "1"
        return found

    def updated(_: Stage, server: str) -> Change:
        keep = (lambda: None) if wrong == "the old level does not come back" else (lambda: new.discard(server))
        return Told("updated", lambda: None if wrong == "no update" else new.add(server), keep)

    @contextmanager
    def shut_down(*_: Any) -> Iterator[None]:
        yield

    def until(_: Any, what: str, probe: Callable[[], Any], *, is_: Any, within_s: float, **_poll: float) -> None:
        nonlocal waited
        waited += 1
        if probe() != is_:
            raise CheckFailed(f"{what}, not {is_} in {within_s} s")

    def whole(*_: Any) -> tuple[str, int]:
        left = wrong == "it is not whole" or (waited and wrong == "it is never healed") or (jobs == 2 and not agreed)
        return ("3 of 4" if wrong == "a server stays away" and jobs == 2 else "4 of 4", 3 if left else 0)

    def agree(*_: Any) -> None:
        nonlocal agreed
        agreed = wrong != "a write changes nothing"

    class Writer:
        at_it = wrong != "the job is too short"

        def written(self) -> Written:
            hurried = jobs == 2 and wrong != "nobody notices"
            took = 5.0 if wrong == "a record waits" else 0.1
            many = 100 if jobs == 2 and wrong == "the error comes last" else 6 if hurried else 100
            error = "Input/output error" if hurried or wrong == "an error ends it" else ""
            return Written([(0.0, took)] * many, error)

    @contextmanager
    def writing(*_: Any) -> Iterator[Writer]:
        nonlocal jobs
        jobs += 1
        yield Writer()

    def judge_written(stage: Stage, _: str, __: str, ___: str, count: int, job: Written) -> None:
        stage.same("records, and errors", (count, ""), (len(job.calls), job.error))

    monkeypatch.setattr(Stage, "let_pass", lambda *_: None)
    monkeypatch.setattr(Stage, "until", until)
    words = {
        "levels": levels, "updated": updated, "shut_down": shut_down, "whole": whole, "writing": writing,
        "judge_written": judge_written, "agree": agree,
    }  # fmt: skip
    play(UPDATE, SITE, folder, monkeypatch, words)


def test_it_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_update("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("they differ from the start", "levels: expected 1, measured 2"),
        ("it is not whole", "servers, and what is to be healed: expected"),
        ("it is never healed", "and what is to be healed, not"),
        ("the job is too short", "the job still writes"),
        ("an error ends it", "records, and errors"),
        ("a record waits", "no record takes 2 s"),
        ("one stays behind", "levels, updated: expected 1, measured 2"),
        ("no update", "servers with their old level"),
        ("nobody notices", "the job ends with an error"),
        ("the error comes last", "before its end"),
        ("a server stays away", "servers that FEN reaches, not 4 of 4 in 120 s"),
        ("a write changes nothing", "and what is to be healed, not"),
        ("the old level does not come back", "levels, as before"),
    ],
)
def test_each_check_of_it_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, said: str) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_update(wrong, tmp_path, monkeypatch)
