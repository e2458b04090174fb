"""The launcher starts a lab's kernel with the first job, and not at all where none comes or who wants it is gone."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from causeway.errors import LabBroken
from causeway.folders import REPO
from causeway.hosts import asking, mailbox, uml
from causeway.hosts import launcher as launching
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


def _with_a_kernel_that_sleeps(tmp_path: Path) -> Path:
    lab = tmp_path / "lab"
    kernel = ["/bin/sh", "-c", "exec sleep 1000"]
    reach = {"look": ["/usr", "/lib", "/lib64", "/etc"], "names": [], "change": [str(lab)], "memory": "/dev/shm"}
    (lab / "kernel.json").write_text(json.dumps(reach | {"argv": kernel}))
    return lab


@pytest.mark.usefixtures("launcher")
def test_a_kernel_that_takes_no_command_up_is_said_to_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uml, "_BEGINS_S", 0.2)
    lab = _with_a_kernel_that_sleeps(tmp_path)
    with (lab / "lock").open() as held, pytest.raises(LabBroken, match=f"took no command up in .* {lab}/console"):
        fcntl.flock(held, fcntl.LOCK_EX)  # as the launcher does that `up` starts
        uml.UmlHost(lab).do(["status"])


def test_a_lab_whose_jobs_go_before_its_launcher_is_said_to_have_ended(tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    make_folder(lab / "guests" / "1")
    (lab / "now").symlink_to(lab / "guests" / "1")

    def end() -> None:
        until("a job is there", lambda: "" if any(mailbox.jobs(lab / "now/share")) else "none", deadline_s=20)
        shutil.rmtree(lab / "guests" / "1")
        time.sleep(0.2)
        held.close()

    with (lab / "lock").open("w") as held, pytest.raises(LabBroken, match=f"the lab host ended; .* {lab}/console"):
        fcntl.flock(held, fcntl.LOCK_EX)
        Thread(target=end).start()
        uml.UmlHost(lab).do(["status"])


@pytest.mark.usefixtures("launcher")
def test_a_job_is_cancelled_when_its_asker_is_gone_and_not_before(tmp_path: Path) -> None:
    lab = _with_a_kernel_that_sleeps(tmp_path)
    job, other = (mailbox.submit(lab / "now/share", ["run"]) for _ in range(2))
    until("the launcher listens", lambda: "" if (lab / "launcher.sock").exists() else "not yet", deadline_s=20)
    with asking.connect(lab, asking.HOLD, other.folder.name):
        asking.connect(lab, asking.HOLD, job.folder.name).close()
        until("it is cancelled", lambda: "" if (job.folder / "cancel").exists() else "not yet", deadline_s=20)
        assert not (other.folder / "cancel").exists()


def test_a_cpu_that_proc_stat_leaves_out_keeps_no_lab_from_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([{0: 100}, {0: 160}])
    monkeypatch.setattr(launching, "_idle_ticks", lambda: next(ticks))
    monkeypatch.setattr(launching, "_LOOK_S", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5})
    assert launching._idlest_cpu() == 0
