"""A folder among those of labs that is somebody else's stays as it is."""

from pathlib import Path

import pytest

from causeway.errors import BadInput
from causeway.hosts import uml
from causeway.hosts.guests import make_folder
from causeway.hosts.labs import refuse_a_second
from causeway.lessons.notes import Notes


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAUSEWAY_STATE", str(tmp_path))
    for name in ("theirs", "templates/theirs"):
        (tmp_path / name / "guests").mkdir(parents=True)
        (tmp_path / name / "about.json").write_text("about my guests")
        (tmp_path / name / "thesis.tex").touch()
    for name in ("left", "templates/left"):
        make_folder(tmp_path / name / "guests/1")
        (tmp_path / name / "lock").touch()
        Notes("routes", 1, 1).write(tmp_path / name)
    return tmp_path


def test_a_sweep_takes_what_a_killed_lab_left_and_nothing_of_others(state: Path) -> None:
    assert uml.sweep() == ["left", "left"]
    assert not (state / "left").exists()
    for name in ("theirs", "templates/theirs"):
        assert len(list((state / name).iterdir())) == 3


def test_a_lab_takes_no_folder_of_others(state: Path) -> None:
    with pytest.raises(BadInput, match="theirs is in the way of the lab theirs, and not Causeway's"):
        refuse_a_second(state / "theirs")
    (state / "link").symlink_to(state / "left")
    with pytest.raises(BadInput, match="in the way of the lab link"):
        refuse_a_second(state / "link")
    (state / "file").touch()
    with pytest.raises(BadInput, match="in the way of the lab file"):
        refuse_a_second(state / "file")
    refuse_a_second(state / "left")
    refuse_a_second(state / "new")
