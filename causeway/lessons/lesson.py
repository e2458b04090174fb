"""Find lessons, read them with all their mistakes at once, and cast them.

A lesson is a folder: lesson.md (see `text`) and lesson.py, which has

    cast(ask)           the nodes that the lesson takes; what it returns has the names that the text fills in
    begin(desk, cast)   what is the case at its beginning, made of a lab as it came up
    task_1(desk, cast)  the check of a task, one for each; its docstring says in a sentence what is to be the case
"""

import ast
import importlib.util
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from causeway.errors import BadInput, Problem, Unsupported
from causeway.folders import REPO, site_file, sites
from causeway.lessons import text as texts
from causeway.lessons.desk import Desk
from causeway.lessons.text import Carried, Command, Part, Text
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.scenario.cast import Ask

FOLDER = REPO / "labs"
PROGRAM = "lesson.py"
#: What a lesson.py must have, and what each takes.
_TAKES = {"cast": ("ask",), "begin": ("desk", "cast")}
_TASK_TAKES = ("desk", "cast")


class AskLesson(Ask):
    """A site that a lesson asks; what is drawn comes from `random`, by the seed, and `level` is how hard it is."""

    def __init__(self, site: Site, seed: int, level: int, name: str) -> None:
        super().__init__(site)
        self.level = level
        self.random = random.Random(f"{seed} {name} {level}")


@dataclass(frozen=True)
class Lesson:
    """A lesson that is read. `levels` is how many levels of difficulty it has."""

    name: str
    text: Text
    levels: int
    cast: Callable[[AskLesson], Any]
    begin: Callable[[Desk, Any], object]
    checks: tuple[Callable[[Desk, Any], object], ...]

    def for_site(self, site: Site, seed: int = 1, level: int = 1) -> "CastLesson":
        """The lesson with a site's nodes. Unsupported where it has none for it; BadInput for no level of its."""
        if not 1 <= level <= self.levels:
            raise BadInput(f"--level {level}: {self.name} has levels 1 to {self.levels}")
        ask = AskLesson(site, seed, level, self.name)
        cast = self.cast(ask)
        return CastLesson(self, cast, names(cast) | {"site": site}, tuple(ask.players), seed)


@dataclass(frozen=True)
class Task:
    """A task with the site's names in it."""

    number: int
    title: str
    text: str
    hints: tuple[str, ...]
    solution: str


@dataclass(frozen=True)
class CastLesson:
    """A lesson for a site."""

    lesson: Lesson
    cast: Any
    words: dict[str, Any]
    players: tuple[str, ...]
    seed: int

    @property
    def title(self) -> str:
        return self._fill(self.lesson.text.title)

    @property
    def story(self) -> str:
        return self._fill(self.lesson.text.story)

    @property
    def afterwards(self) -> str:
        assert self.lesson.text.afterwards
        return self._fill(self.lesson.text.afterwards)

    @property
    def tasks(self) -> list[Task]:
        found = []
        for number, task in enumerate(self.lesson.text.tasks, 1):
            assert task.solution
            hints = tuple(self._fill(hint) for hint in task.hints)
            title, text, solution = (self._fill(part) for part in (task.title, task.text, task.solution))
            found.append(Task(number, title, text, hints, solution))
        return found

    def steps(self, task: Task) -> list[Command | Carried]:
        """What the model solution does for a task. BadInput for a line that is nothing of the kind."""
        try:
            return texts.steps(task.solution)
        except ValueError as line:
            raise BadInput(f"{self.lesson.text.file}: task {task.number}: {line} is no command on a node") from None

    def _fill(self, part: Part) -> str:
        try:
            return texts.fill(part, self.words)
        except LookupError as error:
            raise BadInput(f"{self.lesson.text.file}:{part.line}: {error}; mend what stands in braces") from None


def names(cast: Any) -> dict[str, Any]:
    """What a cast gives the text to fill in: its public attributes."""
    return {name: getattr(cast, name) for name in dir(cast) if not name.startswith("_")}


def every() -> list[str]:
    """The shipped lessons."""
    return sorted(file.parent.name for file in FOLDER.glob(f"*/{texts.NAME}"))


