"""What a shell offers when Tab is pressed."""

import fcntl
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from causeway.cli.app import app
from causeway.cli.complete import Shell
from causeway.folders import REPO, site_file, sites
from causeway.lab.faults.catalogue import FAULTS
from causeway.model.load import load_site
from causeway.plan.sizing import catalogue
from causeway.scenario import runner

TYPED = 'COMP_LINE="causeway $1" COMP_POINT=$((${#1} + 9)); _causeway 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"'


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CAUSEWAY_LAB_HOST", raising=False)
    monkeypatch.setenv("CAUSEWAY_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def lab(own_state: Path) -> Iterator[None]:
    """What a lab host that is up has in its folder, and holds: `small`, with another number of nodes."""
    folder = own_state / "small"
    (folder / "guests/1/share").mkdir(parents=True)
    (folder / "now").symlink_to(folder / "guests/1")
    shutil.copy(site_file("jubl"), folder / "now/share/topology.yaml")
    (folder / "about.json").write_text(json.dumps({"lab": "small", "clock": "paced", "counts": {"io": 2}}))
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def script(shell: str) -> str:
    return CliRunner().invoke(app(), ["completion", shell]).output


def offered(typed: str) -> list[str]:
    """What bash is told to offer after `causeway TYPED`."""
    env = {"COMP_WORDS": f"causeway {typed}", "COMP_CWORD": str(len(f"x {typed}x".split()) - 1)}
    done = CliRunner().invoke(app(), [], prog_name="causeway", env=env | {"_CAUSEWAY_COMPLETE": "complete_bash"})
    return done.output.split()


def in_bash(typed: str, tmp_path: Path) -> list[str]:
    """What a real bash makes of that for `causeway TYPED`."""
    (tmp_path / "script").write_text(script("bash"))
    argv = ["bash", "-c", f'source "{tmp_path}/script"; {TYPED}', "bash", typed]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=tmp_path)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("typed", "expected"),
    {
        "grap": ["graph"],
        "up ": sites(),
        "graph --co": ["--count"],
        "run ": runner.names(),
        "run io --lab j": ["jubl"],
        "rehearse s": ["small", "swgpfs"],
        "hash a:1 b:2 --lab x": ["xe", "xeboot"],
        "up --clock ": ["virtual", "paced", "real"],
        "size dcs": [block for block in catalogue().blocks if block.startswith("dcs")],
        "fault inject ": list(FAULTS),
        "fault inject link_silent ": ["node=", "device="],
        "fault inject link_silent node=x ": ["device="],
        "fault inject nosuch ": [],
        "shell ": [],
        "up no-such-site": [],
    }.items(),
)
def test_without_a_lab(typed: str, expected: list[str]) -> None:
    assert offered(typed) == expected


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize(
    ("typed", "expected"),
    {
        "shell R": ["R00-M0-NC-3", "R00-M0-NC-4"],
        "console nsd0": ["nsd01", "nsd02", "nsd03", "nsd04"],
        "exec --lab small nsd01 a": ["all"],
        "exec nsd01 -- n": [],
        "down ": ["small"],
        "status --lab ": ["small"],
        "shell --lab other ": [],
        "fault inject link_silent node=nsd0": [f"node=nsd0{number}" for number in (1, 2, 3, 4)],
        "fault inject link_silent node=cn01 device=": ["device=eth0", "device=eth1"],
        "fault inject link_silent device=": [],
        "fault inject link_silent nodd=": [],
        "fault inject clock_wrong node=cn01 seconds=": [],
    }.items(),
)
def test_with_a_lab_that_is_up(typed: str, expected: list[str]) -> None:
    assert offered(typed) == expected


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize(
    ("typed", "expected"),
    {
        "grap": ["graph"],
        "shell ": [*load_site(site_file("jubl"), {"io": 2}).nodes],
        "fault inject link_silent node=cn": ["cn01", "cn02"],  # bash takes what stands after = for a word
    }.items(),
)
def test_a_real_bash(typed: str, expected: list[str], tmp_path: Path) -> None:
    assert in_bash(typed, tmp_path) == expected


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_are_told_the_same(shell: str) -> None:
    typed = {
        "_TYPER_COMPLETE_ARGS": "causeway fault inject link_silent node=cn",
        "_CAUSEWAY_COMPLETE": f"complete_{shell}",
    }
    env = typed | {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    said = CliRunner().invoke(app(), [], prog_name="causeway", env=env).output
    assert "node=cn01" in said and "node=cn02" in said and "nsd01" not in said


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed, and this asks a real one")
@pytest.mark.parametrize(
    ("typed", "expected"),
    {"lab start co": ["colleague"], "bundle here": ["here.txt"], "rehearse s": ["small", "swgpfs"]}.items(),
)
def test_a_real_fish_offers_files_where_there_is_nothing_else(typed: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "script").write_text(script("fish"))
    (tmp_path / "here.txt").touch()
    (tmp_path / "start").mkdir()
    argv = ["fish", "--no-config", "-c", f"source script; complete --do-complete='bin/causeway {typed}'"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == expected


#: Types $2 and Tab at a zsh on a terminal that has read the script $1, and then has it print what stands there.
ZSH = r"""
zmodload zsh/zpty
zpty typed zsh -f -i
zpty -w typed "autoload -Uz compinit; compinit -u -D; source ${(q)1}; print REA''DY"
zpty -r typed seen "*READY*"
zpty -w -n typed "$2"$'\t\x01print -r -- GO""T \x05\n'
zpty -r typed seen $'*\nGOT *\n'
print -r -- "${seen##*$'\n'GOT }"
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed, and this asks a real one")
@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize(
    ("typed", "expected"),
    {
        "grap": "graph",
        "lab start co": "lab start colleague",
        "shell FE": "shell FEN",
        "fault inject link_silent node=FE": "fault inject link_silent node=FEN",
        "bundle her": "bundle here.txt",
    }.items(),
)
def test_a_real_zsh(typed: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "script").write_text(script("zsh"))
    (tmp_path / "here.txt").touch()
    argv = ["zsh", "-f", "-c", ZSH, "zsh", str(tmp_path / "script"), f"causeway {typed}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=60)
    assert done.stdout.split() == ["causeway", *expected.split()]


@pytest.mark.parametrize("shell", Shell)
def test_a_script_calls_this_checkouts_program_with_what_it_reads(shell: Shell) -> None:
    said = script(shell)
    assert f"_CAUSEWAY_COMPLETE=complete_{shell} " in said
    assert str(REPO / "bin/causeway") in said
