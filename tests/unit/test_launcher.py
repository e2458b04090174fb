"""The launcher starts a lab's kernel with the first job, and not at all where none comes or who wants it is gone."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from causeway.folders import REPO
from causeway.hosts import mailbox
from causeway.hosts.guests import make_folder
from causeway.wait import until


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    folder = tmp_path / "lab"
    make_folder(folder / "guests" / "1")
    (folder / "now").symlink_to(folder / "guests" / "1")
    (folder / "lock").touch()
    argv = [sys.executable, "-m", "causeway.hosts.launcher", str(folder)]
    begun = subprocess.Popen(argv, cwd=REPO, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    yield begun
    begun.kill()
    begun.wait()


def test_a_launcher_that_is_to_end_before_the_first_job_starts_no_kernel(
    launcher: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    (tmp_path / "lab/now/share/poweroff").touch()
    assert launcher.wait(20) == 0
    assert not (tmp_path / "lab/pid").exists()


def test_a_launcher_looks_at_what_to_start_with_the_first_job(
    launcher: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    (tmp_path / "lab/now/share/jobs/.coming").mkdir()
    mailbox.submit(tmp_path / "lab/now/share", ["status"])
    until("the launcher ends", lambda: "" if launcher.poll() is not None else "it runs", deadline_s=20)
    assert launcher.stderr is not None
    assert b"kernel.json" in launcher.stderr.read()  # which says what to start, and which this folder has not


def test_a_launcher_whose_starter_is_gone_leaves_nothing(launcher: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    assert launcher.stdin is not None
    launcher.stdin.close()
    assert launcher.wait(20) == 0
    assert not (tmp_path / "lab").exists()
