"""The page of a seed: a row for each of its passages, from the data and the text that stand beside this file."""

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml

from causeway.docs.markdown import page_from, section, table
from causeway.folders import REPO

HERE = Path(__file__).parent
DOCS = REPO / "docs"
#: The seeds that have a page; of each there are NAME.md and NAME.yaml.
SEEDS = ("redpaper", "best-practices", "cita-xe", "planck", "swgpfs")
#: How much of a passage is here, with the head of its column; on paper: computed, and no lab shows it.
STATES = {"whole": "whole", "part": "part of it", "on paper": "on paper", "none": "none"}


@dataclass(frozen=True)
class Evidence:
    """A file of the repository, and a text that must be in it ("": the file alone)."""

    path: str
    text: str


@dataclass(frozen=True)
class Row:
    """A passage; its `number` is the row's, of the Redpaper that in its audit."""

    number: int
    passage: str
    here: str
    ours: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class Coverage:
    """A seed, by what it is (a paper), with the rows of each of its parts, in its order."""

    kind: str
    parts: dict[str, list[Row]]

    @property
    def rows(self) -> list[Row]:
        return [row for rows in self.parts.values() for row in rows]


def data_of(seed: str) -> Path:
    """The file of a seed's rows."""
    return HERE / f"{seed}.yaml"


def coverage(file: Path) -> Coverage:
    """What a file says of a seed."""
    data = yaml.safe_load(file.read_text())
    folders = data["folders"]
    parts = {
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
    return Coverage(data["kind"], parts)


def _evidence(folders: dict[str, str], words: str) -> Evidence:
    place, _, text = words.partition("#")
    folder, colon, path = place.partition(":")
    return Evidence(f"{folders[folder]}/{path}" if colon else place, text)


def coverage_page(seed: str) -> str:
    """A seed's page."""
    found = coverage(data_of(seed))
    total = Counter(row.here for row in found.rows)
    states = [state for state in STATES if total[state]]
    heads = "|".join(STATES[state] for state in states)
    sums = []
    for part, rows in found.parts.items():
        count = Counter(row.here for row in rows)
        sums.append([part, *(str(count[state]) for state in states)])
    sums.append(["all", *(str(total[state]) for state in states)])
    lines: list[str] = []
    for part, rows in found.parts.items():
        cells = [[str(r.number), r.passage, r.here, r.ours, ", ".join(map(_link, r.evidence))] for r in rows]
        lines += section(part, "row|passage|here|ours|evidence", cells)
    parts = {"sum": table(f"part of the {found.kind}|{heads}", sums, right=heads), "parts": lines[:-1]}
    return page_from(HERE / f"{seed}.md", parts, data_of(seed))


def _link(evidence: Evidence) -> str:
    """A scenario's own page, or the file."""
    path = Path(evidence.path)
    if path.parts[0] == "scenarios":
        return f"[{path.stem}](scenarios/{path.stem}.md)"
    return f"[{path.name}]({os.path.relpath(REPO / path, DOCS)})"
