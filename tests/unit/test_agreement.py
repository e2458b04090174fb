"""Runs with one seed, put beside each other."""

import json
from pathlib import Path
from typing import Any

import pytest

from causeway.report.agreement import Difference, differences, main


def run(measured: Any, why: str = "", *, verdict: str = "pass", what: str = "rate", repeats: bool = True) -> Any:
    comparison = {"what": what, "measured": measured, "why": why, "repeats": repeats}
    return {"scenarios": [{"name": "one", "verdict": verdict, "comparisons": [comparison]}]}


def wrong(*runs: Any) -> list[str]:
    return [difference.wrong for difference in differences(runs) if difference.wrong]


@pytest.mark.parametrize(
    "values", [(941.0, 941.001), (0, 1), ("up", "down"), (None, 1), (1, None), ("1", 1), (1.0, 1.0, 1.1)]
)
def test_what_repeats_is_equal_to_the_last_digit_whatever_reason_it_has(values: tuple[Any, ...]) -> None:
    assert wrong(*(run(value, "the kernel's own rounding") for value in values)) == ["it repeats to the last digit"]


@pytest.mark.parametrize("values", [(941.0, 941.0), (0, 0), ("up", "up"), (None, None), (True, True)])
@pytest.mark.parametrize("repeats", [True, False])
def test_equal_values_are_no_difference(values: tuple[Any, ...], repeats: bool) -> None:
    assert list(differences([run(value, repeats=repeats) for value in values])) == []


@pytest.mark.parametrize(
    ("values", "off"),
    [((941.0, 941.9), ""), ((941.0, 942.0), "0.11%"), ((-1000, -999), ""), ((0, 1), "100.00%"), ((10, 40), "75.00%")],
)
def test_numbers_that_do_not_repeat_are_within_a_thousandth_of_each_other(values: tuple[Any, ...], off: str) -> None:
    (found,) = differences([run(value, "TCP probes for its share", repeats=False) for value in values])
    assert found.wrong == (f"numbers are within 0.1%, not {off}" if off else "")


def test_a_number_that_is_missing_in_one_run_is_wrong() -> None:
    assert wrong(run(1, "chance", repeats=False), run(None, "chance", repeats=False)) == ["it is a number in every run"]


def test_what_is_random_is_counted_where_its_scenario_says_why() -> None:
    (found,) = differences([run("4f2a", "an id", repeats=False), run("77b0", "an id", repeats=False)])
    assert found == Difference("one: rate", ("4f2a", "77b0"), "", "an id")
    assert wrong(run("4f2a", repeats=False), run("77b0", repeats=False)) == ["its scenario does not say why"]


def test_a_report_of_an_older_causeway_says_nothing_of_repeating_and_must_repeat() -> None:
    older = run(1)
    del older["scenarios"][0]["comparisons"][0]["repeats"]
    assert wrong(older, run(2)) == ["it repeats to the last digit"]


def test_another_verdict_and_other_comparisons_differ() -> None:
    (verdict,) = differences([run(1), run(1, verdict="fail")])
    assert verdict == Difference("one: verdict", ("pass", "fail"), "verdicts are equal")
    (missing,) = differences([run(1), {"scenarios": []}])
    assert missing.values == ("pass", "not run")
    (compared,) = differences([run(1), run(1, what="size")])
    assert compared.where == "one: what it compares" and compared.wrong


def test_the_exit_code_is_1_when_anything_disagrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def agree(*runs: dict[str, Any]) -> int:
        files = [tmp_path / f"{i}.json" for i in range(len(runs))]
        for file, found in zip(files, runs, strict=True):
            file.write_text(json.dumps(found))
        return main([str(file) for file in files])

    assert agree(run(1), run(1)) == 0
    assert agree(run("a", "an id", repeats=False), run("b", "an id", repeats=False)) == 0
    capsys.readouterr()
    assert agree(run(1), run(1), run(2)) == 1
    assert capsys.readouterr().out.splitlines() == [
        "one: rate: 1, 1, 2  WRONG: it repeats to the last digit",
        "3 runs, 1 scenarios, 1 values, of which 1 repeat: 1 differ, 1 of them wrongly",
    ]
    assert agree(run(1000.0, "TCP", repeats=False), run(4000.0, "TCP", repeats=False)) == 1
    assert agree(run(1), run(1, verdict="broken")) == 1
    assert agree({"scenarios": []}, {"scenarios": []}) == 4
    assert agree(run(1)) == 2
