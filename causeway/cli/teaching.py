"""The commands for lessons that run in the lab host: they read the lesson's program, which may be a stranger's."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

from causeway.cli.inside import the_lab
from causeway.cli.screen import out, print_json, show, tell
from causeway.errors import EXIT_CHECK_FAILED, EXIT_PASSED, BadInput
from causeway.lab import dirt
from causeway.lab.lab import Lab
from causeway.lessons import lesson as lessons
from causeway.lessons import notes
from causeway.lessons.check import TaskFound
from causeway.lessons.check import check as look
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import CastLesson, Task
from causeway.lessons.notes import Notes
from causeway.lessons.solve import solve as play

_SHARE = Path("/share")


def start(name: str | None) -> None:
    """Make a lesson's beginning, and show it. BadInput for a lesson that is not sound, Unsupported without a cast."""
    lab, on = the_lab(name), _notes()
    lesson = lessons.load(lessons.folder_of(on.lesson))
    dirt.refuse(lab)
    cast = lesson.for_site(lab.site, on.seed, on.level)
    if wrong := lessons.unknown_names(cast):
        raise BadInput(wrong)
    on.title, on.tasks = cast.title, len(cast.tasks)
    desk = Desk(lab, f"{lesson.name} begin", on.seed)
    with lab.playing():
        try:
            lesson.begin(desk, cast.cast)
        except BaseException:
            desk.undo()
            raise
    on.write(_SHARE)
    _show_task(cast, on)


def task(name: str | None, *, as_json: bool) -> int:
    """Show the story and the tasks."""
    on = _notes()
    cast = _cast(the_lab(name), on)
    if as_json:
        print_json(_as_data(cast, on))
    else:
        _show_task(cast, on)
    return EXIT_PASSED


def hint(name: str | None) -> int:
    """Show the next hint of the first task that is not done."""
    on = _notes()
    cast = _cast(the_lab(name), on)
    if on.task > len(cast.tasks):
        tell("every task is done")
        return EXIT_PASSED
    current = cast.tasks[on.task - 1]
    taken = on.hints.get(str(current.number), 0)
    if taken == len(current.hints):
        tell(f"task {current.number} has no more hints; `causeway lab solve` plays the model solution")
        return EXIT_PASSED
    on.hints[str(current.number)] = taken + 1
    on.write(_SHARE)
    _prose(f"task {current.number}, hint {taken + 1} of {len(current.hints)}: {current.hints[taken]}")
    return EXIT_PASSED


def check(name: str | None, *, as_json: bool) -> int:
    """Look at the lab, and say of each task what is right and what is not yet; returns the exit code."""
    lab, on = the_lab(name), _notes()
    cast = _cast(lab, on)
    with lab.playing():
        found = look(lab, cast)
    before = on.passed
    on.passed, on.checks = [task.number for task in found if task.done], on.checks + 1
    on.write(_SHARE)
    if as_json:
        print_json(_as_data(cast, on) | {"tasks": [task.as_data() for task in found]})
    else:
        _show_found(found)
    done = all(task.done for task in found)
    if done and not as_json:
        out.print("\nAll tasks are done.\n")
        _prose(cast.afterwards)
    elif not as_json and set(on.passed) - set(before):
        tell("`causeway lab task` shows what is next")
    return EXIT_PASSED if done else EXIT_CHECK_FAILED


def solve(name: str | None) -> int:
    """Play the model solution."""
    lab, on = the_lab(name), _notes()
    cast = _cast(lab, on)
    on.solved, on.passed = True, []
    on.write(_SHARE)
    with lab.playing():
        play(lab, cast, out.print)
    tell("`causeway lab check` looks at what has become of it")
    return EXIT_PASSED


def _notes() -> Notes:
    on = notes.read(_SHARE)
    if on is None:
        raise BadInput("no lesson is on; `causeway lab start LESSON` begins one")
    return on


def _cast(lab: Lab, on: Notes) -> CastLesson:
    return lessons.load(lessons.folder_of(on.lesson)).for_site(lab.site, on.seed, on.level)


def _show_task(cast: CastLesson, on: Notes) -> None:
    out.print(cast.title, style="bold")
    out.print()
    _prose(cast.story)
    for one in cast.tasks:
        mark = " (done)" if one.number in on.passed else ""
        out.print()
        out.print(f"{one.number}. {one.title}{mark}", style="bold")
        _prose(one.text)
    out.print()
    tell("`causeway shell NODE` is where to work; `causeway lab check` looks, `causeway lab hint` helps")


def _show_found(found: list[TaskFound]) -> None:
    for task in found:
        out.print(f"{task.number}. {task.title}: {'done' if task.done else 'not yet'}", style="bold")
        for one in task.found:
            seen = f" (seen: {one.seen})" if one.seen else ""
            show(f"{'right:  ' if one.right else 'not yet:'} {one.what}{seen}", indent=4)


def _as_data(cast: CastLesson, on: Notes) -> dict[str, object]:
    return {
        "lesson": cast.lesson.name,
        "title": cast.title,
        "seed": on.seed,
        "level": on.level,
        "hints": on.hints,
        "passed": on.passed,
        "checks": on.checks,
        "resets": on.resets,
        "solved": on.solved,
        "story": cast.story,
        "tasks": [_task_data(one, on) for one in cast.tasks],
    }


def _task_data(one: Task, on: Notes) -> dict[str, object]:
    return {"number": one.number, "title": one.title, "text": one.text, "done": one.number in on.passed}


def _prose(text: str) -> None:
    """Text in lines of the screen's width; lists stay lists, and what is indented or a table stays as it is."""
    for block in _blocks(text):
        if block.startswith(("    ", "|", "```")):
            out.print("\n".join(line for line in block.splitlines() if not line.startswith("```")))
        elif block.startswith("- "):
            joined = textwrap.dedent(block).replace("\n  ", " ")
            for item in joined.splitlines():
                out.print(textwrap.fill(item, out.width, subsequent_indent="  "))
        else:
            show(" ".join(block.split()))
        out.print()


def _blocks(text: str) -> Iterator[str]:
    """The paragraphs; a fenced block is one."""
    for number, piece in enumerate(text.split("```")):
        if number % 2:
            yield f"```{piece}"
        else:
            yield from (block.strip("\n") for block in piece.split("\n\n") if block.strip())
