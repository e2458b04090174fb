"""A class: who has which lab, for how many there is room, and what the board shows of them."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from causeway.cli import command, seats
from causeway.cli.app import main
from causeway.errors import BadInput
from causeway.hosts.memory import Room
from causeway.lessons.notes import Notes


class Host:
    """A lab that is up."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        folder.mkdir()

    def running(self) -> bool:
        return True


@pytest.fixture
def class_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Host]:
    """Two seats, of which one has done the first of three tasks, and a lab that is nobody's."""
    found = [Host(tmp_path / name) for name in ("pond-seat-2", "pond-seat-1", "pond")]
    Notes("routes", 1, 1, tasks=3).write(found[0].folder)
    Notes("routes", 1, 1, tasks=3, hints={"1": 2, "2": 1}, passed=[1], checks=4, resets=1).write(found[1].folder)
    monkeypatch.setattr(seats.uml, "all_hosts", lambda: found)
    monkeypatch.setattr(command.host, "every", lambda: found)
    return found


@pytest.mark.usefixtures("class_")
def test_the_board_has_every_seat_with_its_task_and_its_hints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "board", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["lab"], first["task"], first["tasks"], first["passed"], first["hints"]) == (
        "pond-seat-1",
        2,
        3,
        [1],
        3,
    )
    assert (first["checks"], first["resets"], first["done"], second["lab"]) == (4, 1, False, "pond-seat-2")
    kept = tmp_path / "board.html"
    assert main(["lab", "board", "--html", str(kept)]) == 0
    page = kept.read_text()
    assert "pond-seat-1" in capsys.readouterr().out and "<td>pond-seat-1</td><td>routes</td><td>2 of 3</td>" in page
    assert page.count("<tr>") == 3 and 'http-equiv="refresh"' in page


def test_a_page_is_no_place_for_anybodys_markup(class_: list[Host]) -> None:
    Notes("<b>", 1, 1, tasks=1, passed=[1]).write(class_[0].folder)
    assert "<td>&lt;b&gt;</td><td>done</td>" in seats.page(seats.rows())


def test_a_seat_s_name_is_in_one_piece_however_much_there_is_to_say(
    class_: list[Host], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class_.append(Host(tmp_path / "harbour-seat-3"))
    Notes("routes", 1, 1, tasks=3, passed=[1, 2, 3], checks=2, solved=True).write(class_[-1].folder)
    assert main(["lab", "board"]) == 0
    shown = capsys.readouterr().out
    assert "harbour-seat-3" in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.usefixtures("class_")
def test_on_a_terminal_it_is_live_until_an_interrupt_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def nap(_: float) -> None:
        looked.append(1)
        if len(looked) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(seats.time, "sleep", nap)
    screen = StringIO()
    monkeypatch.setattr(seats, "out", Console(file=screen, force_terminal=True, width=80))
    kept = tmp_path / "board.html"
    assert main(["lab", "board", "--html", str(kept)]) == 0
    assert len(looked) == 2 and "pond-seat-1" in screen.getvalue() and "pond-seat-1" in kept.read_text()


@pytest.mark.usefixtures("class_")
def test_a_seat_is_found_by_its_number() -> None:
    assert command.lab_of(None, 2) == "pond-seat-2"
    assert command.lab_of("pond", None) == "pond"
    for lab, seat in ((None, 3), ("pond", 1)):
        with pytest.raises(BadInput, match="one of the seats that there are: pond-seat-2, pond-seat-1"):
            command.lab_of(lab, seat)
    assert main(["lab", "hint", "--seat", "7"]) == 2


@pytest.mark.parametrize(("left", "able"), [(9_999, 1), (10_000, 2), (90_000, 8)])
def test_more_seats_than_memory_has_room_for_are_refused_beforehand_with_the_sum(
    left: int, able: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seats.memory, "room", lambda: Room({"/dev/shm": left}, 0))
    assert f"room for {able}, and 8 at most" in seats._room_for(able, 5_000)
    with pytest.raises(BadInput, match=f"--seats {able + 1}: a seat may take 5000 MiB, {left} are left"):
        seats._room_for(able + 1, 5_000)


def test_a_second_class_is_refused(class_: list[Host], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats.host, "choose", lambda _: ("uml", "as ever"))
    with pytest.raises(BadInput, match="there is a class already: pond-seat-2, pond-seat-1; `causeway down` ends it"):
        seats.begin("small", 2, lambda *_: 0)
    assert len(class_) == 3


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["keys", "--lab", "small"], 4, "small has no filesystem that a cluster mounts of another"),
        (["routes", "--lab", "small", "--level", "2"], 2, "--level 2: routes has levels 1 to 1"),
        (["nosuch"], 2, "there is no lesson 'nosuch'"),
        (["some/where"], 2, "there is no lesson 'some/where'"),
    ],
)
def test_what_a_site_cannot_take_is_said_before_any_seat_is_made(
    words: list[str], code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(seats, "begin", lambda *_: pytest.fail("a seat was made"))
    assert main(["lab", "start", *words, "--seats", "2"]) == code
    assert said in " ".join(capsys.readouterr().err.split())


def test_seats_are_made_of_the_smallest_site_that_can_take_the_lesson(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[object, ...]] = []
    monkeypatch.setattr(seats, "begin", lambda *about: made.append(about[:2]) or 0)
    assert (main(["lab", "start", "routes", "--seats", "2"]), main(["lab", "start", "boot", "--seats", "8"])) == (0, 0)
    assert made == [("small", 2), ("jubl", 8)]
