"""The parts of a bring-up are timed, and said with their times of the last one."""

import json
from pathlib import Path

import pytest

from causeway.lab import parts as module
from causeway.lab.parts import Parts


class Watch:
    """Goes on by a second whenever it is read."""

    now = 0.0

    @property
    def wall_s(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture(autouse=True)
def watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Watch", Watch)


def brought_up(file: Path) -> list[str]:
    said: list[str] = []
    parts = Parts(file, said.append)
    for part in ("render", "nodes"):
        parts.begin(part)
        parts.say("1 of 3")
    parts.keep()
    return said


def test_the_first_time_says_what_goes_on_and_the_second_how_long_it_took(tmp_path: Path) -> None:
    file = tmp_path / "runs/bring-up-mine.json"
    assert brought_up(file) == ["[render] begins", "[render] 1 of 3", "[nodes] begins", "[nodes] 1 of 3"]
    assert json.loads(file.read_text()) == {"render": 1.0, "nodes": 1.0}
    assert brought_up(file)[1::2] == ["[render, 1 s last time] 1 of 3", "[nodes, 1 s last time] 1 of 3"]
    assert list(file.parent.iterdir()) == [file]


def test_where_all_repeats_the_last_time_is_not_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "bring-up-mine.json"
    file.write_text("unread")
    parts = Parts(file, lambda _: None, repeats=True)
    parts.begin("render")
    parts.keep()
    assert parts.took_s == {"render": 1.0}
    assert file.read_text() == "unread"


def test_what_did_not_end_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "bring-up-mine.json"
    parts = Parts(file, lambda _: None)
    parts.begin("render")
    assert not file.exists()
    parts.end()
    assert parts.took_s == {"render": 1.0}
    assert not file.exists()


def test_a_part_that_was_not_there_last_time_has_no_time(tmp_path: Path) -> None:
    file = tmp_path / "bring-up-mine.json"
    file.write_text('{"render": 2.6}')
    assert brought_up(file)[::2] == ["[render, 3 s last time] begins", "[nodes] begins"]
