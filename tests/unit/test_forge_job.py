"""The jobs of docs/ci.md: their very scripts, with a rehearsal that is there already."""

from pathlib import Path

import pytest

from causeway.report.rehearsal import QUESTIONS, Answer, Rehearsal, write
from tests import forge
from tests.forge import GITHUB, GITLAB, KINDS, REPO, Kind

BAD = Answer("reach", "worse", "reaches", "yes", "no: why", "no", {"a": ["b:eth0"]})
BUNDLE = "causeway.bundle"
each = pytest.mark.parametrize("kind", KINDS, ids=["gitlab", "github"])


def project(folder: Path, code: int, *answers: Answer) -> Path:
    """A checkout whose rehearsal or run ends with a code; 2 and 3 leave no report. It unbundles what says `sound`."""
    (folder / "docs").symlink_to(REPO / "docs")
    (folder / "bin").mkdir()
    causeway = folder / "bin" / "causeway"
    causeway.write_text(
        '#!/bin/sh\necho "$@" >>called\ncase $1 in\n'
        "unbundle) grep -q sound $2; exit ;;\n"
        "bundle) [ ! -e $2 ] && echo sound >$2; exit ;;\n"
        f"build) exit ;;\nesac\ncp -r kept runs 2>/dev/null\nexit {code}\n"
    )
    causeway.chmod(0o755)
    if code < 2:
        (folder / "kept" / "20261122-1").mkdir(parents=True)
        head = ("ID", "small", "next.txt", "virtual", 1, "2026-11-22T18:00:00+00:00", 60.0, 300.0)
        write(Rehearsal(*head, list(answers), [], [], list(QUESTIONS)), folder / "kept" / "20261122-1")
    return folder


def called(folder: Path) -> list[str]:
    return (folder / "called").read_text().splitlines()


@each
@pytest.mark.parametrize(("code", "answers", "verdict"), [(0, (), "no regression"), (1, (BAD,), "regression")])
def test_a_rehearsal_is_commented_and_its_verdict_is_the_job_s(
    tmp_path: Path, kind: Kind, code: int, answers: tuple[Answer, ...], verdict: str
) -> None:
    with forge.forge(kind) as at:
        done = forge.run_job(project(tmp_path, code, *answers), at, {})
    assert done.returncode == code, done.stderr
    assert called(tmp_path)[-1] == "rehearse site.yaml --change changes/next.txt"
    (comment,) = at.comments
    assert comment.startswith(f"**next.txt on small: {verdict}**")
    assert ("| worse | reaches | yes | no: why | no | 1 |" in comment) == bool(answers)


@each
@pytest.mark.parametrize("code", [2, 3])
def test_what_could_not_be_rehearsed_fails_and_is_not_commented(tmp_path: Path, kind: Kind, code: int) -> None:
    with forge.forge(kind) as at:
        done = forge.run_job(project(tmp_path, code), at, {})
    assert (done.returncode, at.comments) == (code, [])


@pytest.mark.parametrize(("kind", "variable"), [(GITLAB, "COMMENT_TOKEN"), (GITHUB, "TOKEN")])
def test_a_comment_that_is_refused_fails_the_job(tmp_path: Path, kind: Kind, variable: str) -> None:
    with forge.forge(kind) as at:
        done = forge.run_job(project(tmp_path, 0), at, {}, **{variable: "another"})
    assert done.returncode not in (0, 1) and at.comments == []


@each
@pytest.mark.parametrize("code", [0, 1, 3])
def test_scenarios_are_played_and_the_job_ends_as_they_do(tmp_path: Path, kind: Kind, code: int) -> None:
    with forge.forge(kind) as at:
        done = forge.run_job(project(tmp_path, code), at, {}, "scenarios")
    assert (done.returncode, at.comments) == (code, [])
    assert called(tmp_path)[-1] == "run --lab site.yaml --seed 1"


@each
@pytest.mark.parametrize("before", ["sound", "another version's", None])
def test_what_is_built_is_kept_as_a_bundle_and_taken_from_a_sound_one(
    tmp_path: Path, kind: Kind, before: str | None
) -> None:
    if before:
        (tmp_path / BUNDLE).write_text(before)
    with forge.forge(kind) as at:
        done = forge.run_job(project(tmp_path, 0), at, {}, "scenarios")
    assert done.returncode == 0, done.stderr
    built = [] if before == "sound" else ["build", f"bundle {BUNDLE}"]
    assert called(tmp_path)[:-1] == [f"unbundle {BUNDLE}", *built]
    assert (tmp_path / BUNDLE).read_text().strip() == "sound"


def test_the_jobs_have_what_each_forge_wants() -> None:
    jobs = GITLAB.jobs()
    begins = jobs["default"]
    assert begins["image"].startswith("debian:") and begins["before_script"][0] == "images/install-packages"
    assert begins["cache"]["paths"] == [BUNDLE]
    for name in ("scenarios", "rehearse"):
        assert jobs[name]["artifacts"]["when"] == "always"
        assert jobs[name]["artifacts"]["reports"] == {"junit": "runs/2*/junit.xml"}
    workflow = GITHUB.jobs()
    assert workflow[True] == ["push", "pull_request"]  # YAML 1.1 takes `on` for true; the forge does not
    for job in workflow["jobs"].values():
        steps = job["steps"]
        assert [step["uses"] for step in steps[:2]] == ["actions/checkout@v4", "actions/cache@v4"]
        assert steps[1]["with"]["path"] == BUNDLE and steps[2]["run"] == "images/install-packages"
        assert steps[-1]["if"] == "always()" and steps[-1]["with"]["path"] == "runs/"
        assert "exec" in job["container"]["options"] and "privileged" not in job["container"]["options"]
