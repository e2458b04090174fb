"""Writes a run's report into its folder."""

import json
import os
from pathlib import Path

from causeway.report import junit, page
from causeway.report.beside import other_clock
from causeway.report.result import Run, to_json


def write(run: Run, folder: Path) -> None:
    """Write report.json, the pages and junit.xml, and point the link `latest` beside the folder at it."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    report = json.dumps(to_json(run), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "report.json").write_text(report + "\n", encoding="utf-8")
    (folder / "scenarios").mkdir(exist_ok=True)
    for name, text in page.render(run, other_clock(run, folder.parent)).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "junit.xml").write_text(junit.render(run), encoding="utf-8")
    _link_latest(folder)


def _link_latest(folder: Path) -> None:
    """Replace the link in one move, so that a reader finds the old run or the new one, never none."""
    link = folder.with_name(f".latest.{os.getpid()}")
    link.unlink(missing_ok=True)
    link.symlink_to(folder.name)
    link.replace(folder.with_name("latest"))
