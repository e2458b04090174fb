"""In the lab's own kernel: a bond that nodes/bonding/bond_policy.py has set sends each frame as the plan computes."""

import json
import subprocess
import sys
from pathlib import Path

import bonds
import pytest

from causeway.folders import REPO
from causeway.hosts import memory
from causeway.hosts.artefacts import KERNEL


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    folder: Path = tmp_path_factory.mktemp("guest")
    kernel = [str(KERNEL.folder / "linux"), "mem=256M", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"]
    clock = ["time-travel=inf-cpu", f"uml_dir={folder}", "con=null", "con0=fd:0,fd:1"]
    first = [f"init={sys.executable}", "--", str(REPO / "tests/kernel/bonds.py")]
    environment = {"PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1"}
    # the kernel gives its first process what it does not know itself of NAME=VALUE
    words = [*kernel, *clock, *(f"{name}={value}" for name, value in environment.items()), *first]
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        env={"TMPDIR": str(memory.FOLDER)},
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, done.stdout + done.stderr
    return lines


@pytest.mark.parametrize("policy", bonds.POLICIES[:-1])
@pytest.mark.parametrize("case", bonds.CASES, ids=lambda case: f"{case[0]} of {case[1]}")
def test_every_frame_leaves_by_the_member_that_is_computed(
    found: list[dict[str, object]], case: tuple[str, int], policy: str
) -> None:
    rows = [row for row in found if (row["mode"], row["members"], row["policy"]) == (*case, policy)]
    assert rows, found
    for row in rows:
        assert (row["in_force"], row["right"], row["used"]) == (policy, bonds.FRAMES, case[1])
