"""Two at the same moment: runs in one lab, first calls of the command line, labs that come up."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from causeway.cli import app, lessons
from causeway.errors import BadInput, LabBroken
from causeway.folders import REPO, site_file
from causeway.hosts import alone, host, memory, uml
from causeway.hosts.guests import make_folder
from causeway.lab.deploy import Deployment
from causeway.lessons.notes import Notes
from causeway.model.load import load_site
from tests.unit.here import here

#: A Python that makes an environment slowly, and says so.
_PYTHON = """#!/bin/sh
[ "$1" = -c ] && exit 0
echo made >>"$LOG"
mkdir -p "$3/bin"
sleep 0.3
for name in pip python; do
	printf '#!/bin/sh\\n:\\n' >"$3/bin/$name"
	chmod +x "$3/bin/$name"
done
"""


def test_one_run_at_a_time_plays_in_a_lab(tmp_path: Path) -> None:
    again = pytest.raises(BadInput, match="another run plays in jubl; wait for its end")
    with here(tmp_path).playing(), again, here(tmp_path).playing():
        pytest.fail("two of them")
    with here(tmp_path).playing():
        """The first one has ended."""


def test_of_first_calls_at_once_one_makes_the_environment_and_all_use_it(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python3.13"
    python.parent.mkdir()
    python.write_text(_PYTHON)
    python.chmod(0o755)
    env = os.environ | {
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "CAUSEWAY_CACHE": str(tmp_path / "cache"),
        "LOG": str(tmp_path / "log"),
    }

    def calls(number: int) -> list[int]:
        argv = [str(REPO / "bin/causeway"), "--help"]
        begun = [subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL) for _ in range(number)]
        return [process.wait(120) for process in begun]

    assert calls(4) == [0] * 4
    assert (tmp_path / "log").read_text() == "made\n"
    (made,) = (tmp_path / "cache").glob("python-*")
    (made / "bin" / "python").unlink()  # as a link whose target an upgrade has removed
    assert calls(1) == [0]
    assert (tmp_path / "log").read_text() == "made\nmade\n"


def test_what_one_command_makes_is_not_swept_by_another_that_comes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAUSEWAY_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("CAUSEWAY_CACHE", str(tmp_path / "cache"))
    half, go_on = threading.Event(), threading.Event()
    made = tmp_path / "state" / "templates" / "small-virtual-1"

    def slow(*_: object) -> uml.UmlHost:
        """As uml.start makes one: its folder is there a while before somebody holds its lock."""
        make_folder(made / "guests" / "1")
        half.set()
        assert go_on.wait(120)
        raise LabBroken("enough")

    monkeypatch.setattr(host.templates, "begin", slow)
    monkeypatch.setattr(host.templates, "make_room", lambda *_: None)
    wanted, small = Deployment(site_file("small"), None, None, "virtual"), load_site(site_file("small"))

    def make() -> None:
        with pytest.raises(LabBroken):
            host.template(wanted, small, print)

    making = threading.Thread(target=make)
    making.start()
    assert half.wait(120)
    sweeping = threading.Thread(target=host.sweep)
    sweeping.start()
    sweeping.join(0.5)
    assert sweeping.is_alive() and made.exists()
    go_on.set()
    making.join(20)
    sweeping.join(20)
    assert not made.exists(), "now it is left behind"


def test_of_two_labs_at_once_the_second_sees_what_the_first_was_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each looks at the sum and takes its part of it before the other looks."""
    monkeypatch.setattr(memory, "FOLDER", tmp_path)
    promised: list[int] = []
    seen: list[int] = []

    class Asked(uml.UmlHost):
        """A template, and a launcher that has its labs go on."""

        @property
        def about(self) -> dict[str, Any]:
            return {"lab": "small", "clock": "paced", "counts": None, "memory_mib": 4000, "key": "k"}

        def ask(self, *_: str) -> None:
            time.sleep(0.1)
            promised.append(4000)

        def running(self) -> bool:
            return False

    @contextmanager
    def connect(*_: object) -> Iterator[None]:
        yield

    def said(*_: object) -> dict[str, str]:
        seen.append(sum(promised))
        time.sleep(0.1)
        return {"why": "", "made": "2026-01-01T00:00:00+00:00"}

    (tmp_path / "pid").write_text("1\n")
    monkeypatch.setenv("CAUSEWAY_STATE", str(tmp_path / "state"))
    for name in ("ask", "running"):
        monkeypatch.setattr(uml.UmlHost, name, vars(Asked)[name])
    monkeypatch.setattr(host.templates.asking, "connect", connect)
    monkeypatch.setattr(host.templates.asking, "said", said)
    monkeypatch.setattr(memory, "room", lambda: memory.Room({"/dev/shm": 100_000}, 0))

    def one() -> None:
        with host.templates.a_lab(Asked(tmp_path), "a", lambda _: None) as lab:
            lab.ask("stay")
            time.sleep(0.2)  # it goes on to hold the lab, and the others need not wait for that

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert seen == [0, 4000, 8000]


@pytest.mark.parametrize(
    ("words", "waits"),
    [
        (["checkpoint", "x"], True),
        (["back", "x"], True),
        (["checkpoints"], False),
        (["lab", "reset"], True),
        (["lab", "solve"], True),
        (["lab", "start", "routes"], True),
    ],
)
def test_a_clone_is_not_made_while_a_lab_takes_its_part_of_the_memory(
    words: list[str], waits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Known:
        name, process, about = "small", Path("/proc/self"), {"lab": "small"}
        share = folder = tmp_path / "lab"

        def ask(self, *words: str) -> Any:
            if words == ("checkpoints",) and "lab" in asked:
                return []
            raise BadInput("it is asked")

        def do(self, *_: object) -> int:
            return 0

        def site(self) -> Any:
            return self

    asked = words
    Known.folder.mkdir()
    on = Notes("routes", 1, 1, tasks=1) if words[-1] in ("reset", "solve") else None
    monkeypatch.setattr(lessons.notes, "read", lambda _: on)
    monkeypatch.setattr(memory, "FOLDER", tmp_path)
    monkeypatch.setattr(alone, "_PATIENCE_S", 0.1)
    monkeypatch.setattr(host, "with_checkpoints", lambda _: Known())
    said: list[str] = []
    monkeypatch.setattr(app, "tell", said.append)
    monkeypatch.setenv("CAUSEWAY_RUNS", str(tmp_path / "runs"))
    with alone.alone(tmp_path):
        assert app.main(words) == 2
    assert ("it is asked" in said) is not waits
    assert app.main(words) == 2 and "it is asked" in said[-1]


def test_who_holds_what_others_wait_for_too_long_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alone, "_PATIENCE_S", 0.1)
    again = pytest.raises(BadInput, match=r"held .* for 0.1 s; `lslocks` says which")
    with alone.alone(tmp_path), again, alone.alone(tmp_path):
        pytest.fail("two of them")
    with alone.alone(tmp_path):
        """The first one has ended."""
    with pytest.raises(BadInput, match="cannot be opened: No such file"), alone.alone(tmp_path / "not there"):
        pytest.fail("nobody holds that")


def test_a_lab_kernel_counts_when_it_runs_and_is_not_at_rest(tmp_path: Path) -> None:
    pid, process = tmp_path / "pid", tmp_path / "7"
    process.mkdir()
    assert not memory.counts(pid, tmp_path)
    pid.write_text("7\n")
    for name, runs in (("linux-at-rest", False), ("linux", True)):
        (process / "comm").write_text(f"{name}\n")
        assert memory.counts(pid, tmp_path) is runs
