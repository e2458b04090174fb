"""The rows of the Redpaper name what is there, and only that; the checks here find a row that does not."""

import textwrap
from pathlib import Path

import pytest

from causeway.docs.redpaper import STATES, Evidence, Row, redpaper_page, rows
from causeway.folders import REPO

ROWS = [row for part in rows().values() for row in part]


def lacking(evidence: Evidence) -> str:
    """What is not there of a piece of evidence."""
    file = REPO / evidence.path
    if not file.is_file():
        return f"there is no {evidence.path}"
    return "" if evidence.text in file.read_text() else f"{evidence.path} has no {evidence.text!r}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.number))
def test_what_a_row_names_is_there(row: Row) -> None:
    assert [lack for lack in map(lacking, row.evidence) if lack] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.number))
def test_what_is_here_has_evidence_and_what_is_not_has_none(row: Row) -> None:
    assert row.here in STATES
    assert bool(row.evidence) == (row.here != "none")
    assert row.passage and row.ours


def test_every_row_of_the_audit_is_there_once_and_in_order() -> None:
    assert [row.number for row in ROWS] == list(range(1, 136))


def test_a_row_that_names_what_is_not_there_is_found(tmp_path: Path) -> None:
    file = tmp_path / "rows.yaml"
    file.write_text(
        textwrap.dedent("""\
        folders: {plays: scenarios}
        parts:
        - part: one
          rows:
          - {row: 1, passage: a, here: whole, ours: b, evidence: ["plays:no_such.py", "README.md#no such text in it"]}
        """)
    )
    ((row,),) = rows(file).values()
    assert [lacking(evidence) for evidence in row.evidence] == [
        "there is no scenarios/no_such.py",
        "README.md has no 'no such text in it'",
    ]


def test_the_page_has_every_row_and_counts_them() -> None:
    lines = redpaper_page().splitlines()
    assert sum(line.startswith(f"| {row.number} |") for row in ROWS for line in lines) == len(ROWS)
    counts = [sum(row.here == state for row in ROWS) for state in STATES]
    assert "| all | {} | {} | {} |".format(*counts) in lines


def test_a_scenario_is_linked_to_its_page_and_a_file_to_itself() -> None:
    page = redpaper_page()
    assert "[single_stream](scenarios/single_stream.md)" in page
    assert "[S40fs](../nodes/bluegene/server/bgl/BlueLight/ppcfloor/dist/etc/rc.d/rc3.d/S40fs)" in page
