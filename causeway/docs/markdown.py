"""How the pages are written: tables, sections, texts with parts to fill in."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from causeway.folders import REPO


def made_from(*files: Path) -> str:
    """The line that says what a page is made of."""
    names = ", ".join(str(file.relative_to(REPO)) for file in files)
    return f"<!-- Made by `make docs` from {names}; change that, not this page. -->"


def section(title: str, columns: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """A heading and a table; nothing at all where there are no rows."""
    lines = table(columns, rows)
    return [f"## {title}", "", *lines] if len(lines) > 3 else []


def table(columns: str, rows: Iterable[Sequence[str]], right: str = "") -> list[str]:
    """A table and an empty line. `columns` and `right` (those that hold numbers) are names with | between."""

    def line(cells: Sequence[str]) -> str:
        escaped = (cell.replace("|", "\\|") for cell in cells)
        return f"| {' | '.join(escaped)} |"

    heads, numbers = columns.split("|"), right.split("|") if right else []
    rules = ["---:" if head in numbers else "---" for head in heads]
    return [line(heads), line(rules), *map(line, rows), ""]


def fill(text: str, parts: Mapping[str, Iterable[str]]) -> str:
    """A text in which each line `<!-- NAME -->` is replaced by the lines of that part. KeyError for an unknown one."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("<!-- ") and line.endswith(" -->"):
            lines += parts[line.removeprefix("<!-- ").removesuffix(" -->")]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def page_from(file: Path, parts: Mapping[str, Iterable[str]], *sources: Path) -> str:
    """A page from the text that stands in a file, its parts filled in; what both are made from is said on top."""
    title, rest = fill(file.read_text(), parts).split("\n", 1)
    return f"{title}\n\n{made_from(file, *sources)}\n{rest}"
