"""What is slow to build: when it is built anew, and what a failure leaves. The builds are real, and tiny."""

import fcntl
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from causeway import folders
from causeway.errors import LabBroken
from causeway.hosts import artefacts
from causeway.hosts.artefacts import Artefact, build, missing

TOOL = Artefact("tool", "the tool")
KIT = Artefact("kit", "the kit", inputs=("list.txt", "extra"), pins=("wood", "nails"), needs=(TOOL,))


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with an images folder of its own, and an empty cache beside it."""
    repo = tmp_path / "repo"
    monkeypatch.setattr(folders, "REPO", repo)
    monkeypatch.setenv("CAUSEWAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BUILDS", str(tmp_path / "builds"))
    script(repo, "tool", 'echo "tool" >>"$BUILDS"; cat "${0%/*}/source" >"$1/tool"')
    script(repo, "kit", 'echo "kit" >>"$BUILDS"; cat "$TOOL/tool" >"$1/kit"')
    (repo / "images/tool/source").write_text("one\n")
    (repo / "images/kit/packages").write_text("a\n")
    (repo / "images/pins").write_text("wood oak 1 sha256:1\nnails iron 2\npaint red 3\n")
    (repo / "list.txt").write_text("x\n")
    (repo / "extra/deep").mkdir(parents=True)
    (repo / "extra/deep/file").write_text("y\n")
    return repo


def script(repo: Path, name: str, text: str) -> None:
    file = repo / "images" / name / "build"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\nset -e\n{text}\n")
    file.chmod(0o755)


def quiet(_: str) -> None:
    pass


def builds(tmp_path: Path) -> list[str]:
    file = tmp_path / "builds"
    return file.read_text().split() if file.exists() else []


def cached() -> set[str]:
    return {path.name for path in folders.cache().iterdir() if path.is_dir()}


def test_the_key_stays_as_long_as_the_inputs_do(checkout: Path) -> None:
    key = KIT.key
    os.utime(checkout / "list.txt", (0, 0))
    (checkout / "beside.txt").write_text("no input\n")
    assert KIT.key == key


@pytest.mark.parametrize(
    "file",
    [
        "images/kit/packages",
        "images/kit/build",
        "list.txt",
        "extra/deep/file",
        "images/tool/source",  # of a needed artefact
    ],
)
def test_the_key_changes_with_the_content_of_any_input(checkout: Path, file: str) -> None:
    key = KIT.key
    (checkout / file).write_text("other\n")
    assert KIT.key != key


def test_the_key_changes_with_what_is_pinned_of_its_kinds_alone(checkout: Path) -> None:
    key = KIT.key
    pinned = checkout / "images/pins"
    pinned.write_text("# a comment\n" + pinned.read_text().replace("red 3", "blue 3"))
    assert KIT.key == key
    pinned.write_text(pinned.read_text().replace("sha256:1", "sha256:2"))
    assert KIT.key != key


def test_the_key_changes_with_a_files_name(checkout: Path) -> None:
    key = KIT.key
    (checkout / "images/kit/packages").rename(checkout / "images/kit/package")
    assert KIT.key != key


def test_the_key_changes_with_a_file_more(checkout: Path) -> None:
    key = KIT.key
    (checkout / "extra/deep/empty").touch()
    assert KIT.key != key


def test_a_needed_artefact_does_not_depend_on_who_needs_it(checkout: Path) -> None:
    key = TOOL.key
    (checkout / "images/kit/packages").write_text("b\n")
    assert TOOL.key == key


def test_what_is_missing_is_listed_in_the_order_to_build_it() -> None:
    assert missing(KIT) == [TOOL, KIT]
    build(TOOL, quiet)
    assert missing(KIT) == [KIT]
    build(KIT, quiet)
    assert missing(KIT) == []


def test_an_artefact_is_built_once_with_what_it_needs(tmp_path: Path) -> None:
    said: list[str] = []
    folder = build(KIT, said.append)
    assert (folder / "kit").read_text() == "one\n"
    assert folder == KIT.folder
    assert KIT.built
    assert builds(tmp_path) == ["tool", "kit"]
    assert [line.partition(" in ")[0] for line in said] == ["built the tool", "built the kit"]
    assert build(KIT, said.append) == folder
    assert builds(tmp_path) == ["tool", "kit"]
    assert len(said) == 2


def test_a_changed_input_builds_only_what_depends_on_it(checkout: Path, tmp_path: Path) -> None:
    build(KIT, quiet)
    (checkout / "images/kit/packages").write_text("b\n")
    build(KIT, quiet)
    assert builds(tmp_path) == ["tool", "kit", "kit"]
    (checkout / "images/tool/source").write_text("two\n")
    assert (build(KIT, quiet) / "kit").read_text() == "two\n"
    assert builds(tmp_path) == ["tool", "kit", "kit", "tool", "kit"]


def test_progress_is_the_builds_own_output(checkout: Path) -> None:
    script(checkout, "tool", "echo fetching; echo compiling >&2")
    said: list[str] = []
    build(TOOL, said.append)
    assert [line.split("  ")[-1] for line in said[:2]] == ["fetching", "compiling"]
    assert all(line.startswith("building the tool: ") for line in said[:2])


def test_progress_says_how_long_it_took_last_time(checkout: Path) -> None:
    script(checkout, "tool", "echo compiling")
    build(TOOL, quiet)
    assert TOOL.folder.with_name("took.json").read_text() == '{"tool": 0}'
    (checkout / "images/tool/source").write_text("two\n")
    said: list[str] = []
    build(TOOL, said.append)
    assert said[0].startswith("building the tool, 0 s last time: ")


def test_a_failed_build_leaves_its_log_and_no_folder(checkout: Path) -> None:
    script(checkout, "tool", 'touch "$1/half"; seq 10; echo "no such package" >&2; exit 7')
    with pytest.raises(LabBroken) as caught:
        build(KIT, quiet)
    log = folders.cache() / f"{TOOL.folder.name}.log"
    expected = f"building the tool ended with 7; log: {log}\n7\n8\n9\n10\nno such package"
    assert str(caught.value) == expected
    assert log.read_text().split("\n")[:3] == ["1", "2", "3"]
    assert cached() == set()
    assert not TOOL.built
    assert missing(KIT) == [TOOL, KIT]


def test_a_failed_build_is_tried_anew(checkout: Path, tmp_path: Path) -> None:
    script(checkout, "tool", '[ -e "$BUILDS.ready" ] || { echo first; exit 1; }; echo second')
    with pytest.raises(LabBroken):
        build(TOOL, quiet)
    (tmp_path / "builds.ready").touch()
    build(TOOL, quiet)
    assert TOOL.built
    assert (folders.cache() / f"{TOOL.folder.name}.log").read_text() == "second\n"


def test_an_interrupted_build_leaves_no_folder_and_no_process(checkout: Path, tmp_path: Path) -> None:
    script(checkout, "tool", 'echo $$; sleep 2; touch "$BUILDS.late"')
    pids: list[int] = []

    def interrupt(text: str) -> None:
        pids.append(int(text.split()[-1]))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(TOOL, interrupt)
    assert cached() == set()
    assert not Path(f"/proc/{pids[0]}").exists()
    time.sleep(2.2)
    assert not (tmp_path / "builds.late").exists()


def test_what_a_killed_builder_left_is_no_trouble() -> None:
    half = TOOL.folder.with_name(f".{TOOL.folder.name}.building")
    half.mkdir(parents=True)
    (half / "half").touch()
    folder = build(TOOL, quiet)
    assert [file.name for file in folder.iterdir()] == ["tool"]
    assert cached() == {folder.name}


def killed(checkout: Path, tmp_path: Path) -> Path:
    """Build, killed with SIGKILL while it has a temporary file; returns the folder of that."""
    script(checkout, "tool", 'mktemp -d >"$BUILDS.tmp"; mkdir -m 0 "$(cat "$BUILDS.tmp")/x"; echo there; sleep 60')
    code = (
        "from causeway.hosts.artefacts import *; from causeway import folders; from pathlib import Path; import sys\n"
    )
    code += (
        'folders.REPO = Path(sys.argv[1]); build(Artefact("tool", "the tool"), lambda text: print(text, flush=True))'
    )
    env = os.environ | {"PYTHONPATH": str(Path(artefacts.__file__).parents[2])}
    with subprocess.Popen([sys.executable, "-c", code, str(checkout)], env=env, stdout=subprocess.PIPE) as builder:
        assert builder.stdout is not None and b"there" in builder.stdout.readline()
        builder.kill()
    return Path((tmp_path / "builds.tmp").read_text().strip())


def nothing_is_left() -> bool:
    return not [*Path(tempfile.gettempdir()).glob("causeway-build-*")] and not [*folders.cache().glob(".tool-*.tmp")]


@pytest.mark.parametrize("who", ["the next build", "a sweep"])
def test_what_a_killed_builder_left_among_temporary_files_goes(
    who: str, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    left = killed(checkout, tmp_path)
    assert left.parent.parent == tmp_path / "tmp" and left.exists()
    if who == "a sweep":
        artefacts.sweep()
        assert cached() == set()
    else:
        script(checkout, "tool", 'touch "$1/tool"')
        build(TOOL, quiet)
    assert nothing_is_left()


def test_a_sweep_leaves_alone_what_is_being_built_and_what_is_no_builders(tmp_path: Path) -> None:
    half = TOOL.folder.with_name(f".{TOOL.folder.name}.building")
    half.mkdir(parents=True)
    link, mine = half.with_suffix(".tmp"), tmp_path / "mine"
    mine.mkdir()
    link.symlink_to(mine)  # somebody's prank, or mistake
    with (folders.cache() / f".{TOOL.folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        artefacts.sweep()
        assert half.exists()
    artefacts.sweep()
    assert not half.exists() and not link.is_symlink() and mine.exists()


def test_all_of_it_is_on_the_disk_before_it_has_its_name(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(checkout, "tool", 'mkdir "$1/deep"; touch "$1/tool" "$1/deep/file"; ln -s nowhere "$1/link"')
    written: list[tuple[str, bool]] = []

    def fsync(fd: int) -> None:
        written.append((Path(f"/proc/self/fd/{fd}").readlink().name, TOOL.built))

    monkeypatch.setattr(os, "fsync", fsync)
    build(TOOL, quiet)
    names = {"tool", "deep", "file", f".{TOOL.folder.name}.building"}
    assert {name for name, _ in written} == names and not any(built for _, built in written)


def test_two_builders_wait_for_each_other_and_build_once(checkout: Path, tmp_path: Path) -> None:
    script(checkout, "tool", 'echo begin >>"$BUILDS"; sleep 0.5; echo end >>"$BUILDS"; touch "$1/tool"')
    seen: list[bool] = []

    def one() -> None:
        seen.append((build(TOOL, quiet) / "tool").exists())

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builds(tmp_path) == ["begin", "end"]
    assert seen == [True] * 4


def test_the_new_one_the_one_used_last_and_those_of_the_last_hour_are_kept(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artefacts, "ALL", (TOOL, KIT))
    folder_of = {}
    for version, hours_ago in {"one": 5, "two": 0.8, "three": 4, "four": 0.5, "five": 0}.items():
        (checkout / "images/tool/source").write_text(f"{version}\n")
        folder_of[version] = build(KIT, quiet), build(TOOL, quiet)
        for folder in folder_of[version]:
            os.utime(folder, (0, time.time() - hours_ago * 3600))
    kept = {version for version, pair in folder_of.items() if pair[0].name in cached()}
    assert kept == {"two", "four", "five"}
    assert cached() == {folder.name for version in kept for folder in folder_of[version]}
    assert {path.stem for path in folders.cache().glob("*.log")} == cached()
    # what is used stays longer
    (checkout / "images/tool/source").write_text("two\n")
    artefacts.are_used()
    os.utime(folder_of["four"][1], (0, time.time() - 2 * 3600))
    (checkout / "images/tool/source").write_text("six\n")
    build(TOOL, quiet)
    assert folder_of["two"][1].name in cached()
    assert folder_of["four"][1].name not in cached()


def test_what_a_killed_build_has_mounted_is_found_the_last_one_first() -> None:
    made = Path("/tmp/a b/causeway-build-1")
    lines = ("sys /sys", "proc /tmp/a\\040b/causeway-build-1/x/proc", "none /tmp/a\\040b/causeway-build-1/x/dev/pts",
             "none /tmp/a\\040b/causeway-build-12/x/dev")  # fmt: skip
    mounts = "".join(f"{line} type rw 0 0\n" for line in lines)
    assert artefacts.mounts_below(made, mounts) == [f"{made}/x/dev/pts", f"{made}/x/proc"]
