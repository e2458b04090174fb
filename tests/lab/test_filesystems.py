"""The parallel filesystem in virtual time: trust and grants, where files go, that nothing of them is lost."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import REPO, Tool

PLAYS = Path(__file__).parent / "plays"
PAGE = REPO / "docs" / "trust.md"
HEAD = """# Trust and grants: what a client sees

Measured by `tests/lab/plays/trust.py` on the lab jubl in virtual time: what becomes of `mcmount work` on the front end,
or of a command on what is mounted, and the seconds that it took. The owner is JUMP, the client JUBL; the servers
enforce all of it. `tests/lab/test_filesystems.py` writes this page (UPDATE_DOCS=1) and checks it.

"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Both plays in one lab: name of play -> what it found."""
    tool = Tool(tmp_path_factory.mktemp("virtual"))
    plays = [str(PLAYS / f"{name}.py") for name in ("trust", "integrity")]
    done = tool("run", *plays, "--lab", "jubl", "--json", timeout_s=1500)
    run = json.loads(done.stdout)
    return {scenario["name"]: scenario for scenario in run["scenarios"]}


@pytest.mark.parametrize("play", ["trust", "integrity"])
def test_a_play_finds_what_it_expects(reports: dict[str, Any], play: str) -> None:
    found = reports[play]
    assert found["verdict"] == "pass", (found["why"], [c for c in found["comparisons"] if not c["ok"]])


def test_the_page_of_trust_says_what_was_measured(reports: dict[str, Any]) -> None:
    (table,) = [e for e in reports["trust"]["exhibits"] if e["title"] == "What a client sees"]
    if os.environ.get("UPDATE_DOCS"):
        lines = ["| " + " | ".join(row) + " |" for row in [table["columns"], ["---"] * 3, *table["rows"]]]
        PAGE.write_text(HEAD + "\n".join(lines) + "\n")
    said = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")][2:]
    assert [row[:2] for row in said] == [row[:2] for row in table["rows"]]
    for (case, _, wrote), (_, _, measured) in zip(said, table["rows"], strict=True):
        assert float(measured) == pytest.approx(float(wrote), rel=0.2, abs=1), case
