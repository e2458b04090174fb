"""What becomes of a scenario: its verdict, its undo, its evidence. Made-up scenarios, and a lab without a node."""

import json
import os
import random
import signal
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from causeway.errors import BadInput
from causeway.lab import clock, dirt
from causeway.report.result import Run, ScenarioResult, from_json
from causeway.scenario import run
from causeway.scenario.cast import Ask
from causeway.scenario.runner import Interrupted, Scenario, load, load_all, names, play
from tests.unit.here import SITE, here

DOC = '"""A title.\n\nClaim: it is so,\nand not otherwise.\n\nSource: none.\n{}"""\n'
WORDS = """
import os, signal
from pathlib import Path
from causeway.errors import *
from causeway.lab.changes.change import Change, Step

def fail(words="it cannot be undone"):
    raise LabBroken(words)

def file(path):
    path = str(path)
    return Change("there is a file", (Step("SN", ("touch", path)),), (Step("SN", ("rm", path)),))

def interrupt():
    os.kill(os.getpid(), signal.SIGTERM)
"""
#: A scenario's phases by their first letters, each of which judges something.
VERBS = {"A": "arrange", "H": "healthy", "P": "perturb", "O": "observe", "J": "judge", "C": "contrast", "R": "restore"}


def phases(letters: str) -> str:
    return "".join(f"    with stage.{VERBS[c]}('{c}'): stage.same('{i}', 1, 1)\n" for i, c in enumerate(letters))


def scenario(folder: Path, body: str, *, name: str = "one", doc: str = "", takes: str = "stage") -> Scenario:
    file = folder / f"{name}.py"
    file.write_text(
        f"{DOC.format(doc)}{WORDS}\n{body}"
        if "def " in body
        else f"{DOC.format(doc)}{WORDS}\ndef play({takes}):\n{body}"
    )
    return load(str(file))


def played(folder: Path, body: str, *, doc: str = "", takes: str = "stage") -> ScenarioResult:
    return play(scenario(folder, body, doc=doc, takes=takes), here(folder), 1, lambda _: None)


# The order of phases


@pytest.mark.parametrize(
    "letters",
    ["HPJCR", "AHPOJCR", "HHPJCR", "HPOJCJCJJR", "HPOJPOJCR", "HPOJCPOJR", "HPJCPJCPJCR", "HPJCCCR", "HPJCOPR"],
)
def test_phases_in_order_pass(tmp_path: Path, letters: str) -> None:
    result = played(tmp_path, phases(letters))
    assert (result.verdict, result.why) == ("pass", "")
    assert [step.phase[0] for step in result.steps] == list(letters)


@pytest.mark.parametrize(
    "letters",
    [
        "PJCR", "HJCR", "HPCR", "HPJR", "HPJC", "H", "JHPCR", "HPCJR", "HPJRC", "HPJCRR", "HPRJC", "HOJPCR", "PHJCR",
        "HAPJCR", "AAHPJCR", "HPHJCR", "HOPJCR", "HPJCRO",
    ],
)  # fmt: skip
def test_phases_that_lack_or_are_out_of_order_fail(tmp_path: Path, letters: str) -> None:
    result = played(tmp_path, phases(letters))
    assert result.verdict == "fail"
    names = ", ".join(VERBS[letter].capitalize() for letter in letters)
    assert result.why.startswith(f"its phases are {names}; due are Arrange if need be, Healthy, Perturb")


def test_a_file_that_judges_nothing_fails(tmp_path: Path) -> None:
    result = played(tmp_path, "    pass")
    assert (result.verdict, result.why) == ("fail", "it ended without a verdict: no comparison")


# Verdicts


@pytest.mark.parametrize(
    ("body", "verdict", "why"),
    [
        ("raise CheckFailed('it is not so')", "fail", "it is not so"),
        ("raise LabBroken('nsd01 is down')", "broken", "nsd01 is down"),
        ("raise Unsupported('no channel here')", "skipped", "no channel here"),
        ("with stage.judge('x'): stage.same('members', 5, 4)", "fail", "members: expected 5, measured 4"),
        ("with stage.observe('x'): stage.until('y', lambda: 1, is_=2, within_s=0)", "fail", "y, not 2: not within 0 s"),
        ("with stage.perturb('x'): stage.until('y', lambda: 1, is_=2, within_s=0)", "broken", "y, not 2: not within"),
    ],
)
def test_who_is_to_blame_says_the_verdict(tmp_path: Path, body: str, verdict: str, why: str) -> None:
    result = played(tmp_path, f"    {body}")
    assert result.verdict == verdict and result.why.startswith(why)


def test_a_mistake_of_the_scenarios_own_is_broken_and_says_where(tmp_path: Path) -> None:
    result = played(tmp_path, "    next(iter([]))")
    assert result.verdict == "broken"
    assert result.why == f"StopIteration (at {tmp_path}/one.py:{line(tmp_path, 'next(iter')})"
    deep = played(tmp_path, "    with stage.healthy('x'): stage.same('a', 1, 1, colour=2)")
    assert deep.why.startswith("TypeError: Stage.same() got an unexpected keyword argument 'colour' (at ")
    deeper = played(tmp_path, "    stage.site.mtu(None)")
    place = f"{tmp_path}/one.py:{line(tmp_path, 'stage.site.mtu')})"
    assert "(at causeway/model/site.py:" in deeper.why and deeper.why.endswith(f", in {place}")


