"""The job that comments a rehearsal on a merge request: its very script, with a rehearsal that is there already."""

from pathlib import Path

import pytest

from causeway.report.rehearsal import QUESTIONS, Answer, Rehearsal, write
from tests import forge
from tests.forge import REPO

BAD = Answer("reach", "worse", "reaches", "yes", "no: why", "no", {"a": ["b:eth0"]})


def project(folder: Path, code: int, *answers: Answer) -> Path:
    """A checkout whose rehearsal ends with a code; 2 and 3 leave no report."""
    (folder / "docs").symlink_to(REPO / "docs")
    (folder / "bin").mkdir()
    causeway = folder / "bin" / "causeway"
    causeway.write_text(f'#!/bin/sh\necho "$@" >called\ncp -r kept runs 2>/dev/null\nexit {code}\n')
    causeway.chmod(0o755)
    if code < 2:
        (folder / "kept" / "20261122-1").mkdir(parents=True)
        head = ("ID", "small", "next.txt", "virtual", 1, "2026-11-22T18:00:00+00:00", 60.0, 300.0)
        write(Rehearsal(*head, list(answers), [], [], list(QUESTIONS)), folder / "kept" / "20261122-1")
    return folder


@pytest.mark.parametrize(("code", "answers", "verdict"), [(0, (), "no regression"), (1, (BAD,), "regression")])
def test_a_rehearsal_is_commented_and_its_verdict_is_the_job_s(
    tmp_path: Path, code: int, answers: tuple[Answer, ...], verdict: str
) -> None:
    with forge.forge() as at:
        done = forge.run_job(project(tmp_path, code, *answers), at, {})
    assert done.returncode == code, done.stderr
    assert (tmp_path / "called").read_text() == "rehearse site.yaml --change changes/next.txt\n"
    (comment,) = at.comments
    assert comment.startswith(f"**next.txt on small: {verdict}**")
    assert ("| worse | reaches | yes | no: why | no | 1 |" in comment) == bool(answers)


@pytest.mark.parametrize("code", [2, 3])
def test_what_could_not_be_rehearsed_fails_and_is_not_commented(tmp_path: Path, code: int) -> None:
    with forge.forge() as at:
        done = forge.run_job(project(tmp_path, code), at, {})
    assert (done.returncode, at.comments) == (code, [])


def test_a_comment_that_is_refused_fails_the_job(tmp_path: Path) -> None:
    with forge.forge() as at:
        done = forge.run_job(project(tmp_path, 0), at, {}, token="another")
    assert done.returncode not in (0, 1) and at.comments == []


def test_the_job_has_what_a_forge_wants() -> None:
    job = forge.job()
    assert job["image"].startswith("debian:") and job["before_script"] == ["images/install-packages"]
    assert job["artifacts"]["when"] == "always"
    assert job["artifacts"]["reports"] == {"junit": "runs/2*/junit.xml"}
