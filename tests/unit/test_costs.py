"""What people wait for: each wait is measured by the command that a person types, and shown beside what it was."""

import json
from pathlib import Path
from typing import Any

import pytest

from causeway.docs import costs
from causeway.errors import EXIT_LAB_BROKEN
from causeway.process import Result


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What is typed; each command takes a second more than the one before, on a clock of its own."""
    seen: list[str] = []
    now = [0.0]

    def run(argv: list[str], *, env: dict[str, str], timeout_s: float) -> Result:
        assert timeout_s > 600 and env["CAUSEWAY_STATE"] != str(tmp_path)
        seen.append(" ".join(argv[1:]))
        now[0] += len(seen)
        if argv[1] == "bench":
            rows = [{"eight_streams": {"wall_over_virtual": 1.125}}]
            (tmp_path / "bench-20261124-2.json").write_text(json.dumps(rows))
        return Result(tuple(argv), 0, "", "")

    monkeypatch.setattr(costs, "run", run)
    monkeypatch.setattr(costs, "monotonic", lambda: now[0])
    monkeypatch.setattr(costs, "KEPT", tmp_path / "costs.json")
    monkeypatch.setenv("CAUSEWAY_RUNS", str(tmp_path))
    (tmp_path / "bench-20261123-3.json").write_text("[]")
    return seen


def test_each_wait_is_measured_by_what_a_person_types(typed: list[str]) -> None:
    assert costs.main() == 0
    kept = json.loads(costs.KEPT.read_text())
    assert list(kept) == ["caches", "template", "states", "suite", "then", "streams", "racks", "racks_boot"]
    assert set(kept) == set(costs.WAITS)

    def took(command: str, last: bool = False) -> int:
        numbers = [number for number, words in enumerate(typed, 1) if words == command]
        return numbers[-1] if last else numbers[0]

    assert kept["caches"] == took("up jubl --quiet")
    assert kept["template"] == took("up jubl --quiet", last=True)
    assert kept["states"] == -1  # a second less than what it takes to get in
    assert kept["suite"] == round(took("run --lab jubl --jobs 2") / 60, 3)
    then = next(words for words in typed if words.startswith("run boot_order "))
    assert (len(then.split()) - 5, kept["then"]) == (27, round(took(then) / 60, 3))
    assert kept["streams"] == 1.125
    assert kept["racks"] == took("up jubl --count 288 --quiet", last=True)
    assert typed.index("exec SN -- bgldeallocate R000_NCDEF_FAT") < typed.index("exec SN -- bglallocate ALL root")
    assert typed[-2:] == ["down", "templates --drop all"]


def test_where_a_command_fails_nothing_is_kept(
    typed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = costs.run

    def run(argv: list[str], **words: Any) -> Result:
        done = good(argv, **words)
        return Result(tuple(argv), 3, "", "no lab") if "mcgetstate" in argv else done

    monkeypatch.setattr(costs, "run", run)
    assert costs.main() == EXIT_LAB_BROKEN
    assert not costs.KEPT.exists()
    assert capsys.readouterr().err.endswith("exec SN -- mcgetstate -a` ended with 3: no lab\n")
    assert typed[-2:] == ["down", "templates --drop all"]


def test_the_page_has_what_it_was_beside_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "_waits", lambda: [["a wait, s", "75", "40", "59.6"]])
    assert "| a wait, s | 75 | 40 | 59.6 |\n" in costs.costs_page()


def test_what_is_kept_is_of_waits_that_there_are() -> None:
    assert set(json.loads(costs.KEPT.read_text())) <= set(costs.WAITS)
    assert next(row[1:] for row in costs._waits())[:2] == ["75", "40"]
