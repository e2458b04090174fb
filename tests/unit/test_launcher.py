"""The launcher starts a lab's kernel with the first job, and not at all where none comes."""

import subprocess
import sys
from pathlib import Path

from causeway.folders import REPO
from causeway.hosts import mailbox
from causeway.hosts.guests import make_folder
from causeway.wait import until


def launched(folder: Path) -> "subprocess.Popen[bytes]":
    make_folder(folder / "guests" / "1")
    (folder / "now").symlink_to(folder / "guests" / "1")
    (folder / "lock").touch()
    argv = [sys.executable, "-m", "causeway.hosts.launcher", str(folder)]
    return subprocess.Popen(argv, cwd=REPO, stderr=subprocess.PIPE)


def test_a_launcher_that_is_to_end_before_the_first_job_starts_no_kernel(tmp_path: Path) -> None:
    launcher = launched(tmp_path)
    (tmp_path / "now" / "share" / "poweroff").touch()
    assert launcher.wait(20) == 0
    assert not (tmp_path / "pid").exists()


def test_a_launcher_looks_at_what_to_start_with_the_first_job(tmp_path: Path) -> None:
    launcher = launched(tmp_path)
    (tmp_path / "now" / "share" / "jobs" / ".coming").mkdir()
    mailbox.submit(tmp_path / "now" / "share", ["status"])
    until("the launcher ends", lambda: "" if launcher.poll() is not None else "it runs", deadline_s=20)
    assert launcher.stderr is not None
    assert b"kernel.json" in launcher.stderr.read()  # which says what to start, and which this folder has not
