"""Runs with one seed, put beside each other."""

import json
from pathlib import Path
from typing import Any

import pytest

from causeway.report.agreement import Difference, differences, main


def run(measured: Any, why: str = "", *, verdict: str = "pass", what: str = "rate") -> dict[str, Any]:
    comparison = {"what": what, "measured": measured, "why": why}
    return {"scenarios": [{"name": "one", "verdict": verdict, "comparisons": [comparison]}]}


@pytest.mark.parametrize(
    ("values", "same"),
    [((941.0, 941.9), True), ((941.0, 942.0), False), ((0, 0), True), (("up", "up"), True), (("up", "down"), False),
     ((None, None), True), ((None, 1), False), ((True, True), True)],
)  # fmt: skip
def test_numbers_agree_within_a_thousandth_and_all_else_exactly(values: tuple[Any, ...], same: bool) -> None:
    found = list(differences([run(value) for value in values]))
    assert found == ([] if same else [Difference("one: rate", values, "")])


def test_another_verdict_and_other_comparisons_differ() -> None:
    (verdict,) = differences([run(1), run(1, verdict="fail")])
    assert verdict == Difference("one: verdict", ("pass", "fail"), "")
    (missing,) = differences([run(1), {"scenarios": []}])
    assert missing.values == ("pass", "not run")
    (compared,) = differences([run(1), run(1, what="size")])
    assert compared.where == "one: what it compares"


def test_what_differs_needs_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def agree(*runs: dict[str, Any]) -> int:
        files = [tmp_path / f"{i}.json" for i in range(len(runs))]
        for file, found in zip(files, runs, strict=True):
            file.write_text(json.dumps(found))
        return main([str(file) for file in files])

    assert agree(run(1), run(1)) == 0
    assert agree(run(1, "chance"), run(2, "chance")) == 0
    assert agree(run(1), run(2)) == 1
    assert "NO REASON GIVEN" in capsys.readouterr().out
    assert agree(run(1)) == 2
