"""Lessons: what their page has one type, to its end. (All of them are played by `make nightly`: tests/lessons.py.)"""

import json

import pytest
from conftest import Tool

from causeway.lessons.notes import BEGINNING
from tests import lessons, pages


def test_what_a_trainee_types_begins_checks_and_ends_a_lesson(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in tool.env.items():
        monkeypatch.setenv(name, value)
    folder = pages.new_user(tool.folder, "training.md")
    *learns, down = pages.blocks("training.md")[0].lines
    assert pages.typed(folder, tuple(learns)) == []
    notes = json.loads((tool.folder / "state" / "small" / "lesson.json").read_text())
    told = ("lesson", "hints", "passed", "checks", "resets", "solved")
    assert [notes[what] for what in told] == ["routes", {"1": 1}, [1, 2, 3], 2, 1, True]
    again = lessons.tool("lab", "start", "clock")
    assert (again.returncode, "lesson routes is on in small; `causeway down small`" in again.stderr) == (2, True)
    assert [row["name"] for row in tool.json("checkpoints", "--json")] == [BEGINNING]
    assert pages.typed(folder, (down,)) == []
