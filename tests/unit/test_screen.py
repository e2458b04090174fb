"""What commands print: in 80 columns, and without colours where NO_COLOR asks for that."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console

from causeway.cli import lasting, screen, tables
from causeway.cli.app import app, main
from causeway.folders import REPO, sites
from causeway.hosts import mailbox
from tests.unit.test_cli import COSTS

COMMANDS = sorted(typer.main.get_command(app()).commands)  # type: ignore[attr-defined]
LONG = "R00-M0-NC-3-with-a-name-as-long-as-names-may-be-and-no-place-to-fold-it"
MEMBERS = [{"name": f"eth{number}", "up": True} for number in range(12)]
STATUS: dict[str, Any] = {
    "lab": "x" * 31,
    "lab_host": "native",
    "not_restored": ["boot_order: a thing"],
    "clock": "virtual",
    "nodes": [{"name": LONG, "cluster": LONG, "role": LONG, "state": "up"}],
    "links": [{"a": LONG, "b": LONG, "network": "network", "rate_mbit": [100000, 100000], "mtu": 9216, "up": False}],
    "channels": [
        {"node": LONG, "name": "bond0", "peer": LONG, "mode": "802.3ad", "hash_policy": "layer3+4", "members": MEMBERS}
        | {"negotiated": False}
    ],
    "filesystems": [
        {"name": LONG, "owner": LONG, "servers": [LONG] * 9, "mounted_on": [LONG] * 40, "mount_point": f"/{LONG}"}
    ],
}


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAUSEWAY_LAB_HOST", raising=False)
    for name in ("STATE", "RUNS"):
        monkeypatch.setenv(f"CAUSEWAY_{name}", str(tmp_path / name.lower()))


def too_long(text: str, columns: int = 80) -> list[str]:
    return [line for line in text.splitlines() if len(line) > columns]


PRINTED = [["doctor"], ["fault", "list"], *(["run", "--list", "--lab", site] for site in sites())]


@pytest.mark.parametrize(
    "words", [*PRINTED, ["--help"], ["fault", "inject", "--help"], *([c, "--help"] for c in COMMANDS)], ids=" ".join
)
def test_what_a_command_prints_fits_80_columns(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(words)
    out, err = capsys.readouterr()
    assert out and not err
    assert too_long(out) == []


def test_tables_fit_80_columns_and_cut_nothing_off() -> None:
    console = Console(width=80, record=True, file=open(os.devnull, "w"))
    for table in (*tables.status(STATUS), tables.bench([COSTS | {"counts": {"io": 288}}] * 4)):
        console.print(table)
    said = console.export_text()
    assert too_long(said) == []
    assert "…" not in said


def test_a_narrower_or_wider_terminal_is_heeded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for columns in (40, 120):
        monkeypatch.setattr(screen, "out", Console(width=columns, soft_wrap=True, highlight=False))
        screen.show("word " * 60, indent=4)
        longest = max(map(len, capsys.readouterr().out.splitlines()))
        assert columns - 5 <= longest <= columns


def test_what_goes_wrong_is_one_line_for_those_who_search_and_folded_on_a_terminal() -> None:
    assert len(on_terminal(["graph", "no/such/file/" + "with-a-long-name/" * 4]).splitlines()) > 1
    done = subprocess.run([REPO / "bin/causeway", "graph", "no/" + "long/" * 30], capture_output=True, text=True)
    assert len(done.stderr.splitlines()) == 1


def on_terminal(words: list[str], **env: str) -> str:
    """What a command shows on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    keep = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS")}
    child = subprocess.Popen(
        [REPO / "bin/causeway", *words], stdin=theirs, stdout=theirs, stderr=theirs,
        env=keep | {"TERM": "xterm-256color", "COLUMNS": "80"} | env,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    while True:
        try:
            said += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    child.wait()
    os.close(ours)
    return said.decode()


def test_a_result_for_a_file_is_not_shown_beside_the_progress_on_the_terminal() -> None:
    ours, theirs = pty.openpty()
    program = "from causeway.cli.screen import *\nwith progress() as say:\n say('at it')\n print_json({'a': 1})"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=theirs, cwd=REPO, text=True)
    os.close(theirs)
    assert json.loads(done.stdout) == {"a": 1}
    assert b"at it" in os.read(ours, 65536)
    os.close(ours)


