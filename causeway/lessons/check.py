"""Whether a lesson's tasks are done: the lab is looked at, and never what was typed."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from causeway.errors import CheckFailed, LabBroken, Unsupported
from causeway.lab.lab import Lab
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import CastLesson
from causeway.report.result import Comparison


@dataclass(frozen=True)
class Found:
    """One thing that was looked at: whether it is right, and what was seen where it is not."""

    what: str
    right: bool
    seen: str


@dataclass(frozen=True)
class TaskFound:
    """What was found of a task."""

    number: int
    title: str
    found: tuple[Found, ...]

    @property
    def done(self) -> bool:
        return all(one.right for one in self.found)

    def as_data(self) -> dict[str, Any]:
        return {"number": self.number, "title": self.title, "done": self.done, "found": [asdict(f) for f in self.found]}


def check(lab: Lab, cast: CastLesson) -> list[TaskFound]:
    """Look at all tasks. LabBroken where it is the lab itself that does not run."""
    checks = zip(cast.tasks, cast.lesson.checks, strict=True)
    return [TaskFound(task.number, task.title, _looked(lab, cast, task.number, look)) for task, look in checks]


def _looked(lab: Lab, cast: CastLesson, number: int, look: Callable[[Desk, Any], object]) -> tuple[Found, ...]:
    desk = Desk(lab, f"{cast.lesson.name} {number}", cast.seed)
    why = ""
    try:
        look(desk, cast.cast)
    except (LabBroken, CheckFailed, Unsupported) as error:
        # a node that does not answer as it should may be what the lesson is about; one that is gone is not
        if "down" in {lab.state(node) for node in lab.site.nodes}:
            raise
        why = str(error)
    finally:
        desk.undo()
    found = [_found(comparison) for comparison in desk.comparisons]
    if why:
        found.append(Found("the rest can be looked at", False, why))
    if not found:
        raise LabBroken(f"lesson {cast.lesson.name}: the check of task {number} looks at nothing")
    return tuple(found)


def _found(one: Comparison) -> Found:
    seen = one.why.removeprefix("seen: ") if one.why.startswith("seen: ") else f"{one.measured} {one.unit}".strip()
    return Found(one.what, one.ok, "" if one.ok else seen)
