"""A lesson's text, lesson.md: a story, tasks with hints in steps and a model solution, and what to take home.

What stands in {{ }} is filled in of the cast, by Jinja. Its form:

    # The title, a sentence
    The story.
    ## 1. A task's title
    What is to be the case afterwards.
    ### Hints
    - the first one
    - the next one
    ### Solution
    Prose, and ```console blocks of lines `NODE# command` (`> ...` goes on with it), or `NODE:FILE -> NODE:FILE` for
    what is carried by hand.
    ## Afterwards
    The debriefing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta

from causeway.errors import BadInput, Problem

NAME = "lesson.md"
AFTERWARDS, HINTS, SOLUTION = "Afterwards", "Hints", "Solution"
_TASK = re.compile(r"(\d+)\. (.+)")
_COMMAND = re.compile(r"(?P<node>\S+)# (?P<command>.+)")
_CARRIED = re.compile(r"(?P<from>\S+):(?P<path>/\S+) -> (?P<to>\S+):(?P<there>/\S+)")
#: What may stand in a console block before it is filled in: nothing, a turn of Jinja's, a prompt, what goes on.
_IN_CONSOLE = re.compile(r"\s*|\{%.*%\}|\{\{[^}]*\}\}|.*\S# .+|>( .*)?|.*:.* -> .*:.*")
_FENCE = "```"


@dataclass(frozen=True)
class Command:
    """What root types on a node."""

    node: str
    text: str


@dataclass(frozen=True)
class Carried:
    """A file that somebody carries from one node to another: by mail, on paper, on a stick."""

    source: str
    path: str
    target: str
    there: str


@dataclass
class Part:
    """A piece of the text, not filled in, and the line at which it begins."""

    line: int
    text: str = ""


@dataclass
class TaskText:
    """One task: its title, what is to be the case, hints, and the solution."""

    title: Part
    text: Part
    hints: list[Part] = field(default_factory=list)
    solution: Part | None = None


@dataclass
class Text:
    """A lesson.md as it stands there."""

    file: Path
    title: Part
    story: Part
    tasks: list[TaskText] = field(default_factory=list)
    afterwards: Part | None = None

    def parts(self) -> Iterator[Part]:
        """All of it that is filled in."""
        yield from (self.title, self.story)
        for task in self.tasks:
            yield from (task.title, task.text, *task.hints)
            if task.solution:
                yield task.solution
        if self.afterwards:
            yield self.afterwards


def fill(part: Part, words: Mapping[str, Any]) -> str:
    """A piece of the text with the site's own names. LookupError where it asks for what there is not."""
    try:
        return _environment().from_string(part.text).render(words).strip("\n")
    except jinja2.UndefinedError as error:
        raise LookupError(str(error)) from None


def steps(solution: str) -> list[Command | Carried]:
    """What is to be done, of a solution that is filled in. ValueError for a line that is nothing of the kind."""
    found: list[Command | Carried] = []
    for line in _consoles(solution):
        if line.startswith(">") and found and isinstance(found[-1], Command):
            found[-1] = Command(found[-1].node, f"{found[-1].text}\n{line[2:]}")
        elif said := _CARRIED.fullmatch(line):
            found.append(Carried(said["from"], said["path"], said["to"], said["there"]))
        elif said := _COMMAND.fullmatch(line):
            found.append(Command(said["node"], said["command"]))
        elif line.strip():
            raise ValueError(line)
    return found


def _consoles(text: str) -> Iterator[str]:
    """The lines of all console blocks."""
    inside = False
    for line in text.splitlines():
        if line.startswith(_FENCE):
            inside = not inside and line == f"{_FENCE}console"
        elif inside:
            yield line


def read(file: Path) -> tuple[Text, list[Problem]]:
    """A text, and every mistake of its form. BadInput where there is none."""
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            [Problem(str(file), 1, "-", f"it cannot be read ({error})", "write the lesson's text")]
        ) from None
    text, problems = _Reader(file).read(lines)
    return text, [*problems, *_not_jinja(text)]


def unknown(text: Text, known: set[str]) -> Iterator[Problem]:
    """The names that a text has in braces, and that its cast does not give."""
    for part in text.parts():
        for name in sorted(meta.find_undeclared_variables(_environment().parse(part.text)) - known):
            offset = next((i for i, line in enumerate(part.text.splitlines()) if name in line), 0)
            yield Problem(str(text.file), part.line + offset, name, "the cast gives no such name", f"use {_any(known)}")