def line(folder: Path, words: str) -> int:
    return next(i for i, text in enumerate((folder / "one.py").read_text().splitlines(), 1) if words in text)


def test_the_same_seed_and_name_draw_the_same(tmp_path: Path) -> None:
    body = "    with stage.judge('x'): stage.same('dice', 0, stage.random.random())"
    one, other = played(tmp_path, body), played(tmp_path, body)
    assert one.comparisons == other.comparisons
    assert one.comparisons[0].measured == random.Random("1 one").random()
    third = play(scenario(tmp_path, body, name="two"), here(tmp_path), 1, lambda _: None)
    assert third.comparisons != one.comparisons


# Evidence and undo


@pytest.mark.parametrize(("body", "kept"), [("raise CheckFailed('x')", True), ("raise Unsupported('x')", False)])
def test_evidence_of_a_failure_is_kept_before_the_undo(tmp_path: Path, body: str, kept: bool) -> None:
    made, seen = tmp_path / "made", list[tuple[str, bool]]()
    one = scenario(tmp_path, f"    stage.make(file({str(made)!r}))\n    {body}")
    play(one, here(tmp_path), 1, lambda why: seen.append((why, made.exists())))
    assert seen == ([("fail: x", True)] if kept else [])
    assert not made.exists()


def test_evidence_that_cannot_be_had_is_told_and_the_lab_is_undone_all_the_same(tmp_path: Path) -> None:
    def none(_: str) -> None:
        raise OSError("no disk")

    one = scenario(tmp_path, f"    stage.make(file({str(tmp_path / 'made')!r}))\n    raise CheckFailed('x')")
    assert play(one, here(tmp_path), 1, none).why == "x; evidence is incomplete: no disk"
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("", "the lab was not restored: the brick: it cannot be undone"),
        ("    raise Unsupported('none')\n", "the lab was not restored: the brick: it cannot be undone; none"),
        ("    raise CheckFailed('x')\n", "the lab was not restored: the brick: it cannot be undone; x"),
    ],
)
def test_a_lab_that_was_not_restored_is_broken_whatever_the_verdict_was_and_is_marked(
    tmp_path: Path, body: str, why: str
) -> None:
    result = played(tmp_path, f"    stage.defer(fail, 'the brick')\n{body}{phases('HPJCR')}")
    assert (result.verdict, result.why) == ("broken", why)
    assert dirt.after(here(tmp_path)) == "one"
    with pytest.raises(BadInput) as caught:
        dirt.refuse(here(tmp_path))
    assert str(caught.value).splitlines() == [
        "lab jubl was not restored after a scenario, and nothing is played in it:",
        "one: the brick: it cannot be undone",
        "`causeway down jubl` and `causeway up` make a new one",
    ]


def test_a_lab_that_was_restored_is_not_marked(tmp_path: Path) -> None:
    assert played(tmp_path, phases("HPJCR")).verdict == "pass"
    assert dirt.after(here(tmp_path)) == ""
    dirt.refuse(here(tmp_path))


def test_after_an_interrupt_the_lab_is_undone_and_the_scenario_has_a_result(tmp_path: Path) -> None:
    made = tmp_path / "made"
    body = f"    with stage.perturb('a file'):\n        stage.make(file({str(made)!r}))\n        interrupt()\n"
    one = scenario(tmp_path, body)
    with pytest.raises(Interrupted) as caught, run.interrupts.raised():
        play(one, here(tmp_path), 1, lambda _: None)
    assert not made.exists()
    result = caught.value.result
    assert (result.verdict, result.why) == ("skipped", "interrupted; Perturb: a file")
    assert [step.ok for step in result.steps] == [False]


# Casting


CAST = "def cast(ask):\n    {}\ndef play(stage, cast):\n    with stage.judge('x'): stage.same('cast', 'me', cast)\n"


def test_whom_a_scenario_asks_for_it_is_given(tmp_path: Path) -> None:
    one = scenario(tmp_path, CAST.format("return ask.site.name"))
    assert one.cast_by(Ask(SITE)) == ("jubl",)
    result = play(one, here(tmp_path), 1, lambda _: None)
    assert [c.measured for c in result.comparisons] == ["jubl"]
    assert one.cast is not None and one.cast(Ask(SITE)) == "jubl"


def test_a_site_that_has_nobody_for_it_skips_it_with_the_sentence_and_begins_nothing(tmp_path: Path) -> None:
    result = played(tmp_path, CAST.format("raise Unsupported('jubl has no token ring')"))
    assert (result.verdict, result.why, result.steps) == ("skipped", "jubl has no token ring", [])


def test_a_mistake_in_the_casting_is_no_skip(tmp_path: Path) -> None:
    result = played(tmp_path, CAST.format("next(iter([]))"))
    assert result.verdict == "broken" and result.why.startswith("StopIteration (at ")


