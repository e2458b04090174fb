"""The report says what was found, and never makes a pass of what is not one."""

import html
import json
import math
import os
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from causeway.folders import site_file
from causeway.model.load import load_site
from causeway.render.drawing.load import load_part
from causeway.render.drawing.page import element
from causeway.report import console, files, junit, page
from causeway.report.beside import Beside, other_clock
from causeway.report.load import Load, Mark, Sample
from causeway.report.result import (
    Bar,
    Bars,
    Comparison,
    Run,
    ScenarioResult,
    Step,
    Table,
    Text,
    Verdict,
    from_json,
    to_json,
)

GOOD = Comparison("stream to R00-M0-NC-3", 941.48, 941.47, "Mbit/s", 0.01, "1 % is the start of TCP")
BAD = Comparison("bytes on b3 & b2", 400, 300, "MB", 0.01)


def scenario(verdict: Verdict, why: str = "", **changes: Any) -> ScenarioResult:
    result = ScenarioResult(
        name=f"{verdict}_one",
        title=f"Title of <{verdict}>",
        claim="Members & streams",
        source='Redpaper, "Multiple streams"',
        verdict=verdict,
        why=why,
        wall_s=1.5,
        virtual_s=2.5,
    )
    return replace(result, **changes)


def run_of(*scenarios: ScenarioResult, fell_behind_s: float | None = None) -> Run:
    return Run(
        id="2025-11-04-1",
        lab="jubl",
        lab_host="uml",
        clock="virtual",
        seed=7,
        started="2025-11-04T10:00:00+00:00",
        wall_s=33.25,
        virtual_s=9.5,
        fell_behind_s=fell_behind_s,
        scenarios=list(scenarios),
    )


@pytest.fixture
def full_run() -> Run:
    good = scenario(
        "pass",
        steps=[
            Step("Healthy", "nsd01 reaches FEN", 1.0, 0.5, commands=["nsd01# ping -c 1 <FEN>"]),
            Step("Observe", "every member carries > 20 MB & more", 2.0, 0.25, True, "last value: <b0> 21 MB"),
        ],
        comparisons=[GOOD, Comparison("members", "1-1-2-4", "1-1-2-4", "", 0)],
        exhibits=[
            Bars("channel b of nsd01", "MB", 120.5, [Bar("b0: <R00-M0-NC-3>", 100.0, 99.5)], "policy layer3+4"),
            Table("four arrows", ["direction", "end"], [["ION read", "nsd01 & b"]]),
            Text("nuttcp", "  941.4 Mbps <10 %TX\n"),
        ],
    )
    bad = scenario("fail", "b3 carried <too little>", comparisons=[GOOD, BAD])
    return run_of(good, bad, fell_behind_s=0.75)


def whole(run: Run) -> str:
    """All pages of a run as one text."""
    return "\n".join(page.render(run, {}).values())


# Comparisons


@pytest.mark.parametrize("measured", [101.0, 99.0, 100, 101])
def test_a_value_at_the_edge_of_its_tolerance_is_ok(measured: float) -> None:
    assert Comparison("rate", 100.0, measured, "Mbit/s", 0.01).ok


@pytest.mark.parametrize("measured", [math.nextafter(101.0, 200.0), math.nextafter(99.0, 0.0), -100.0, 102])
def test_a_value_beyond_its_tolerance_is_not_ok(measured: float) -> None:
    assert not Comparison("rate", 100.0, measured, "Mbit/s", 0.01).ok


def test_the_tolerance_of_a_negative_value_is_a_part_of_its_size() -> None:
    assert Comparison("offset", -100.0, -100.5, "ms", 0.01).ok
    assert not Comparison("offset", -100.0, -102.0, "ms", 0.01).ok


def test_without_tolerance_only_equal_values_are_ok() -> None:
    assert Comparison("streams", 4, 4, "", 0).ok
    assert not Comparison("streams", 4, 5, "", 0).ok
    assert Comparison("members", "1-1-2-4", "1-1-2-4", "", 0).ok
    assert not Comparison("members", "1-1-2-4", "2-2-2-2", "", 0).ok
    assert not Comparison("members", "b0", "b0", "", 0.01).ok


@pytest.mark.parametrize("tolerance", [0, 0.01, 1.0])
@pytest.mark.parametrize("measured", [None, math.nan, math.inf, -math.inf])
def test_a_missing_measurement_is_never_ok(measured: float | None, tolerance: float) -> None:
    assert not Comparison("rate", 941.48, measured, "Mbit/s", tolerance).ok
    assert not Comparison("rate", math.inf, measured, "Mbit/s", tolerance).ok
    assert not Comparison("member", "b0", measured, "", tolerance).ok
    assert Comparison("rate", 941.48, measured, "Mbit/s", tolerance).deviation is None