#: SGR with a colour: 30 to 49 and 90 to 107, alone or after others; bold and dim are no colours.
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d|10\d)(?:;\d+)*m")


@pytest.mark.parametrize("words", [["--help"], ["fault", "list"]], ids=" ".join)
def test_no_color_is_heeded(words: list[str]) -> None:
    said = on_terminal(words, NO_COLOR="1")
    assert said
    assert not COLOUR.search(said)


def test_colours_would_be_found() -> None:
    assert COLOUR.search(on_terminal(["--help"]))
    assert COLOUR.search("\x1b[1;31mx") and not COLOUR.search("\x1b[1mx\x1b[0m")


#: The lab host's own console is a terminal; what a job prints is not for it.
_LAB_HOST = """
import sys
from pathlib import Path
from rich.text import Text
from causeway.cli import app, screen, serve
from causeway.hosts import agent

def shows(words):
    screen.out.print(Text("passed", "bold green"))
    screen.show("word " * 60)
    screen.err.print(Text("worse", "bold red"))
    return 0

agent.SHARE, app.main = Path(sys.argv[1]), shows
agent.Agent(serve.do, lambda: True).serve()
"""


@pytest.mark.parametrize(
    ("seen", "out", "err", "columns"),
    [
        ("80 colours", "passed", "worse", 80),
        ("80 colours err", "passed", "\x1b[1;31mworse\x1b[0m", 80),
        ("120 colours out err", "\x1b[1;32mpassed\x1b[0m", "\x1b[1;31mworse\x1b[0m", 120),
        ("40 plain out", "\x1b[1mpassed\x1b[0m", "worse", 40),
    ],
)
def test_what_a_lab_host_prints_is_as_it_is_seen_outside(
    seen: str, out: str, err: str, columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "_seen", lambda: seen)
    job = mailbox.submit(tmp_path, ["lab", "check"])
    (tmp_path / "poweroff").touch()
    _, console = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")} | {"TERM": "linux"}
    argv = [sys.executable, "-c", _LAB_HOST, str(tmp_path)]
    subprocess.run(argv, stdin=console, stdout=console, stderr=console, env=env, cwd=REPO, timeout=60, check=True)
    said, *words = (job.folder / "out").read_text().splitlines()
    assert (job.rc, said, (job.folder / "err").read_text()) == (0, out, f"{err}\n")
    assert columns - 5 <= max(map(len, words)) <= columns


def test_a_job_is_told_how_it_is_seen(tmp_path: Path) -> None:
    program = "import sys, json; from pathlib import Path; from causeway.hosts import mailbox as m; "
    program += (
        f"job = m.submit(Path({str(tmp_path)!r}), []); print(json.loads((job.folder / 'request').read_text())['seen'])"
    )
    ours, theirs = pty.openpty()
    env = {"PYTHONPATH": str(REPO), "TERM": "xterm", "COLUMNS": "100"}
    argv = [sys.executable, "-c", program]
    subprocess.run(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=env, check=True)
    assert os.read(ours, 1000).decode().split() == ["100", "colours", "out", "err"]
    for more, said in (({"TERM": "dumb"}, "100 colours"), ({"NO_COLOR": "1"}, "100 plain err")):
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=theirs, env=env | more, text=True, check=True)
        assert done.stdout.strip() == said


def test_what_takes_its_time_is_said_with_what_it_took_last_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAUSEWAY_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(lasting, "monotonic", iter([0.0, 41.6, 50.0, 60.0, 0.0]).__next__)

    def said(key: str) -> str:
        with lasting.told("looking", "lessons-small", key):
            pass
        return capsys.readouterr().err.strip()

    assert said("one") == "looking"
    assert said("other") == "looking"
    with pytest.raises(KeyboardInterrupt), lasting.told("looking", "lessons-small", "one"):
        raise KeyboardInterrupt
    assert capsys.readouterr().err.strip() == "looking (42 s last time)"
    (tmp_path / "runs" / "lessons-small.json").write_text("half of")
    monkeypatch.setattr(lasting, "monotonic", lambda: 0.0)
    assert said("one") == "looking"
