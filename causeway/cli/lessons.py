"""Commands for lessons: what there is, begin one, its tasks, hints, whether they are done, the model solution."""

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from causeway.cli import complete, lasting, seats, tables, teaching
from causeway.cli.command import AsJson, LabName, Seat, lab_of
from causeway.cli.screen import out, print_json, tell
from causeway.errors import BadInput
from causeway.folders import site_file, sites
from causeway.hosts import host, memory
from causeway.hosts.checkpoints import BACK, LIST, MAKE
from causeway.hosts.uml import UmlHost
from causeway.lessons import lesson as lessons
from causeway.lessons import notes
from causeway.lessons.notes import BEGINNING, Notes
from causeway.lessons.text import fill
from causeway.model.load import load_site

app = typer.Typer(
    help="Lessons: what there is, begin one in the lab that is up, its tasks, hints, checks.", no_args_is_help=True
)
Begun = Annotated[
    str | None, typer.Argument(metavar="[LESSON]", help="the one that is on", autocompletion=complete.lessons)
]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the lessons, and which shipped labs can take each."""
    wanted = [load_site(site_file(name)) for name in sites()]
    rows = []
    for one in lessons.load_all():
        able = [(site.name, lessons.where(one, site)) for site in wanted]
        rows.append(
            {
                "lesson": one.name,
                "title": fill(one.text.title, {}),
                "tasks": len(one.text.tasks),
                "levels": one.levels,
                "sites": [{"site": site, "takes": not why, "why": why} for site, why in able],
            }
        )
    if as_json:
        print_json(rows)
    else:
        out.print(tables.lessons(rows))


@app.command()
def start(
    lesson: Annotated[
        str, typer.Argument(metavar="LESSON", help="its name, or its folder", autocompletion=complete.lessons)
    ],
    seed: Annotated[int, typer.Option(help="fixes what is drawn")] = 1,
    level: Annotated[int, typer.Option(help="how hard it is, of a lesson that has levels")] = 1,
    lab: LabName = None,
    number: Annotated[
        int | None,
        typer.Option("--seats", min=1, help="begin it in so many labs, one a seat, made of --lab's template"),
    ] = None,
) -> None:
    """Begin a lesson in the lab that is up: its beginning is made, and kept as a checkpoint; says the first task.

    With --seats each seat gets a lab of its own, SITE-seat-1 and so on; --lab is then the site (default: the smallest
    that can take the lesson). How many memory allows is said before any is made.
    """
    if host.inside():
        teaching.start(lab)
        return
    folder = lessons.folder_of(lesson)
    lessons.check_form(folder)
    if number is not None:
        site = lab or lessons.smallest(lesson, folder)
        if "/" not in lesson:  # a stranger's is asked in the lab alone
            lessons.load(folder).for_site(load_site(site_file(site)), seed, level)
        raise typer.Exit(
            seats.begin(site, number, lambda one, begin: _start_in(one, lesson, folder, seed, level, begin))
        )
    found = host.with_checkpoints(lab)
    if on := notes.read(found.folder):
        raise BadInput(
            f"lesson {on.name} is on in {found.name}; `causeway down {found.name}` and `causeway up "
            f"{found.about['lab']}` make a new lab, in seconds"
        )
    if any(row["name"] == BEGINNING for row in found.ask(LIST)):
        raise BadInput(f"there is a checkpoint {BEGINNING}; `causeway checkpoints --drop {BEGINNING}` removes it")
    memory.for_a_clone(memory.taken_mib(found.process))
    raise typer.Exit(_start_in(found, lesson, folder, seed, level))


def _start_in(
    found: UmlHost, lesson: str, folder: Path, seed: int, level: int, begin: Callable[[], object] = lambda: None
) -> int:
    """Have a lesson's beginning made in a lab, and keep it; returns the exit code. `begin` as `UmlHost.do` has it."""
    there = lesson
    if "/" in lesson:
        there = f"/share/lessons/{folder.resolve().name}"
        shutil.copytree(folder, found.share / "lessons" / folder.resolve().name, dirs_exist_ok=True)
    on = Notes(there, seed, level)
    with _told(found, on, "start", f"the beginning of {on.name} is made"):
        rc = _do(found, on, ["start", lesson], begin)
    if rc == 0:
        try:
            host.ask_for_a_clone(found, MAKE, BEGINNING)
        except BadInput as why:
            raise BadInput(
                f"{on.name} has begun, and `reset` and `solve` have nothing to go back to: {why}; once there is memory,"
                f" and before anything is changed, `causeway checkpoint {BEGINNING} --lab {found.name}` keeps it"
            ) from None
    return rc


