"""Labs for the tests: one in paced time that stays up for all of them, others that a test brings up itself."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).resolve().parents[2]
CAUSEWAY = REPO / "bin" / "causeway"


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