def _any(known: set[str]) -> str:
    return ", ".join(sorted(known)) or "none: the cast has no names"


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )


def _not_jinja(text: Text) -> Iterator[Problem]:
    for part in text.parts():
        try:
            _environment().parse(part.text)
        except jinja2.TemplateSyntaxError as error:
            line = part.line + error.lineno - 1
            part.text = ""  # nothing more can be said of it
            yield Problem(str(text.file), line, "-", str(error.message), "mend what stands in braces")


class _Reader:
    """Line by line: a heading says where the lines below it belong."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._text = Text(file, Part(1), Part(2))
        self._problems: list[Problem] = []
        self._here: Part = self._text.story
        self._kind = ""

    def read(self, lines: list[str]) -> tuple[Text, list[Problem]]:
        fenced = ""
        for number, line in enumerate(lines, 1):
            if line.startswith(_FENCE):
                fenced = "" if fenced else line
            if line.startswith("#") and not fenced:
                self._heading(number, line)
            elif self._kind == HINTS:
                self._hint(number, line)
            else:
                if fenced == f"{_FENCE}console" and line != fenced and not _IN_CONSOLE.fullmatch(line):
                    what = f"{line!r} is nothing that one types on a node"
                    self._wrong(number, what, "write NODE# command, or `> ` before what goes on with it")
                self._here.text += f"{line}\n"
        self._incomplete(len(lines))
        return self._text, self._problems

    def _heading(self, number: int, line: str) -> None:
        marks, _, words = line.partition(" ")
        tasks = self._text.tasks
        self._kind = ""
        if marks == "#" and not self._text.title.text:
            self._text.title = Part(number, words)
            self._here = self._text.story = Part(number + 1)
        elif marks == "##" and (said := _TASK.fullmatch(words)):
            if int(said[1]) != len(tasks) + 1:
                self._wrong(number, f"this is task {len(tasks) + 1}", f"write ## {len(tasks) + 1}. {said[2]}")
            tasks.append(TaskText(Part(number, said[2]), Part(number + 1)))
            self._here = tasks[-1].text
        elif marks == "##" and words == AFTERWARDS and self._text.afterwards is None:
            self._here = self._text.afterwards = Part(number + 1)
        elif marks == "###" and words == HINTS and tasks and not tasks[-1].hints:
            self._kind = HINTS
        elif marks == "###" and words == SOLUTION and tasks and tasks[-1].solution is None:
            self._here = tasks[-1].solution = Part(number + 1)
        else:
            remedy = f"use ## N. A TASK, ### {HINTS}, ### {SOLUTION}, or ## {AFTERWARDS} at the end"
            self._wrong(number, f"{line!r} is no heading of a lesson here", remedy)
            self._here = Part(number + 1)

    def _hint(self, number: int, line: str) -> None:
        hints = self._text.tasks[-1].hints
        if line.startswith("- "):
            hints.append(Part(number, line[2:]))
        elif hints and line.startswith("  "):
            hints[-1].text += f"\n{line[2:]}"
        elif line.strip():
            self._wrong(number, "a hint is an item of a list", "begin with `- `, and go on with two blanks")

    def _incomplete(self, last: int) -> None:
        text = self._text
        if not text.title.text:
            self._wrong(1, "there is no title", "begin with `# `, and a sentence")
        if "{" in text.title.text:
            self._wrong(text.title.line, "the title names a site's things", "leave out what stands in braces")
        if not text.story.text.strip():
            self._wrong(text.story.line, "there is no story", "say what has happened, below the title")
        if not text.tasks:
            self._wrong(last, "there is no task", "write ## 1. and its title")
        for task in text.tasks:
            if not task.text.text.strip():
                self._wrong(task.title.line, "the task says nothing", "say what is to be the case")
            if not task.hints:
                self._wrong(task.title.line, "the task has no hint", f"write ### {HINTS} and a list below it")
            if task.solution is None or not any(line.strip() for line in _consoles(task.solution.text)):
                remedy = f"write ### {SOLUTION} and a console block with a command"
                self._wrong(task.title.line, "the task has no solution", remedy)
        if text.afterwards is None or not text.afterwards.text.strip():
            self._wrong(last, "there is no debriefing", f"write ## {AFTERWARDS} and what to take home")

    def _wrong(self, line: int, what: str, remedy: str) -> None:
        self._problems.append(Problem(str(self._file), line, "-", what, remedy))
