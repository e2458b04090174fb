"""The agent in a lab host: it does the jobs that lie in the shared folder, each in a process of its own."""

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from causeway.hosts import agent
from causeway.hosts.mailbox import jobs, submit
from causeway.wait import until


def do(words: list[str]) -> int:
    """A command line that says what it was told."""
    os.write(1, f"{' '.join(words)}\n".encode())
    os.write(2, b"and a complaint\n")
    return len(words)


def test_each_job_gets_its_own_output_and_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "SHARE", tmp_path)
    jobs = [submit(tmp_path, words) for words in (["status", "--json"], ["down"])]
    (tmp_path / "poweroff").touch()
    agent.Agent(do, lambda: True).serve()
    assert [job.rc for job in jobs] == [2, 1]
    assert [(job.folder / "out").read_text() for job in jobs] == ["status --json\n", "down\n"]
    assert (jobs[0].folder / "err").read_text() == "and a complaint\n"


def test_a_job_that_breaks_the_command_line_ends_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(_: list[str]) -> int:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(agent, "SHARE", tmp_path)
    job = submit(tmp_path, ["status"])
    assert json.loads((job.folder / "request").read_text())["argv"] == ["status"]
    (tmp_path / "poweroff").touch()
    agent.Agent(breaks, lambda: True).serve()
    assert job.rc == 70


def test_who_gets_a_terminal_gets_it_from_whoever_was_left_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a terminal window is closed: nobody tells the agent, and the line is lent anew."""
    monkeypatch.setattr(agent, "SHARE", tmp_path)
    master, slave = os.openpty()
    name = os.ttyname(slave).removeprefix("/dev/")

    def shell(words: list[str]) -> int:
        if words == ["left"]:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.pause()
        os.close(os.open("/dev/tty", os.O_RDWR))  # it is its controlling terminal
        return 5

    left, next_one = submit(tmp_path, ["left"], terminal=name), submit(tmp_path, ["next"], terminal=name)
    (tmp_path / "poweroff").touch()
    agent.Agent(shell, lambda: True).serve()
    assert left.rc in (-signal.SIGHUP, -signal.SIGKILL)
    assert next_one.rc == 5
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize("read_mib", [1024, 1025])
def test_a_lab_that_is_to_be_a_template_rests_when_its_last_job_has_ended_and_draws_from_what_it_wakes_with(
    read_mib: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Kernel:
        """What /proc/uml_clone is."""

        def read_text(self) -> str:
            return "0\n"

        @contextmanager
        def open(self, _mode: str, buffering: int) -> Iterator["Kernel"]:
            assert buffering == 0
            yield self

        def write(self, _: bytes) -> None:
            assert job.rc == 1
            assert (tmp_path / "drop_caches").read_text() == ("1\n" if read_mib > 1024 else "")
            (tmp_path / "chance").write_bytes(b"seed 7")
            (tmp_path / "date").write_text("1767225600.5")
            (tmp_path / "poweroff").touch()

    asked: list[int] = []
    dates: list[tuple[int, float]] = []
    typed: list[list[str]] = []
    for pid, name in ((7, "sshd"), (41, "chronyd"), (43, "chronyc")):
        (tmp_path / f"proc/{pid}").mkdir(parents=True)
        (tmp_path / f"proc/{pid}/comm").write_text(f"{name}\n")
    random = tmp_path / "urandom"
    monkeypatch.setattr(agent, "SHARE", tmp_path)
    monkeypatch.setattr(agent, "_CLONE", Kernel())
    monkeypatch.setattr(agent, "_DROP_CACHES", tmp_path / "drop_caches")
    monkeypatch.setattr(agent, "kib_of", {"Cached": read_mib * 1024}.__getitem__)
    monkeypatch.setattr(agent, "_word", {"rest": "7"}.__getitem__)
    monkeypatch.setattr(agent, "_URANDOM", random)
    monkeypatch.setattr(agent.fcntl, "ioctl", lambda _, number: asked.append(number))
    monkeypatch.setattr(agent.time, "clock_settime", lambda *words: dates.append(words))
    monkeypatch.setattr(agent, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(agent, "_ANEW_AFTER_S", 0.0)
    monkeypatch.setattr(agent, "run_all", lambda commands, **_: typed.extend(commands))
    (tmp_path / "template").touch()
    (tmp_path / "drop_caches").touch()
    job = submit(tmp_path, ["up"])
    agent.Agent(do, lambda: True).serve()
    assert (random.read_bytes(), asked) == (b"seed 7", [0x5207])
    assert dates == [(agent.time.CLOCK_REALTIME, 1767225600.5)]
    assert typed == [["nsenter", "-a", "-t", "41", "chronyc", "burst", "4/8"]]
    assert not {"template", "chance", "date"} & {file.name for file in tmp_path.iterdir()}


@pytest.mark.parametrize("cloned", [False, True])
def test_it_has_the_kernel_rest_and_in_a_clone_begins_anew(
    cloned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Kernel:
        """What /proc/uml_clone is: told to rest, it goes on as the same guest or as a clone of it."""

        number, told = "0\n", b""

        def read_text(self) -> str:
            return self.number

        @contextmanager
        def open(self, _mode: str, buffering: int) -> Iterator["Kernel"]:
            assert buffering == 0
            yield self

        def write(self, words: bytes) -> None:
            assert not (share / "rest").exists()
            self.told = words
            if cloned:
                until("the shell is there", lambda: "" if (tmp_path / "pid").exists() else "not yet", deadline_s=10)
                self.number = "0.1\n"
                shutil.rmtree(share / "jobs")
                (share / "jobs").mkdir()
                submit(share, ["status"])
            else:
                (share / "poweroff").touch()

    def waits(words: list[str]) -> int:
        if words == ["shell"]:
            (tmp_path / "new").write_text(str(os.getpid()))
            (tmp_path / "new").rename(tmp_path / "pid")
            while cloned or not (share / "poweroff").exists():
                time.sleep(0.01)
        (share / "poweroff").touch()
        return 5

    kernel, share = Kernel(), tmp_path / "share"
    monkeypatch.setattr(agent, "SHARE", share)
    monkeypatch.setattr(agent, "_CLONE", kernel)
    monkeypatch.setattr(agent, "_DROP_CACHES", tmp_path / "drop_caches")
    monkeypatch.setattr(agent, "_word", {"rest": "7"}.__getitem__)
    before = submit(share, ["shell"])
    (share / "rest").touch()
    agent.Agent(waits, lambda: True).serve()
    assert kernel.told == b"@7"
    (job,) = jobs(share)
    assert (job.rc, job.folder == before.folder) == (5, not cloned)
    if cloned:
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)
