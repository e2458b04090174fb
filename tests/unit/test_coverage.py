"""The rows of a seed's page name what is there, and only that; the checks here find a row that does not."""

import textwrap
from pathlib import Path

import pytest

from causeway.docs.coverage import HERE, SEEDS, STATES, Evidence, Row, coverage, coverage_page, data_of
from causeway.folders import REPO
from causeway.plan.published import published

ROWS = {seed: coverage(data_of(seed)).rows for seed in SEEDS}
EACH = [pytest.param(row, id=f"{seed} {row.number}") for seed, rows in ROWS.items() for row in rows]


def lacking(evidence: Evidence) -> str:
    """What is not there of a piece of evidence."""
    file = REPO / evidence.path
    if not file.is_file():
        return f"there is no {evidence.path}"
    return "" if evidence.text in file.read_text() else f"{evidence.path} has no {evidence.text!r}"


@pytest.mark.parametrize("row", EACH)
def test_what_a_row_names_is_there(row: Row) -> None:
    assert [lack for lack in map(lacking, row.evidence) if lack] == []


@pytest.mark.parametrize("row", EACH)
def test_what_is_here_has_evidence_and_what_is_not_has_none(row: Row) -> None:
    assert row.here in STATES
    assert bool(row.evidence) == (row.here != "none")
    assert row.passage and row.ours


@pytest.mark.parametrize("row", EACH)
def test_what_is_on_paper_names_nothing_that_a_lab_plays(row: Row) -> None:
    if row.here == "on paper":
        assert not [one for one in row.evidence if one.path.startswith(("scenarios/", "topologies/"))]


def test_every_row_of_the_redpapers_audit_is_there_once_and_in_order() -> None:
    assert [row.number for row in ROWS["redpaper"]] == list(range(1, 136))


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_numbered(seed: str) -> None:
    assert [row.number for row in ROWS[seed]] == list(range(1, len(ROWS[seed]) + 1))


def test_every_seed_that_has_rows_has_a_page() -> None:
    assert {file.stem for file in HERE.glob("*.yaml")} == set(SEEDS)


def test_every_contradiction_is_named_by_a_row() -> None:
    said = " ".join(row.ours for row in ROWS["best-practices"])
    assert [name for name in published().contradictions if f"`{name}`" not in said] == []


def test_a_row_that_names_what_is_not_there_is_found(tmp_path: Path) -> None:
    file = tmp_path / "rows.yaml"
    file.write_text(
        textwrap.dedent("""\
        kind: paper
        folders: {plays: scenarios}
        parts:
        - part: one
          rows:
          - {row: 1, passage: a, here: whole, ours: b, evidence: ["plays:no_such.py", "README.md#no such text in it"]}
        """)
    )
    (row,) = coverage(file).rows
    assert [lacking(evidence) for evidence in row.evidence] == [
        "there is no scenarios/no_such.py",
        "README.md has no 'no such text in it'",
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_page_has_every_row_and_counts_them(seed: str) -> None:
    lines, rows = coverage_page(seed).splitlines(), ROWS[seed]
    assert sum(line.startswith(f"| {row.number} |") for row in rows for line in lines) == len(rows)
    counts = [sum(row.here == state for row in rows) for state in STATES]
    assert f"| all | {' | '.join(str(count) for count in counts if count)} |" in lines


def test_a_scenario_is_linked_to_its_page_and_a_file_to_itself() -> None:
    page = coverage_page("redpaper")
    assert "[single_stream](scenarios/single_stream.md)" in page
    assert "[S40fs](../nodes/bluegene/server/bgl/BlueLight/ppcfloor/dist/etc/rc.d/rc3.d/S40fs)" in page
