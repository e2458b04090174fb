"""Writes a run's report into its folder."""

import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from causeway.errors import LabBroken
from causeway.report import junit, page
from causeway.report.beside import other_clock
from causeway.report.result import Run, to_json

#: The site's drawing, as report.html has it.
_DRAWING = "drawing.html"


def new_folder(runs: Path, started: datetime, clock: str, seed: int) -> Path:
    """A folder that no other run has: one of the same second and seed may have the same letters.

    These are of the second's parts. Drawn in a lab they would be the same in each of its clones with one seed, and to
    find a name taken is a call more, after which clones of one instant are not equal any more.
    """
    runs.mkdir(parents=True, exist_ok=True)
    begin = f"{started:%Y%m%d-%H%M%S}-{clock}-{seed}-{started.microsecond % 2**16:04x}"
    for name in (begin, *(f"{begin}-{number}" for number in range(2, 100))):
        with suppress(FileExistsError):
            (runs / name).mkdir()
            return runs / name
    raise LabBroken(f"{runs} has 99 runs of this second; wait a second")


def drawing_of(folder: Path) -> str:
    """The drawing that a run's folder has; nothing where it has none."""
    file = folder / _DRAWING
    return file.read_text(encoding="utf-8") if file.exists() else ""


def write(run: Run, folder: Path, drawing: str = "", load: str = "") -> None:
    """Write report.json, the pages and junit.xml.

    `drawing` is the site's, `load` what its links carried, as elements of HTML.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    report = json.dumps(to_json(run), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "report.json").write_text(report + "\n", encoding="utf-8")
    if drawing:
        (folder / _DRAWING).write_text(drawing, encoding="utf-8")
    (folder / "scenarios").mkdir(exist_ok=True)
    for name, text in page.render(run, other_clock(run, folder.parent), load + drawing).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "junit.xml").write_text(junit.render(run), encoding="utf-8")


def link_latest(runs: Path) -> None:
    """Point the link `latest` in the folder of all runs at the one whose report was written last, if there is one.

    It is replaced in one move, so that a reader finds the old run or the new one, never none.
    """
    reports = sorted(runs.glob("[0-9]*/report.json"), key=lambda file: file.stat().st_mtime)
    if reports:
        link = runs / f".latest-{uuid4().hex}"
        link.symlink_to(reports[-1].parent.name)
        link.replace(runs / "latest")
