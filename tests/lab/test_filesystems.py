"""The parallel filesystem in virtual time: trust and grants, where files go, that nothing of them is lost."""

import os

import pytest
from conftest import REPO, Played

PAGE = REPO / "docs" / "trust.md"
HEAD = """# Trust and grants: what a client sees

Measured by `tests/lab/plays/trust.py` on the lab jubl in virtual time: what becomes of `mcmount work` on the front end,
or of a command on what is mounted, and the seconds that it took. The owner is JUMP, the client JUBL; the servers
enforce all of it. `tests/lab/test_filesystems.py` writes this page (UPDATE_DOCS=1) and checks it.

"""


@pytest.mark.parametrize("play", ["trust", "integrity"])
def test_a_play_finds_what_it_expects(plays: Played, play: str) -> None:
    plays.passed(play)


def test_the_page_of_trust_says_what_was_measured(plays: Played) -> None:
    (table,) = [e for e in plays.passed("trust")["exhibits"] if e["title"] == "What a client sees"]
    if os.environ.get("UPDATE_DOCS"):
        lines = ["| " + " | ".join(row) + " |" for row in [table["columns"], ["---"] * 3, *table["rows"]]]
        PAGE.write_text(HEAD + "\n".join(lines) + "\n")
    said = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")][2:]
    assert [row[:2] for row in said] == [row[:2] for row in table["rows"]]
    for (case, _, wrote), (_, _, measured) in zip(said, table["rows"], strict=True):
        assert float(measured) == pytest.approx(float(wrote), rel=0.2, abs=1), case
