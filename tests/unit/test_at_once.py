"""Two at the same moment: runs in one lab, first calls of the command line."""

import os
import subprocess
from pathlib import Path

import pytest

from causeway.errors import BadInput
from causeway.folders import REPO
from tests.unit.here import here

#: A Python that makes an environment slowly, and says so.
_PYTHON = """#!/bin/sh
[ "$1" = -c ] && exit 0
echo made >>"$LOG"
mkdir -p "$3/bin"
sleep 0.3
for name in pip python; do
	printf '#!/bin/sh\\n:\\n' >"$3/bin/$name"
	chmod +x "$3/bin/$name"
done
"""


def test_one_run_at_a_time_plays_in_a_lab(tmp_path: Path) -> None:
    again = pytest.raises(BadInput, match="another run plays in jubl; wait for its end")
    with here(tmp_path).playing(), again, here(tmp_path).playing():
        pytest.fail("two of them")
    with here(tmp_path).playing():
        """The first one has ended."""


def test_of_first_calls_at_once_one_makes_the_environment_and_all_use_it(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python3.13"
    python.parent.mkdir()
    python.write_text(_PYTHON)
    python.chmod(0o755)
    env = os.environ | {
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "CAUSEWAY_CACHE": str(tmp_path / "cache"),
        "LOG": str(tmp_path / "log"),
    }

    def calls(number: int) -> list[int]:
        argv = [str(REPO / "bin/causeway"), "--help"]
        begun = [subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL) for _ in range(number)]
        return [process.wait(20) for process in begun]

    assert calls(4) == [0] * 4
    assert (tmp_path / "log").read_text() == "made\n"
    (made,) = (tmp_path / "cache").glob("python-*")
    (made / "bin" / "python").unlink()  # as a link whose target an upgrade has removed
    assert calls(1) == [0]
    assert (tmp_path / "log").read_text() == "made\nmade\n"