@pytest.mark.parametrize(("expected", "measured"), [(4, "4"), ("4", 4), (4.0, "4.0"), (0, "")])
def test_a_number_is_never_equal_to_text(expected: int | str, measured: int | str) -> None:
    assert not Comparison("streams", expected, measured, "", 0).ok


def test_the_deviation_is_a_part_of_the_expected_value() -> None:
    assert Comparison("rate", 200.0, 190.0, "Mbit/s", 0.1).deviation == pytest.approx(-0.05)
    assert Comparison("drops", 0, 3, "", 0).deviation is None


# Verdicts and exit codes


def test_a_pass_that_its_evidence_contradicts_is_refused() -> None:
    with pytest.raises(ValueError, match="pass_one cannot pass: bytes on b3 & b2"):
        scenario("pass", comparisons=[GOOD, BAD])
    with pytest.raises(ValueError, match="cannot pass: all is well"):
        scenario("pass", steps=[Step("Restore", "all is well", 0.0, 0.0, ok=False)])


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (["pass"], 0),
        (["pass", "skipped"], 0),
        (["pass", "fail", "skipped"], 1),
        (["skipped", "fail"], 1),
        (["fail", "broken", "pass"], 3),
        (["broken", "skipped"], 3),
        (["skipped", "skipped"], 4),
        ([], 4),
    ],
)
def test_the_exit_code_follows_the_gravest_verdict(verdicts: list[Verdict], code: int) -> None:
    assert run_of(*(scenario(verdict) for verdict in verdicts)).exit_code == code


def test_an_interrupted_run_ends_with_130_whatever_it_found() -> None:
    for verdicts in ([], ["pass"], ["broken", "fail"]):
        assert replace(run_of(*(scenario(verdict) for verdict in verdicts)), interrupted=True).exit_code == 130


# JSON


def test_a_run_survives_its_json_form(full_run: Run) -> None:
    assert from_json(json.loads(json.dumps(to_json(full_run), allow_nan=False))) == full_run


def test_the_json_has_the_promised_keys(full_run: Run) -> None:
    report = to_json(full_run)
    assert set(report) >= {
        "lab",
        "lab_host",
        "clock",
        "seed",
        "scenarios",
        "id",
        "started",
        "wall_s",
        "virtual_s",
    }
    assert report["fell_behind_s"] == 0.75
    failed = report["scenarios"][1]
    assert set(failed) >= {
        "name",
        "verdict",
        "why",
        "wall_s",
        "virtual_s",
        "steps",
        "comparisons",
        "exhibits",
    }
    assert failed["verdict"] == "fail"
    assert failed["comparisons"][1] == {
        "what": "bytes on b3 & b2",
        "expected": 400,
        "measured": 300,
        "unit": "MB",
        "tolerance": 0.01,
        "why": "",
        "repeats": True,
        "ok": False,
    }
    assert failed["comparisons"][0]["ok"] is True


def test_a_measurement_that_json_cannot_hold_is_written_as_null_and_stays_not_ok() -> None:
    lost = Comparison("rate", 941.48, math.nan, "Mbit/s", 1.0)
    chart = Bars("channel", "MB", 100.0, [Bar("b0", 50.0, math.nan)])
    run = run_of(scenario("fail", "no rate", comparisons=[lost], exhibits=[chart]))
    report = json.loads(json.dumps(to_json(run), allow_nan=False))
    assert report["scenarios"][0]["comparisons"][0]["measured"] is None
    assert not from_json(report).scenarios[0].comparisons[0].ok
    assert "not measured" in whole(run)


def test_a_stored_report_that_is_no_report_is_refused(full_run: Run) -> None:
    with pytest.raises(ValueError, match="verdict"):
        report = to_json(full_run)
        report["scenarios"][0]["verdict"] = "perhaps"
        from_json(report)
    with pytest.raises(ValueError, match="cannot pass"):
        report = to_json(full_run)
        report["scenarios"][1]["verdict"] = "pass"
        from_json(report)


def test_a_report_of_an_older_causeway_can_be_read(full_run: Run) -> None:
    report = to_json(full_run)
    del report["interrupted"]
    for comparison in report["scenarios"][0]["comparisons"]:
        del comparison["repeats"]
    assert from_json(report) == full_run


# JUnit


