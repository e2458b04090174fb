"""Lessons: their form, and all that is wrong with one at once; their words on every site; what a check says."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causeway.cli import lessons as commands
from causeway.cli import teaching
from causeway.cli.app import main
from causeway.errors import BadInput, LabBroken, Unsupported
from causeway.folders import site_file, sites
from causeway.lab.faults.catalogue import FAULTS
from causeway.lab.lab import Lab
from causeway.lessons import check as checking
from causeway.lessons import lesson as lessons
from causeway.lessons import notes, promises, text
from causeway.lessons.desk import NOTHING, Desk
from causeway.lessons.lesson import CastLesson, Lesson
from causeway.lessons.notes import Notes
from causeway.lessons.text import Carried, Command
from causeway.lessons.troubles import drawn
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.scenario.words.logins import IN
from tests import lessons as played

SITES = {name: load_site(site_file(name)) for name in sites()}
SOUND = """# One thing is learned

There was work on {{ node }}.

## 1. The first

{{ node }} does it.

### Hints

- one
- two,
  and more of it

### Solution

Like this:

```console
{{ node }}# cat >/tmp/x <<END
> {{ node }}
>
> END
{% for word in words %}
{{ node }}# echo {{ word }}
{% endfor %}
{{ node }}:/tmp/x -> {{ node }}:/tmp/y
```

## Afterwards

