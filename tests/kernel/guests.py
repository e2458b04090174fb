"""A guest of the lab's own kernel in virtual time, whose first process is a Python file of this folder."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from causeway.folders import REPO
from causeway.hosts import memory
from causeway.hosts.artefacts import KERNEL


def lines(script: str, folder: Path, memory_mib: int = 256) -> list[dict[str, Any]]:
    """What it prints, an object of JSON a line, until it ends, which ends the guest. `folder` is the kernel's own."""
    kernel = [str(KERNEL.folder / "linux"), f"mem={memory_mib}M", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"]
    clock = ["time-travel=inf-cpu", "seccomp=on", f"uml_dir={folder}", "con=null", "con0=fd:0,fd:1"]
    # the kernel gives its first process what it does not know itself of NAME=VALUE
    words = [*kernel, *clock, f"PYTHONPATH={REPO}", "PYTHONDONTWRITEBYTECODE=1", f"init={sys.executable}"]
    done = subprocess.run(
        [*words, "--", str(REPO / "tests/kernel" / script)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        env={"TMPDIR": str(memory.FOLDER)},
    )
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert found, done.stdout + done.stderr
    return found
