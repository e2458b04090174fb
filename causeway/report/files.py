"""Writes a run's report into its folder."""

import json
from pathlib import Path
from uuid import uuid4

from causeway.report import junit, page
from causeway.report.beside import other_clock
from causeway.report.result import Run, to_json


def write(run: Run, folder: Path, drawing: str = "") -> None:
    """Write report.json, the pages and junit.xml. `drawing` is the site's, as an element of HTML."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    report = json.dumps(to_json(run), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "report.json").write_text(report + "\n", encoding="utf-8")
    (folder / "scenarios").mkdir(exist_ok=True)
    for name, text in page.render(run, other_clock(run, folder.parent), drawing).items():
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