It was that.
"""
PROGRAM = '''"""A lesson."""
from dataclasses import dataclass


@dataclass
class Cast:
    node: str
    words: tuple[str, ...] = ("a", "b")


def cast(ask):
    return Cast(ask.hosts()[0])


def begin(desk, cast):
    pass


def task_1(desk, cast):
    """It is done."""
    desk.same("done", 1, 1)
'''


def made(folder: Path, told: str = SOUND, program: str = PROGRAM) -> Path:
    (folder / "lesson.md").write_text(told)
    (folder / "lesson.py").write_text(program)
    return folder


def mistakes(folder: Path) -> list[str]:
    """What is said of a lesson, without its folder."""
    with pytest.raises(BadInput) as caught:
        lessons.check_form(folder)
    return [str(problem).removeprefix(f"{folder}/").partition(";")[0] for problem in caught.value.problems]


def test_a_lesson_is_read_with_a_sites_names(tmp_path: Path) -> None:
    cast = lessons.load(made(tmp_path)).for_site(SITES["small"])
    assert (cast.title, cast.story) == ("One thing is learned", "There was work on quay1.")
    (task,) = cast.tasks
    assert (task.title, task.text, task.hints) == ("The first", "quay1 does it.", ("one", "two,\nand more of it"))
    assert cast.steps(task) == [
        Command("quay1", "cat >/tmp/x <<END\nquay1\n\nEND"),
        Command("quay1", "echo a"),
        Command("quay1", "echo b"),
        Carried("quay1", "/tmp/x", "quay1", "/tmp/y"),
    ]
    assert cast.afterwards == "It was that."


def test_all_mistakes_of_a_lesson_are_said_at_once_each_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = SOUND.replace("# One thing is learned", "# {{ node }} is learned").replace(
        "## 1. The first", "## 2. The first"
    )
    wrong = (
        wrong.replace("- one\n", "one\n")
        .replace("> {{ node }}\n>", "{{ node }} $ what\n>")
        .replace("## Afterwards", "## After")
    )
    wrong = wrong.replace("There was work", "There {% was work")
    program = PROGRAM.replace("def begin(desk, cast)", "def begin(desk)").replace("task_1", "task_2")
    folder = made(tmp_path, wrong, program)
    assert mistakes(folder) == [
        "lesson.md:1: -: the title names a site's things",
        "lesson.md:3: -: Encountered unknown tag 'was'.",
        "lesson.md:5: -: this is task 1",
        "lesson.md:11: -: a hint is an item of a list",
        "lesson.md:21: -: '{{ node }} $ what' is nothing that one types on a node",
        "lesson.md:30: -: '## After' is no heading of a lesson here",
        "lesson.md:32: -: there is no debriefing",
        "lesson.py:1: -: there is no task_1",
        "lesson.py:15: -: begin takes something else",
        "lesson.py:19: -: the text has no such task as task_2",
    ]
    assert main(["lab", "start", str(folder)]) == 2
    assert "10 mistakes; nothing was started" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("There was work on {{ node }}.", "there is no story"),
        ("{{ node }} does it.", "the task says nothing"),
        ("- one\n- two,\n  and more of it\n", "the task has no hint"),
        ("```console\n", "the task has no solution"),
        ("It was that.", "there is no debriefing"),
        ("# One thing is learned\n", "there is no title"),
    ],
)
def test_a_lesson_without_a_part_is_none(tmp_path: Path, gone: str, said: str) -> None:
    assert any(said in mistake for mistake in mistakes(made(tmp_path, SOUND.replace(gone, "", 1))))


def test_what_is_no_lesson_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no lesson 'nosuch'; the lessons are "):
        lessons.folder_of("nosuch")
    assert mistakes(tmp_path)[0].startswith(f"{tmp_path.name}"[:0] + "lesson.md:1: -: it cannot be read")
    (tmp_path / "lesson.md").write_text(SOUND)
    assert mistakes(tmp_path) == ["lesson.py:1: -: it cannot be read (No such file or directory)"]
    (tmp_path / "lesson.py").write_text("def cast(ask):\n  return (\n")
    assert mistakes(tmp_path) == ["lesson.py:2: -: '(' was never closed"]
    made(tmp_path, program=PROGRAM.replace('    """It is done."""\n', ""))
    assert mistakes(tmp_path) == ["lesson.py:19: -: task_1 does not say what it looks at"]


def test_a_name_that_the_cast_does_not_give_is_said_with_its_line(tmp_path: Path) -> None:
    lesson = lessons.load(made(tmp_path, SOUND.replace("{{ node }} does it.", "{{ nobody }} does it.")))
    with pytest.raises(BadInput, match=r"lesson.md:7: nobody: the cast gives no such name; use node, site, words"):
        lessons.where(lesson, SITES["small"])


def test_a_level_that_a_lesson_has_not_is_refused(tmp_path: Path) -> None:
    lesson = lessons.load(made(tmp_path))
    with pytest.raises(BadInput, match=r"--level 2: .* has levels 1 to 1"):
        lesson.for_site(SITES["small"], level=2)


def everywhere() -> list[tuple[str, str]]:
    """Every shipped lesson on each shipped site that can take it."""
    return [
        (one.name, name) for one in lessons.load_all() for name, site in SITES.items() if not lessons.where(one, site)
    ]


@pytest.mark.parametrize(("name", "site"), everywhere())
def test_a_lesson_says_all_its_words_on_every_site_that_takes_it(name: str, site: str) -> None:
    lesson = lessons.load(lessons.FOLDER / name)
    for level in range(1, lesson.levels + 1):
        for seed in range(1, 6):
            cast = lesson.for_site(SITES[site], seed, level)
            assert lessons.unknown_names(cast) == []
            for task in cast.tasks:
                said = "".join((cast.story, cast.afterwards, task.text, task.solution, *task.hints))
                assert "{" not in said.replace("${", "") or "{{" not in said
                nodes = {s.node if isinstance(s, Command) else s.target for s in cast.steps(task)}
                assert nodes <= SITES[site].nodes.keys()
            assert set(cast.players) <= SITES[site].nodes.keys()


def test_there_are_ten_lessons_and_a_small_site_takes_half_of_them() -> None:
    assert len(lessons.every()) >= 10
    assert sum(site == "small" for _, site in everywhere()) >= 6
    assert {name for name, _ in everywhere()} == set(lessons.every())


@pytest.mark.parametrize("site", SITES.values(), ids=SITES)
@pytest.mark.parametrize("level", [1, 2, 3])
def test_what_is_drawn_repeats_and_its_fault_takes_its_words(site: Site, level: int) -> None:
    colleagues = [name for name, node in site.nodes.items() if node.cluster == next(iter(site.topology.clusters))][:2]
    first = drawn(site, colleagues, level, random.Random("7"))
    assert first == drawn(site, colleagues, level, random.Random("7"))
    kinds = set()
    for seed in range(40):
        for trouble in drawn(site, colleagues, level, random.Random(seed)):
            kinds.add(trouble.fault)
            assert FAULTS[trouble.fault].read(trouble.words, site)
            assert trouble.look == FAULTS[trouble.fault].look
            assert all(text.steps(f"```console\n{line}\n```") for line in trouble.cure)
    assert level == 2 or kinds


def test_the_slow_hop_is_another_with_another_seed() -> None:
    lesson = lessons.load(lessons.FOLDER / "slow")
    assert {lesson.for_site(SITES["jubl"], seed).cast.wrong for seed in range(20)} == {"route", "cables", "policy"}


def test_by_night_each_draw_is_played_that_has_a_solution_of_its_own() -> None:
    known = {name: lessons.load(lessons.FOLDER / name) for name in lessons.every()}
    plays = [(play, known[play.lesson].for_site(SITES[play.site], play.seed, play.level)) for play in played.every()]
    assert {(play.lesson, play.level) for play, _ in plays} == {
        (name, level) for name, one in known.items() for level in range(1, one.levels + 1)
    }
    for name, of in (("slow", lambda cast: cast.wrong), ("colleague", lambda cast: [t.fault for t in cast.troubles])):
        for level in range(1, known[name].levels + 1):
            mine = [(play, cast) for play, cast in plays if (play.lesson, play.level) == (name, level)]
            others = [known[name].for_site(SITES[mine[0][0].site], seed, level) for seed in range(100, 160)]
            drawn_too = {str(of(one.cast)): of(one.cast) for one in others}
            assert sorted(of(one.cast) for _, one in mine) == sorted(drawn_too.values())


# Checks


class Bare(Lab):
    """A lab of which nothing is asked but whether its nodes run."""

    def __init__(self, site: Site, states: Callable[[str], str] = lambda _: "up") -> None:
        super().__init__(site, Path("/nowhere"))
        object.__setattr__(self, "states", states)

    def state(self, node: str) -> str:
        return str(self.states(node))  # type: ignore[attr-defined]


def looked(folder: Path, look: Callable[[Desk, Any], object], lab: Lab) -> checking.TaskFound:
    lesson: Lesson = replace(lessons.load(made(folder)), checks=(look,))
    (found,) = checking.check(lab, lesson.for_site(lab.site))
    return found


def test_a_check_says_what_is_right_and_what_is_seen_where_it_is_not(tmp_path: Path) -> None:
    def look(desk: Desk, _: Any) -> None:
        desk.same("members", ["a", "b"], ["a"])
        desk.holds("reached", True)
        desk.holds("mounted", False, "nothing is")
        desk.near("rate", 941.0, 470.0, "Mbit/s", why="the wire's")

    found = looked(tmp_path, look, Bare(SITES["small"]))
    assert not found.done
    assert [(one.what, one.right, one.seen) for one in found.found] == [
        ("members", False, "a"),
        ("reached", True, ""),
        ("mounted", False, "nothing is"),
        ("rate", False, "470.0 Mbit/s"),
    ]
    # what would be right is not said: that is the task
    assert "b" not in "".join(one.seen for one in found.found if one.what == "members")


def test_what_cannot_be_looked_at_is_not_yet_and_a_lab_without_a_node_is_broken(tmp_path: Path) -> None:
    def look(desk: Desk, _: Any) -> None:
        desk.holds("reached", True)
        raise LabBroken("cat: no such file")

    found = looked(tmp_path, look, Bare(SITES["small"]))
    assert [(one.what, one.right, one.seen) for one in found.found] == [
        ("reached", True, ""),
        ("the rest can be looked at", False, "cat: no such file"),
    ]
    with pytest.raises(LabBroken, match="no such file"):
        looked(tmp_path, look, Bare(SITES["small"], lambda node: "down" if node == "pier" else "up"))


def test_a_check_that_looks_at_nothing_is_no_check(tmp_path: Path) -> None:
    with pytest.raises(LabBroken, match="task 1 looks at nothing"):
        looked(tmp_path, lambda *_: None, Bare(SITES["small"]))


def test_soon_waits_for_what_comes_and_not_for_what_is_not_there() -> None:
    desk, seen = Desk(Bare(SITES["small"]), "x", 1), iter([1, 2, 3])
    desk.soon("counted", 3, lambda: next(seen), 60)

    def nothing() -> int:
        raise LabBroken("no such file")

    desk.soon("there", 3, nothing, 60)
    assert [(c.ok, c.measured) for c in desk.comparisons] == [(True, 3), (False, NOTHING)]


def test_soon_looks_again_as_rarely_as_it_is_told() -> None:
    looks: list[float] = []
    Desk(Bare(SITES["small"]), "x", 1).soon("counted", 3, lambda: looks.append(0) or 1, 0.2, 0.15)
    assert len(looks) == 3


# Promises


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Logins as they are looked at; of all other kinds each is kept, and notes here that it was asked."""
    asked: list[str] = []
    for kind in ("_routes", "_names", "_time", "_sizes", "_channels"):
        monkeypatch.setattr(promises, kind, lambda _, kind=kind: iter(asked.append(kind) or ()))
    monkeypatch.setattr(promises, "cut", lambda *_: [])
    monkeypatch.setattr(promises, "computed_cut", lambda *_: [])
    monkeypatch.setattr(promises, "login", lambda *_: IN)
    return asked