def folder_of(name: str) -> Path:
    """The folder of a shipped lesson, or of one that is named by its path. BadInput where there is none."""
    folder = Path(name) if "/" in name else FOLDER / name
    if not folder.is_dir():
        raise BadInput(f"there is no lesson {name!r}; the lessons are {', '.join(every())}")
    return folder


def check_form(folder: Path) -> None:
    """BadInput with every mistake in a lesson's folder that can be seen without doing what is in it."""
    text, problems = texts.read(folder / texts.NAME)
    problems += _program_problems(folder / PROGRAM, len(text.tasks))
    if problems:
        raise BadInput(sorted(problems, key=lambda one: (one.file, one.line)))


def load(folder: Path) -> Lesson:
    """A lesson. BadInput with every mistake in it. It does what its program says, a stranger's perhaps."""
    check_form(folder)
    text, _ = texts.read(folder / texts.NAME)
    file = folder / PROGRAM
    spec = importlib.util.spec_from_file_location(f"lesson_{folder.name}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    checks = tuple(getattr(module, f"task_{number}") for number in range(1, len(text.tasks) + 1))
    return Lesson(folder.name, text, getattr(module, "LEVELS", 1), module.cast, module.begin, checks)


def load_all() -> list[Lesson]:
    """The shipped lessons."""
    return [load(FOLDER / name) for name in every()]


def where(lesson: Lesson, site: Site) -> str:
    """Why a site cannot take a lesson, or "". Names in the text that the cast does not give are BadInput."""
    try:
        cast = lesson.for_site(site)
    except Unsupported as reason:
        return str(reason)
    if wrong := unknown_names(cast):
        raise BadInput(wrong)
    return ""


@cache
def smallest_first() -> tuple[Site, ...]:
    """The shipped sites, that of fewest nodes first; read once, whoever asks."""
    return tuple(sorted((load_site(site_file(name)) for name in sites()), key=lambda site: len(site.nodes)))


def smallest(name: str, folder: Path) -> str:
    """The shipped site of fewest nodes that can take a lesson. BadInput where none can, or nobody may ask it yet."""
    if "/" in name:
        raise BadInput(f"{name} may be a stranger's, who is asked in a lab alone: say --lab SITE")
    lesson = load(folder)
    able = next((site.name for site in smallest_first() if not where(lesson, site)), None)
    if able is None:
        raise BadInput(f"no shipped site can take {name}; say --lab FILE")
    return able


def unknown_names(cast: CastLesson) -> list[Problem]:
    """The names that the text asks for, and that its cast does not give."""
    return list(texts.unknown(cast.lesson.text, set(cast.words)))


def _program_problems(file: Path, tasks: int) -> list[Problem]:
    def problem(line: int, what: str, remedy: str) -> Problem:
        return Problem(str(file), line, "-", what, remedy)

    try:
        tree = ast.parse(file.read_bytes())
    except OSError as error:
        return [problem(1, f"it cannot be read ({error.strerror})", "write it: cast, begin, and a check for each task")]
    except (SyntaxError, ValueError) as error:
        return [problem(getattr(error, "lineno", None) or 1, str(getattr(error, "msg", error)), "make it Python")]
    found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    wanted = _TAKES | {f"task_{number}": _TASK_TAKES for number in range(1, tasks + 1)}
    return list(_lacking(found, wanted, problem))


def _lacking(
    found: dict[str, ast.FunctionDef], wanted: dict[str, tuple[str, ...]], problem: Callable[[int, str, str], Problem]
) -> Iterator[Problem]:
    for name, takes in wanted.items():
        if name not in found:
            yield problem(1, f"there is no {name}", f"write def {name}({', '.join(takes)})")
        elif len(found[name].args.args) != len(takes):
            yield problem(found[name].lineno, f"{name} takes something else", f"write def {name}({', '.join(takes)})")
    for name, node in found.items():
        if re.fullmatch(r"task_\d+", name):
            if name not in wanted:
                yield problem(node.lineno, f"the text has no such task as {name}", "write it, or remove the check")
            elif not ast.get_docstring(node):
                yield problem(node.lineno, f"{name} does not say what it looks at", "write a docstring, a sentence")