def test_junit_counts_each_verdict_and_says_why() -> None:
    run = run_of(
        scenario("pass"),
        scenario("fail", "b3 < expected\x1b[0m", comparisons=[BAD]),
        scenario("broken", "no LACP & no carrier"),
        scenario("skipped", "no queues"),
        scenario("skipped", "no netem"),
    )
    suite = ET.fromstring(junit.render(run))
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "5", "failures": "1", "errors": "1", "skipped": "2"}
    assert float(suite.get("time", "")) == pytest.approx(33.25)
    assert [case.get("name") for case in suite][:2] == ["pass_one", "fail_one"]
    assert [child.tag for case in suite for child in case] == ["failure", "error", "skipped", "skipped"]
    failure = suite.find("testcase/failure")
    assert failure is not None and failure.get("message") == "b3 < expected\ufffd[0m"
    assert failure.text is not None and "expected 400 MB, measured 300 MB" in failure.text
    error = suite.find("testcase/error")
    assert error is not None and error.get("message") == "no LACP & no carrier"


# HTML


def test_the_page_holds_every_sentence_and_value_escaped(full_run: Run) -> None:
    text = whole(full_run)
    for result in full_run.scenarios:
        said = [result.title, result.claim, result.source, result.why]
        said += [words for step in result.steps for words in (step.phase, step.sentence, step.detail, *step.commands)]
        said += [words for comparison in result.comparisons for words in (comparison.what, comparison.why)]
        for words in said:
            assert html.escape(words, quote=False) in text.replace("&#34;", '"')
    for words in (
        "channel b of nsd01",
        "policy layer3+4",
        "four arrows",
        "nsd01 &amp; b",
        "941.4 Mbps &lt;10 %TX",
    ):
        assert words in text
    for values in ("941.480", "941.470", "-0.001 %", "-25.000 %", "± 1 %", "9.5 s", "0.8 s"):
        assert values in text
    assert "<pass>" not in text and "<b0>" not in text and "<too" not in text
    assert "✓ passed: 1" in text and "✗ failed: 1" in text and "✗ not met" in text


def test_the_pages_need_nothing_but_each_other_and_are_well_formed(full_run: Run) -> None:
    site = load_site(site_file("small"))
    load = Load(1.0, [Sample(2.0, {str(site.cables[0].a): 7.5})], [Mark(0.5, "one & <two>")])
    pages = page.render(full_run, {}, load_part(site, load) + element(site))
    assert '<g class="node" data-name="quay1">' in pages["report.html"]
    assert list(pages) == ["report.html", "scenarios/pass_one.html", "scenarios/fail_one.html"]
    for text in pages.values():
        for outside in ("<link", "<img", "http:", "https:", "url(", " src="):
            assert outside not in text
        body = text[text.index("<main>") : text.index("</main>") + len("</main>")]
        assert ET.fromstring(body).tag == "main"
    for name in list(pages)[1:]:
        assert f'href="{name}"' in pages["report.html"] and 'href="../report.html"' in pages[name]


def test_a_bar_is_as_long_as_its_share_of_the_capacity() -> None:
    bars = [Bar("b0", 50.0, 25.0), Bar("b1", 0.0, 500.0), Bar("b2", 100.0, None)]
    text = whole(run_of(scenario("pass", exhibits=[Bars("channel", "MB", 200.0, bars)])))
    widths = [part.split('"')[0] for part in text.split('<rect class="fill" y="5" width="')[1:]]
    ticks = [part.split('"')[0] for part in text.split('<line class="tick" x1="')[1:]]
    assert widths == ["12.50%", "100.00%", "0%"]
    assert ticks == ["25.00%", "0.00%", "50.00%"]
    assert "above capacity" in text


def test_only_a_paced_run_says_how_far_it_fell_behind(full_run: Run) -> None:
    assert "Fell behind" in whole(full_run)
    assert "Fell behind" not in whole(run_of(scenario("pass")))


def test_the_overview_says_how_far_off_a_scenario_is(full_run: Run) -> None:
    overview = page.render(full_run, {})["report.html"]
    assert "2 of 2 met, at most 0.00106 % off" in overview
    assert "1 of 2 met" in overview


def test_another_clock_is_shown_beside_where_it_ran_too(tmp_path: Path, full_run: Run) -> None:
    slower = replace(GOOD, measured=941.111)
    paced = replace(run_of(scenario("pass", comparisons=[slower])), clock="paced", id="2025-11-03-1")
    elsewhere = replace(
        run_of(scenario("fail", "x", comparisons=[slower])), clock="paced", id="2025-11-05-1", lab="mini"
    )
    for run in (paced, elsewhere, replace(full_run, id="2025-11-03-2")):
        files.write(run, tmp_path / run.id)
    (tmp_path / "2025-11-04-0").mkdir()
    (tmp_path / "2025-11-04-0" / "report.json").write_text("{")
    (tmp_path / "2025-11-06-0" / "report.json").mkdir(parents=True)  # what cannot be read
    beside = other_clock(full_run, tmp_path)
    assert {name: (other.run_id, other.clock) for name, other in beside.items()} == {
        "pass_one": ("2025-11-03-1", "paced")
    }
    pages = page.render(full_run, beside)
    assert "Other clock" in pages["report.html"] and "2025-11-03-1" in pages["report.html"]
    assert "Measured, paced" in pages["scenarios/pass_one.html"] and "941.111" in pages["scenarios/pass_one.html"]
    assert "Measured, paced" not in pages["scenarios/fail_one.html"]