@pytest.mark.parametrize("deaf", SITES["small"].hosts())
def test_an_sshd_that_does_not_run_shows_wherever_it_is(
    deaf: str, kinds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, two = Desk(Bare(SITES["small"]), "x", 1), ["quay1", "quay2"]
    monkeypatch.setattr(promises, "listens", lambda *_: True)
    assert promises.whole(desk, two) and len(kinds) == 5
    monkeypatch.setattr(promises, "listens", lambda _, node, __: node != deaf)
    assert [kind for kind, held in promises.kept(desk, two).items() if not held] == ["logins"]
    kinds.clear()
    assert not promises.whole(desk, two) and "_sizes" not in kinds  # it looks no further


# Commands


@pytest.fixture
def on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lesson that is on in a lab host; its share."""
    folder = tmp_path / "lesson"
    folder.mkdir()
    made(folder)
    monkeypatch.setattr(teaching, "_SHARE", tmp_path)
    monkeypatch.setattr(teaching, "the_lab", lambda _: Bare(SITES["small"]))
    Notes(str(folder), 1, 1, tasks=1).write(tmp_path)
    return tmp_path


def noted(folder: Path) -> Notes:
    found = notes.read(folder)
    assert found
    return found


def test_hints_come_in_steps_and_are_counted(on: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        assert teaching.hint(None) == 0
    said = capsys.readouterr()
    assert said.out.split("\n\n")[:2] == ["task 1, hint 1 of 2: one", "task 1, hint 2 of 2: two, and more of it"]
    assert "task 1 has no more hints" in said.err
    assert noted(on).hints == {"1": 2}


def test_there_are_no_hints_for_what_is_done(on: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Notes(noted(on).lesson, 1, 1, tasks=1, passed=[1]).write(on)
    assert teaching.hint(None) == 0
    assert capsys.readouterr().err == "every task is done\n"
    assert noted(on).hints == {}


def test_notes_are_of_the_task_that_is_next() -> None:
    assert Notes("x", 1, 1, tasks=3, passed=[1, 3]).task == 2
    assert Notes("x", 1, 1, tasks=3, passed=[1, 2, 3]).task == 4
    assert Notes("/share/lessons/mine", 1, 1).name == "mine"


def test_without_a_lesson_commands_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Host:
        name, folder = "small", tmp_path

    monkeypatch.setattr(commands.host, "with_checkpoints", lambda _: Host())
    for words in ("task", "hint", "check", "solve", "reset"):
        assert main(["lab", words]) == 2
    Notes("routes", 1, 1).write(tmp_path)
    with pytest.raises(BadInput, match="the lesson that is on in small is routes, not clock"):
        commands._on("clock", None)
    assert commands._on("routes", None)[1].name == "routes"


def test_a_site_that_cannot_take_a_lesson_says_why() -> None:
    keys = lessons.load(lessons.FOLDER / "keys")
    with pytest.raises(Unsupported, match="small has no filesystem that a cluster mounts of another"):
        keys.for_site(SITES["small"])
    assert isinstance(keys.for_site(SITES["jubl"]), CastLesson)


def test_a_beginning_that_there_is_no_memory_to_keep_is_said_with_what_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Host:
        name, folder, share = "small", tmp_path, tmp_path

        def site(self) -> Site:
            return SITES["small"]

        def do(self, *_: Any) -> int:
            return 0

    def none_left(*_: Any) -> None:
        raise BadInput("333 MiB are left")

    monkeypatch.setenv("CAUSEWAY_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(commands.host, "ask_for_a_clone", none_left)
    with pytest.raises(BadInput, match=f"333 MiB are left.* `causeway checkpoint {notes.BEGINNING} --lab small`"):
        commands._start_in(Host(), "routes", lessons.folder_of("routes"), 1, 1)  # type: ignore[arg-type]
    assert notes.read(tmp_path) is not None  # it is on
    assert capsys.readouterr().err.strip() == "the beginning of routes is made"
