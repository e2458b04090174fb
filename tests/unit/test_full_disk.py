"""A disk that is full while a lab is up: what could not be written is lost, and nothing else."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any, Never

import pytest

from causeway.cli import app
from causeway.errors import EXIT_BAD_INPUT, EXIT_LAB_BROKEN, LabBroken
from causeway.hosts import agent, host
from causeway.hosts.mailbox import submit
from causeway.hosts.uml import UmlHost
from causeway.process import Transcript, run


def full(*_: object, **__: object) -> Never:
    raise OSError(errno.ENOSPC, "No space left on device", "/somewhere/runs/out")


def test_the_agent_goes_on_and_says_how_a_job_ended_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = agent.put, [3]

    def put(file: Path, text: str) -> None:
        if left[0]:
            left[0] -= 1
            full()
        real(file, text)

    monkeypatch.setattr(agent, "SHARE", tmp_path)
    monkeypatch.setattr(agent, "open", full, raising=False)
    monkeypatch.setattr(agent, "put", put)
    job = submit(tmp_path, ["status"])
    (tmp_path / "poweroff").touch()
    agent.Agent(lambda _: os.write(1, b"said") and 5, lambda: True).serve()
    assert (job.rc, left, (job.folder / "out").read_text()) == (5, [0], "")


def test_a_command_whose_line_of_the_transcript_is_lost_is_carried_out(tmp_path: Path) -> None:
    transcript = Transcript()
    transcript.to(tmp_path / "not there" / "transcript.txt")
    transcript.add(run(["true"]))


def test_a_lab_host_that_broke_is_ended_also_where_its_console_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, said = [], []
    monkeypatch.setattr(shutil, "copy", full)
    monkeypatch.setattr(UmlHost, "end", lambda one, **_: ended.append(one))
    with pytest.raises(LabBroken, match="first"), host._ends(UmlHost(tmp_path), said.append, unless=lambda: True):
        raise LabBroken("first")
    assert len(ended) == 1 and "could not be kept: [Errno 28]" in said[0]


@pytest.mark.parametrize(
    ("words", "rc"),
    [
        (["render", "--to", "/elsewhere"], EXIT_LAB_BROKEN),
        (["render", "--to", "/somewhere/runs"], EXIT_BAD_INPUT),
        (["render", "--to=/somewhere/runs/out"], EXIT_BAD_INPUT),
        (["render", "--to", "../../../../../../../../somewhere"], EXIT_BAD_INPUT),
    ],
)
def test_only_a_file_that_was_named_is_bad_input(words: list[str], rc: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Never:
        full()

    monkeypatch.setattr(app, "app", lambda _: broken)
    assert app.main(words) == rc


def test_an_interrupt_that_comes_before_a_job_is_a_group_of_its_own_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cancel").touch()
    child, sent = agent.Child(tmp_path, os.getpid(), None, pipes=1, rc=0), []

    def killpg(pid: int, number: int) -> None:
        sent.append(number)
        if len(sent) == 1:
            raise ProcessLookupError(pid)

    monkeypatch.setattr(os, "killpg", killpg)
    for _ in range(3):
        agent.Agent(lambda _: 0, lambda: True)._look_after(child)
    assert len(sent) == 2
