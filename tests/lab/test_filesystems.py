"""The parallel filesystem in virtual time: trust and grants, where files go, that nothing of them is lost."""

import json
import os

import pytest
from conftest import PLAYS, REPO, Played, Tool

PAGE = REPO / "docs" / "trust.md"
HEAD = """# Trust and grants: what a client sees

Measured by `tests/lab/plays/trust.py` on the lab jubl in virtual time: what becomes of `mcmount work` on the front end,
or of a command on what is mounted, and the seconds that it took. The owner is JUMP, the client JUBL; the servers
enforce all of it. `tests/lab/test_filesystems.py` writes this page (UPDATE_DOCS=1) and checks it. What a client sees
whose cluster is not known, not granted, denied while it writes, or has missed a new key is in the scenarios
[keys_wrong_cluster](scenarios/keys_wrong_cluster.md), [keys_granted_not](scenarios/keys_granted_not.md),
[keys_deny_while_mounted](scenarios/keys_deny_while_mounted.md) and [keys_rotation](scenarios/keys_rotation.md).
What becomes of one that forges another's name is in [keys_forged_name](scenarios/keys_forged_name.md), and of a denial
that is broken off in [deny_interrupted](scenarios/deny_interrupted.md).

"""


@pytest.mark.parametrize("play", ["trust", "integrity"])
def test_a_play_finds_what_it_expects(on_jubl: Played, play: str) -> None:
    on_jubl.passed(play)


def test_the_page_of_trust_says_what_was_measured(on_jubl: Played) -> None:
    (table,) = [e for e in on_jubl.passed("trust")["exhibits"] if e["title"] == "What a client sees"]
    if os.environ.get("UPDATE_DOCS"):
        lines = ["| " + " | ".join(row) + " |" for row in [table["columns"], ["---"] * 3, *table["rows"]]]
        PAGE.write_text(HEAD + "\n".join(lines) + "\n")
    said = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")][2:]
    assert [row[:2] for row in said] == [row[:2] for row in table["rows"]]
    for (case, _, wrote), (_, _, measured) in zip(said, table["rows"], strict=True):
        assert float(measured) == pytest.approx(float(wrote), rel=0.2, abs=1), case


@pytest.mark.night
@pytest.mark.parametrize(
    ("play", "site"),
    [
        ("layouts", str(REPO / "tests/sites/filesystems.yaml")), ("administration", "jubl"), ("server_lists", "jubl"),
        ("software", "jubl"),
    ],
)  # fmt: skip
def test_a_play_in_a_lab_of_its_own_finds_what_it_expects(tool: Tool, play: str, site: str) -> None:
    done = tool("run", str(PLAYS / f"{play}.py"), "--clock", "virtual", "--lab", site, "--json", timeout_s=3600)
    assert done.stdout, done.stderr
    (found,) = json.loads(done.stdout)["scenarios"]
    assert found["verdict"] == "pass", (found["why"], [c for c in found["comparisons"] if not c["ok"]])
