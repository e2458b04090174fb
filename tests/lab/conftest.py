"""Labs for the tests: one in paced time that stays up for all of them, one for all plays, and a test's own."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).resolve().parents[2]
CAUSEWAY = REPO / "bin" / "causeway"
JUBL = REPO / "topologies" / "jubl.yaml"
PLAYS = Path(__file__).parent / "plays"


@dataclass(frozen=True)
class Tool:
    """bin/causeway with folders of its own, as another user on this machine would have them."""

    folder: Path

    @property
    def env(self) -> dict[str, str]:
        own = {"CAUSEWAY_STATE": str(self.folder / "state"), "CAUSEWAY_RUNS": str(self.folder / "runs")}
        return os.environ | own

    def __call__(self, *words: str, timeout_s: float = 600) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(CAUSEWAY), *words], env=self.env, capture_output=True, text=True, timeout=timeout_s, check=False
        )

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Start it in a process group of its own."""
        return subprocess.Popen(
            [str(CAUSEWAY), *words],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def json(self, *words: str, timeout_s: float = 600) -> Any:
        """What a command prints with --json; its standard output must hold nothing else."""
        done = self(*words, timeout_s=timeout_s)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def on(self, node: str, *command: str) -> str:
        """The standard output of a command on a node, which must succeed."""
        (row,) = self.json("exec", "--json", node, "--", *command)
        assert row["rc"] == 0, row
        return str(row["stdout"])


def without_filesystems(folder: Path, name: str = "jubl", **changes: str) -> str:
    """A topology file of jubl that comes up in a third of the time, with changes of its text (mtu="9000")."""
    text = JUBL.read_text().replace("lab: jubl", f"lab: {name}")
    text = re.sub(r"^filesystems:\n(?:  .*\n)+", "", text, flags=re.MULTILINE)
    for key, value in changes.items():
        text = re.sub(rf"{key}: \d+", f"{key}: {value}", text)
    file = folder / f"{name}.yaml"
    file.write_text(text)
    return str(file)


@dataclass(frozen=True)
class Played:
    """What the plays found, by their names, and the folder in which it is kept."""

    results: dict[str, Any]
    runs: Path

    def passed(self, name: str) -> dict[str, Any]:
        """A play's result, which must be a pass."""
        found: dict[str, Any] = self.results[name]
        assert found["verdict"] == "pass", (found["why"], [c for c in found["comparisons"] if not c["ok"]])
        return found


@pytest.fixture(scope="session")
def plays(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Every play, in one lab in virtual time."""
    tool = Tool(tmp_path_factory.mktemp("plays"))
    names = ("trust", "integrity", "every_fault", "block_life")
    files = [str(PLAYS / f"{name}.py") for name in names]
    done = tool("run", *files, "--clock", "virtual", "--lab", "jubl", "--json", timeout_s=3600)
    assert done.stdout, done.stderr
    return Played({result["name"]: result for result in json.loads(done.stdout)["scenarios"]}, tool.folder / "runs")


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tool]:
    """The lab jubl, up in paced time."""
    tool = Tool(tmp_path_factory.mktemp("paced"))
    done = tool("up")
    assert done.returncode == 0, done.stderr
    yield tool
    assert tool("down").returncode == 0


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    """A tool without a lab; what it leaves up is ended."""
    own = Tool(tmp_path)
    yield own
    own("down")