@pytest.mark.parametrize(("sites", "verdict"), [("jubl", "pass"), ("small jubl", "pass"), ("small xe", "skipped")])
def test_a_scenario_may_belong_to_certain_sites(tmp_path: Path, sites: str, verdict: str) -> None:
    result = played(tmp_path, phases("HPJCR"), doc=f"\nSites: {sites}\n")
    assert result.verdict == verdict
    assert result.why == ("" if verdict == "pass" else "it is about small and xe, and this is jubl")


# Files


def test_a_scenario_says_its_title_claim_and_source(tmp_path: Path) -> None:
    one = scenario(tmp_path, phases("H"))
    assert (one.name, one.title, one.claim, one.source) == ("one", "A title.", "it is so, and not otherwise.", "none.")
    assert (one.sites, one.cast) == ((), None)


@pytest.mark.parametrize(
    "text",
    [
        "", '"""A title.\n\nClaim: x\n"""\ndef play(stage): pass\n', DOC.format(""),
        DOC.format("") + "def play(stage, cast): pass\n",
        DOC.format("") + "def cast(ask): pass\ndef play(stage): pass\n",
    ],
)  # fmt: skip
def test_a_file_that_is_no_scenario_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.py").write_text(text)
    with pytest.raises(
        BadInput, match=r"one.py: a scenario has a docstring with Claim: and Source:, and play\(stage\)"
    ):
        load(str(tmp_path / "one.py"))


def test_all_shipped_scenarios_can_be_loaded_and_every_unknown_one_is_named() -> None:
    assert [one.name for one in load_all([])] == names()
    with pytest.raises(BadInput) as caught:
        load_all(["nosuch", names()[0], "neither"])
    assert [text.split(";")[0] for text in str(caught.value).splitlines()] == [
        "there is no scenario 'nosuch'", "there is no scenario 'neither'",
    ]  # fmt: skip


# A run


def run_of(folder: Path, *bodies: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, str]:
    monkeypatch.setattr(run, "RUNS", folder / "runs")
    monkeypatch.setattr(run, "collect", lambda *_: None)
    scenarios = [scenario(folder, body, name=f"s{i}") for i, body in enumerate(bodies)]
    said = StringIO()
    found = run.play_all(here(folder), scenarios, 1, datetime(2025, 11, 4, tzinfo=UTC), Console(file=said, width=200))
    return found, said.getvalue()


def test_a_run_plays_one_after_the_other_and_writes_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, said = run_of(tmp_path, phases("HPJCR"), "    raise CheckFailed('no')", monkeypatch=monkeypatch)
    assert [s.verdict for s in found.scenarios] == ["pass", "fail"] and found.exit_code == 1
    assert "s1: fail (0.0 s) no" in said
    assert from_json(json.loads(next((tmp_path / "runs").glob("*/report.json")).read_text())) == found
    assert 'data-name="nsd01"' in next((tmp_path / "runs").glob("*/report.html")).read_text()


def test_who_plays_again_is_told_what_it_took_last_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, first = run_of(tmp_path, phases("HPJCR"), monkeypatch=monkeypatch)
    _, second = run_of(tmp_path, phases("HPJCR"), phases("HPJCR"), monkeypatch=monkeypatch)
    assert "last time" not in first
    assert second.count("last time") == 1


def test_in_virtual_time_a_run_repeats_and_says_nothing_of_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "name", lambda: "virtual")
    said = [run_of(tmp_path, phases("HPJCR"), monkeypatch=monkeypatch)[1] for _ in range(2)]
    assert "last time" not in "".join(said)


def test_what_an_interrupt_leaves_is_undone_reported_and_ends_with_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made"
    broken_off = f"    with stage.perturb('p'):\n        stage.make(file({str(made)!r}))\n        interrupt()\n"
    before = signal.getsignal(signal.SIGTERM)
    found, said = run_of(tmp_path, phases("HPJCR"), broken_off, phases("HPJCR"), monkeypatch=monkeypatch)
    assert not made.exists() and signal.getsignal(signal.SIGTERM) == before
    assert [(s.verdict, s.why) for s in found.scenarios] == [
        ("pass", ""), ("skipped", "interrupted; Perturb: p"), ("skipped", "the run was interrupted before"),
    ]  # fmt: skip
    assert found.interrupted and found.exit_code == 130
    assert "s1: skipped" in said and "s2: " not in said
    written = json.loads(next((tmp_path / "runs").glob("*/report.json")).read_text())
    assert from_json(written) == found and written["interrupted"] is True


def test_in_a_lab_that_was_not_restored_nothing_more_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = f"    stage.defer(fail, 'the brick')\n{phases('HPJCR')}"
    found, _ = run_of(tmp_path, bad, f"    Path({str(tmp_path)!r}, 'played').touch()", monkeypatch=monkeypatch)
    assert [s.verdict for s in found.scenarios] == ["broken", "broken"] and found.exit_code == 3
    assert found.scenarios[1].why == "the lab was not restored after s0"
    assert "played" not in os.listdir(tmp_path)
    with pytest.raises(BadInput, match="lab jubl was not restored"):
        run_of(tmp_path, phases("HPJCR"), monkeypatch=monkeypatch)
