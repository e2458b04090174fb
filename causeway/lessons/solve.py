"""The model solution, played as an administrator would type it."""

from collections.abc import Callable

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.lessons.lesson import CastLesson
from causeway.lessons.text import Carried, Command

#: A command of a solution may wait for what it has set in motion: LACP, a boot, an election.
_TIMEOUT_S = 600


def solve(lab: Lab, cast: CastLesson, say: Callable[[str], None]) -> None:
    """Play it from the lesson's beginning on, each command shown with what it prints. LabBroken where one fails."""
    for task in cast.tasks:
        say(f"{task.number}. {task.title}")
        for step in cast.steps(task):
            if isinstance(step, Carried):
                say(f"{step.source}:{step.path} -> {step.target}:{step.there}")
                _carry(lab, step)
            else:
                _type(lab, step, say)


def _type(lab: Lab, step: Command, say: Callable[[str], None]) -> None:
    lab.check_known([step.node])
    first, *more = step.text.splitlines()
    for line in (f"{step.node}# {first}", *(f"> {line}" for line in more)):
        say(line)
    done = lab.on(step.node, "sh", "-c", step.text, timeout_s=_TIMEOUT_S)
    for line in (done.stdout + done.stderr).splitlines():
        say(line)
    if done.rc:
        raise LabBroken(f"the model solution: `{step.text}` on {step.node} ended with {done.rc}")


def _carry(lab: Lab, step: Carried) -> None:
    lab.check_known([step.source, step.target])
    data = lab.file(step.source, step.path).read_bytes()
    lab.file(step.target, step.there).write_bytes(data)
