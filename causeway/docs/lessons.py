"""A lesson's page, from its text and the sentences of its checks; and the table of all."""

from collections.abc import Iterator

from causeway.docs.markdown import made_from
from causeway.lessons import lesson as lessons
from causeway.lessons.lesson import CastLesson, Lesson
from causeway.model.site import Site


def lesson_page(name: str) -> str:
    """A lesson as the first shipped site takes it; hints and the solution are folded away."""
    lesson = lessons.load(lessons.FOLDER / name)
    able = _able(lesson)
    cast = lesson.for_site(able[0])
    lines = [f"# Lesson {name}: {cast.title}", "", made_from(lessons.FOLDER / name), ""]
    lines += [
        f"With the names of `{able[0].name}`. Labs that can take it: {', '.join(site.name for site in able)}.",
        "",
    ]
    if lesson.levels > 1:
        lines += [
            f"It has {lesson.levels} levels (`--level`), and draws what it takes by `--seed`; here level 1, seed 1.",
            "",
        ]
    lines += ["```sh", f"bin/causeway up {able[0].name}", f"bin/causeway lab start {name}", "```", "", cast.story, ""]
    lines += _tasks(cast)
    lines += [*_folded("Afterwards (for those who are done)", cast.afterwards), ""]
    return "\n".join(lines)


def _tasks(cast: CastLesson) -> Iterator[str]:
    for task, check in zip(cast.tasks, cast.lesson.checks, strict=True):
        yield from (f"## {task.number}. {task.title}", "", task.text, "")
        yield from (f"**Looked at.** {' '.join((check.__doc__ or '').split())}", "")
        yield from _folded("Hints", "\n".join(f"{n}. {hint}" for n, hint in enumerate(task.hints, 1)))
        yield from _folded("The model solution", task.solution)


def _folded(title: str, text: str) -> list[str]:
    return ["<details>", f"<summary>{title}</summary>", "", text, "", "</details>", ""]


def lesson_rows() -> Iterator[list[str]]:
    """A lesson with its title, and the labs that can take it."""
    for lesson in lessons.load_all():
        title = lesson.text.title.text
        able = [f"[{site.name}](labs/{site.name}.md)" for site in _able(lesson)]
        yield [f"[{lesson.name}](lessons/{lesson.name}.md)", title, ", ".join(able)]


def _able(lesson: Lesson) -> list[Site]:
    return [site for site in lessons.smallest_first() if not lessons.where(lesson, site)]
