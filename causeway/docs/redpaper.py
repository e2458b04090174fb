"""The page of the Redpaper: a row for each of its passages, from the data that stand beside this file."""

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml

from causeway.docs.markdown import page_from, section, table
from causeway.folders import REPO

DATA = Path(__file__).with_name("redpaper.yaml")
TEXT = Path(__file__).with_name("redpaper.md")
DOCS = REPO / "docs"
#: How much of a passage is here.
STATES = ("whole", "part", "none")


@dataclass(frozen=True)
class Evidence:
    """A file of the repository, and a text that must be in it ("": the file alone)."""

    path: str
    text: str


@dataclass(frozen=True)
class Row:
    """A passage; `number` is its row's in the audit of the Redpaper."""

    number: int
    passage: str
    here: str
    ours: str
    evidence: tuple[Evidence, ...]


def rows(file: Path = DATA) -> dict[str, list[Row]]:
    """The rows of each part of the paper, in its order."""
    data = yaml.safe_load(file.read_text())
    folders = data["folders"]
    return {
        part["part"]: [
            Row(
                row["row"],
                row["passage"],
                row["here"],
                row["ours"],
                tuple(_evidence(folders, words) for words in row.get("evidence", ())),
            )
            for row in part["rows"]
        ]
        for part in data["parts"]
    }


def _evidence(folders: dict[str, str], words: str) -> Evidence:
    place, _, text = words.partition("#")
    folder, colon, path = place.partition(":")
    return Evidence(f"{folders[folder]}/{path}" if colon else place, text)


def redpaper_page() -> str:
    """The page."""
    found = rows()
    counts = {part: Counter(row.here for row in its) for part, its in found.items()}
    sums = [[part, *(str(count[state]) for state in STATES)] for part, count in counts.items()]
    total = Counter(row.here for its in found.values() for row in its)
    sums.append(["all", *(str(total[state]) for state in STATES)])
    lines: list[str] = []
    for part, its in found.items():
        cells = [[str(r.number), r.passage, r.here, r.ours, ", ".join(map(_link, r.evidence))] for r in its]
        lines += section(part, "row|passage|here|ours|evidence", cells)
    parts = {
        "sum": table("part of the paper|whole|part of it|none", sums, right="whole|part of it|none"),
        "parts": lines[:-1],
    }
    return page_from(TEXT, parts, DATA)


def _link(evidence: Evidence) -> str:
    """A scenario's own page, or the file."""
    path = Path(evidence.path)
    if path.parts[0] == "scenarios":
        return f"[{path.stem}](scenarios/{path.stem}.md)"
    return f"[{path.name}]({os.path.relpath(REPO / path, DOCS)})"