@app.command()
def task(lesson: Begun = None, lab: LabName = None, seat: Seat = None, as_json: AsJson = False) -> None:
    """Show the story of the lesson that is on, and its tasks."""
    _pass_on(lesson, lab, seat, ["task", *_json(as_json)], lambda: teaching.task(lab, as_json=as_json))


@app.command()
def hint(lesson: Begun = None, lab: LabName = None, seat: Seat = None) -> None:
    """Give the next hint for the first task that is not done, and count it."""
    _pass_on(lesson, lab, seat, ["hint"], lambda: teaching.hint(lab))


@app.command()
def check(lesson: Begun = None, lab: LabName = None, seat: Seat = None, as_json: AsJson = False) -> None:
    """Look at the lab: what is right and what is not yet, task by task. It never looks at what was typed.

    Exit codes: 0 all tasks are done, 1 not yet, 3 lab broken.
    """
    _pass_on(lesson, lab, seat, ["check", *_json(as_json)], lambda: teaching.check(lab, as_json=as_json))


@app.command()
def solve(lesson: Begun = None, lab: LabName = None, seat: Seat = None) -> None:
    """Go back to the lesson's beginning, and play the model solution, command by command. Your own work is lost."""

    def back(found: UmlHost) -> None:
        host.ask_for_a_clone(found, BACK, BEGINNING)

    _pass_on(lesson, lab, seat, ["solve"], lambda: teaching.solve(lab), back)


@app.command()
def reset(lesson: Begun = None, lab: LabName = None, seat: Seat = None) -> None:
    """Go back to the lesson's beginning; what was done since is lost, and shells end. Hints taken stay counted."""
    found, on = _on(lesson, lab_of(lab, seat))
    gone = host.ask_for_a_clone(found, BACK, BEGINNING)
    on.passed, on.resets, on.solved = [], on.resets + 1, False
    on.write(found.folder)
    tell(f"back at the beginning of {on.name}, in {gone['took_s']:.1f} s")


@app.command()
def board(
    html: Annotated[
        Path | None, typer.Option(help="keep it in this file, too, which a browser shows anew by itself")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show who is where: of each lab with a lesson the task, hints taken, checks, resets. Live on a terminal (Ctrl-C).

    Nothing in the labs is asked for it: it is what their commands have noted.
    """
    seats.board(html, as_json=as_json)


def _pass_on(
    lesson: str | None,
    lab: str | None,
    seat: int | None,
    words: list[str],
    inside: Callable[[], int],
    before: Callable[[UmlHost], object] = lambda _: None,
) -> None:
    """Outside: have it done in the lab whose lesson is on. Inside: do it."""
    if host.inside():
        raise typer.Exit(inside())
    found, on = _on(lesson, lab_of(lab, seat))
    before(found)
    what = {"check": "looking at the lab", "solve": "the model solution is played"}.get(words[0])
    with _told(found, on, words[0], what) if what else nullcontext():
        rc = _do(found, on, words)
    raise typer.Exit(rc)


def _told(found: UmlHost, on: Notes, step: str, what: str) -> AbstractContextManager[None]:
    return lasting.told(what, f"lessons-{found.site().name}", f"{on.name} {on.seed} {on.level} {step}")


def _do(found: UmlHost, on: Notes, words: list[str], begin: Callable[[], object] = lambda: None) -> int:
    """Have a command done there, with the notes; they stay with the lab's folder, whatever the lab goes back to."""
    on.write(found.share)
    rc = found.do(["lab", *words], begin)
    if (changed := notes.read(found.share)) and (words[0] != "start" or rc == 0):
        changed.write(found.folder)
    return rc


def _on(lesson: str | None, lab: str | None) -> tuple[UmlHost, Notes]:
    """The lab, and the notes of the lesson that is on there. BadInput where none is, or another."""
    found = host.with_checkpoints(lab)
    on = notes.read(found.folder)
    if on is None:
        raise BadInput(f"no lesson is on in {found.name}; `causeway lab start LESSON` begins one")
    if lesson not in (None, on.name, on.lesson) and Path(str(lesson)).resolve().name != on.name:
        raise BadInput(f"the lesson that is on in {found.name} is {on.name}, not {lesson}")
    return found, on


def _json(as_json: bool) -> list[str]:
    return ["--json"] if as_json else []