def test_a_comparison_made_twice_stands_beside_its_own_counterpart() -> None:
    rows = [replace(GOOD, measured=value) for value in (940.0, 941.0, 942.0)]
    other = Beside("2025", "paced", scenario("pass", comparisons=rows[:2]))
    assert [other.comparison(scenario("pass", comparisons=rows), i) for i in range(3)] == [rows[0], rows[1], None]


def test_the_page_says_what_the_lab_was_made_of_where_that_is_known(full_run: Run) -> None:
    assert "made of" not in page.render(full_run, {})["report.html"]
    known = replace(full_run, made_of={"base": {"nuttcp": "8.2.2-3", "openssh-server": "1:10.0p1-7"}})
    shown = page.render(known, {})["report.html"]
    assert "<summary>base: 2</summary>" in shown
    assert "nuttcp 8.2.2-3\nopenssh-server 1:10.0p1-7" in shown
    assert from_json(to_json(known)) == known


def test_a_run_of_nothing_says_so() -> None:
    assert "Nothing ran" in whole(run_of())


# Files


def test_the_files_are_written_and_latest_is_replaced(tmp_path: Path, full_run: Run) -> None:
    runs, latest = tmp_path / "runs", tmp_path / "runs" / "latest"
    files.link_latest(runs)
    for number, name in enumerate(("2", "1")):  # the one that was written last, whatever its name
        files.write(full_run, runs / name)
        os.utime(runs / name / "report.json", (number, number))
        files.link_latest(runs)
        assert latest.is_symlink() and str(latest.readlink()) == name
    assert sorted(path.name for path in latest.iterdir()) == ["junit.xml", "report.html", "report.json", "scenarios"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["1", "2", "latest"]
    assert from_json(json.loads((latest / "report.json").read_text(encoding="utf-8"))) == full_run


# Terminal


def shown(run: Run, width: int = 160) -> str:
    stream = StringIO()
    console.show(run, Console(file=stream, width=width, soft_wrap=True))
    return stream.getvalue()


def test_the_terminal_shows_what_failed_and_why(full_run: Run) -> None:
    text = shown(full_run)
    for words in (
        "✓ passed",
        "2 of 2 met",
        "✗ failed",
        "b3 carried <too little>",
        "expected 400 MB",
        "300 MB",
    ):
        assert words in text
    assert "1 passed, 1 failed" in text and "0.8 s behind the wall" in text


def test_an_interrupted_run_says_so_in_a_terminal_and_on_its_page() -> None:
    run = replace(run_of(scenario("pass"), scenario("skipped", "the run was interrupted before")), interrupted=True)
    for text in (shown(run), whole(run)):
        assert "interrupted: 1 passed, 1 skipped" in text


def test_brackets_are_shown_as_they_stand() -> None:
    assert "state [red]broken[/red]" in shown(run_of(scenario("broken", "state [red]broken[/red]")))


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_names_are_whole_in_a_narrow_terminal(width: int) -> None:
    """The longest shipped name, and a reason that is longer than the terminal is wide."""
    reason = "the client cluster kept its mount and wrote on, although it had been denied"
    names = ["ssh_known_hosts_wildcard", "io"]
    run = run_of(*(replace(scenario("fail", reason, comparisons=[BAD]), name=name) for name in names))
    text = shown(run, width)
    for name in names:
        assert len(re.findall(rf"\b{name}\b", text)) == 1
    assert all(text.count(word) >= len(names) for word in reason.split())
    assert all(len(line) <= width for line in text.splitlines() if "│" in line)


def test_a_passing_run_is_a_few_lines() -> None:
    assert len(shown(run_of(scenario("pass"), scenario("pass"))).splitlines()) <= 8
    assert shown(run_of()).startswith("nothing ran")


def test_two_runs_of_one_second_have_folders_whose_names_are_as_long_whatever_they_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clones of one instant draw the same letters, and who finds its name taken goes on otherwise than the others."""
    monkeypatch.setattr("os.urandom", bytes)
    started = datetime(2025, 11, 4, tzinfo=UTC)
    one, other = (
        files.new_folder(tmp_path, started + timedelta(microseconds=when), "virtual", 1).name for when in (1, 2)
    )
    assert one != other and len(one) == len(other)
    assert files.new_folder(tmp_path, started + timedelta(microseconds=2), "virtual", 1).name == f"{other}-2"
