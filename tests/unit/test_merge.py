"""One run of several: parts that fit together become one, and others are refused with all that is wrong."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causeway import folders
from causeway.cli.app import main
from causeway.errors import BadInput
from causeway.report import files, merge
from causeway.report.result import Run, ScenarioResult, Verdict


def result(name: str, verdict: Verdict = "pass") -> ScenarioResult:
    return ScenarioResult(name, "It is.", "a claim", "a source", verdict, "" if verdict == "pass" else "so", 2.0, 3.0)


def part(number: int, *scenarios: ScenarioResult, **changes: Any) -> Run:
    begun = f"2026-01-0{number}T10:00:00+00:00"
    run = Run(
        f"2026010{number}-100000-virtual-1-abcd", "jubl", "uml", "virtual", 1, begun, 5.0, 7.0, None, [*scenarios]
    )
    return replace(run, **changes)


def written(tmp_path: Path, *runs: Run) -> list[Path]:
    """Their folders, as `run` leaves them."""
    found = []
    for run in runs:
        folder = tmp_path / "parts" / run.id
        files.write(run, folder, f"<svg><title>{run.lab}</title></svg>")
        (folder / "transcript.txt").write_text(f"# {run.id}\n")
        for scenario in run.scenarios:
            if scenario.verdict != "pass":
                (folder / "evidence" / scenario.name).mkdir(parents=True)
        found.append(folder)
    return found


def test_parts_become_one_run_with_all_that_they_had(tmp_path: Path) -> None:
    two = part(2, result("b"), result("d", "fail"))
    merged = merge.merge(written(tmp_path, two, part(1, result("c"), result("a"))), tmp_path / "runs")
    assert [scenario.name for scenario in merged.scenarios] == ["a", "b", "c", "d"]
    assert (merged.wall_s, merged.virtual_s, merged.exit_code) == (10.0, 14.0, 1)
    assert merged.started == "2026-01-01T10:00:00+00:00"
    folder = tmp_path / "runs" / merged.id
    assert merged.id.startswith("20260101-100000-virtual-1-")
    assert {file.name for file in (folder / "scenarios").iterdir()} == {"a.html", "b.html", "c.html", "d.html"}
    assert (folder / "evidence" / "d").is_dir()
    assert "<title>jubl</title>" in (folder / "report.html").read_text()
    typed = (folder / "transcript.txt").read_text()
    assert typed == "# 20260101-100000-virtual-1-abcd\n# 20260102-100000-virtual-1-abcd\n"
    assert merge.read(folder) == merged


def test_parts_that_were_made_of_other_things_say_of_what_each(tmp_path: Path) -> None:
    one, two = ({"kernel": {"linux-source-7.3": version}} for version in ("7.3.4", "7.3.5"))
    alike = written(tmp_path / "alike", part(1, result("a"), made_of=one), part(2, result("b"), made_of=one))
    assert merge.merge(alike, tmp_path / "runs").made_of == one
    other = written(tmp_path / "other", part(1, result("a"), made_of=one), part(2, result("b"), made_of=two))
    assert merge.merge(other, tmp_path / "runs").made_of == {
        "20260101-100000-virtual-1-abcd: kernel": {"linux-source-7.3": "7.3.4"},
        "20260102-100000-virtual-1-abcd: kernel": {"linux-source-7.3": "7.3.5"},
    }


WRONG = {
    "another lab": (
        part(2, result("b"), lab="xe"),
        "lab is not the same in all of them (jubl in 20260101-100000-virtual-1-abcd, "
        "xe in 20260102-100000-virtual-1-abcd); merge parts of one run",
    ),
    "another seed": (part(2, result("b"), seed=2), "seed is not the same"),
    "another clock": (part(2, result("b"), clock="paced"), "clock is not the same"),
    "a scenario twice": (part(2, result("a")), "a was played in 2 of them; leave out all but one"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_are_no_parts_of_one_run_are_refused(what: str, tmp_path: Path) -> None:
    other, said = WRONG[what]
    with pytest.raises(BadInput) as caught:
        merge.merge(written(tmp_path, part(1, result("a")), other), tmp_path / "runs")
    assert said in str(caught.value)
    assert not (tmp_path / "runs").exists()


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "report.json").write_text('{"id": 1}')
    with pytest.raises(BadInput) as caught:
        merge.merge([tmp_path / "nosuch", tmp_path / "old"], tmp_path / "runs")
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/nosuch is no run: it has no report.json; name a folder of runs/",
        f"{tmp_path}/old/report.json: this is no report of this Causeway; play it again",
    ]


def test_what_breaks_off_leaves_no_half_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    parts = written(tmp_path, part(1, result("a")), part(2, result("b")))
    monkeypatch.setattr(files, "write", full)
    with pytest.raises(OSError, match="No space"):
        merge.merge(parts, tmp_path / "runs")
    assert list((tmp_path / "runs").iterdir()) == []


def test_the_command_shows_one_run_or_makes_one_of_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAUSEWAY_RUNS", str(tmp_path / "runs"))
    one, two = map(str, written(tmp_path, part(1, result("a")), part(2, result("b", "broken"))))
    assert main(["report", one]) == 0
    assert "1 passed: lab jubl" in capsys.readouterr().out
    assert main(["report", one, two]) == 2
    assert "2 runs: name one, or make one of them with --merge" in capsys.readouterr().err
    assert main(["report", "--merge", one, two, "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert [scenario["name"] for scenario in found["scenarios"]] == ["a", "b"]
    assert (folders.runs() / "latest").resolve() == tmp_path / "runs" / found["id"]
    assert main(["report"]) == 3  # the one that was made last
