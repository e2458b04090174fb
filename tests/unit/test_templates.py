"""Labs that stay at rest for others to be made of them: what makes one another, and which of them go."""

import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causeway import folders
from causeway.cli import tables
from causeway.errors import BadInput
from causeway.hosts import asking, disk, launcher, memory, templates
from causeway.hosts.guests import Guest, ear, make_folder
from causeway.hosts.launcher import Launcher
from causeway.hosts.memory import Room
from causeway.hosts.uml import UmlHost
from causeway.lab.deploy import Deployment
from causeway.wait import until


@pytest.fixture
def wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    """A site with an overlay, in a checkout of two files."""
    for name in ("causeway/lab.py", "nodes/base/start"):
        (tmp_path / "repo" / name).parent.mkdir(parents=True)
        (tmp_path / "repo" / name).write_text(name)
    monkeypatch.setattr(folders, "REPO", tmp_path / "repo")
    monkeypatch.setattr(templates.artefacts.Artefact, "key", "0123")
    monkeypatch.setenv("CAUSEWAY_RUNS", str(tmp_path / "runs"))
    (tmp_path / "site.yaml").write_text("name: x\n")
    (tmp_path / "overlay/nsd01/etc").mkdir(parents=True)
    (tmp_path / "overlay/nsd01/etc/hosts").write_text("one")
    return Deployment(tmp_path / "site.yaml", {"ionodes": 2}, tmp_path / "overlay", "paced")


CHANGES: dict[str, Callable[[Path, Deployment], Deployment]] = {
    "another site": lambda top, old: (_write(top / "site.yaml", "name: y\n"), old)[1],
    "another number": lambda _, old: replace(old, counts={"ionodes": 3}),
    "no number": lambda _, old: replace(old, counts=None),
    "another clock": lambda _, old: replace(old, clock="virtual"),
    "no overlay": lambda _, old: replace(old, overlay=None),
    "another file in it": lambda top, old: (_write(top / "overlay/nsd01/etc/hosts", "two"), old)[1],
    "another mode": lambda top, old: ((top / "overlay/nsd01/etc/hosts").chmod(0o600), old)[1],
    "a link": lambda top, old: ((top / "overlay/nsd01/etc/link").symlink_to("hosts"), old)[1],
    "another tool": lambda top, old: (_write(top / "repo/causeway/lab.py", "new"), old)[1],
    "another start script": lambda top, old: (_write(top / "repo/nodes/base/start", "new"), old)[1],
}


def _write(file: Path, text: str) -> None:
    file.write_text(text)


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_template_is_made_of_makes_it_another(what: str, wanted: Deployment, tmp_path: Path) -> None:
    before = templates.key(wanted, 4096)
    assert templates.key(wanted, 4096) == before != templates.key(wanted, 2048)
    assert templates.key(CHANGES[what](tmp_path, wanted), 4096) != before


def test_images_and_where_results_go_make_it_another_and_what_python_leaves_does_not(
    wanted: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = templates.key(wanted, 4096)
    (tmp_path / "repo/causeway/__pycache__").mkdir()
    (tmp_path / "repo/causeway/__pycache__/lab.pyc").write_text("x")
    assert templates.key(wanted, 4096) == before
    monkeypatch.setattr(templates.artefacts.Artefact, "key", "4567")
    other = templates.key(wanted, 4096)
    monkeypatch.setenv("CAUSEWAY_RUNS", str(tmp_path / "elsewhere"))
    assert len({before, other, templates.key(wanted, 4096)}) == 3


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Templates by name, and when they were used; each holds 1000 MiB of the 10000 that there are."""
    used = {"jubl": "12:00", "small": "10:00", "xe": "11:00"}

    def ask(one: UmlHost, what: str) -> Any:
        if what == asking.ABOUT:
            return {"site": one.name, "memory_mib": 1000, "used": used[one.name]}
        assert what == asking.END
        return used.pop(one.name) and None

    monkeypatch.setattr(templates, "every", lambda: [UmlHost(Path(name)) for name in used])
    monkeypatch.setattr(UmlHost, "about", property(lambda one: {"lab": one.name, "key": one.name}))
    monkeypatch.setattr(UmlHost, "ask", ask)
    monkeypatch.setattr(memory, "room", lambda: Room({"/dev/shm": 10000 - 1000 * len(used)}, 0))
    monkeypatch.setattr(templates, "_FREED_S", 0)
    return used


def test_a_lab_that_needs_the_memory_gets_that_of_the_template_unused_for_longest(kept: dict[str, str]) -> None:
    said: list[str] = []
    templates.make_room(5600, said.append)
    assert sorted(kept) == ["jubl", "small", "xe"] and not said  # four fifths of 7000
    templates.make_room(5601, said.append)
    assert sorted(kept) == ["jubl", "xe"]
    assert said == ["ended the template of small, for its 1000 MiB of memory"]
    templates.make_room(9000, said.append, but=UmlHost(Path("jubl")))
    assert sorted(kept) == ["jubl"]


def test_they_are_listed_by_use_and_dropped_by_site(kept: dict[str, str]) -> None:
    assert [row["site"] for row in templates.rows()] == ["small", "xe", "jubl"]
    with pytest.raises(BadInput, match="there is no template of large; there are: jubl, small, xe"):
        templates.drop("large")
    templates.drop("xe")
    assert sorted(kept) == ["jubl", "small"]
    templates.drop("all")
    templates.drop("all")
    assert not kept


def test_the_table_says_what_was_counted() -> None:
    row = {"site": "jubl", "clock": "paced", "counts": {"ionodes": 2}, "made": "a", "used": "b", "labs": 1}
    table = tables.templates([row | {"memory_mib": 5}])
    assert [list(column.cells) for column in table.columns] == [
        ["jubl, ionodes=2"], ["paced"], ["a"], ["b"], ["1"], ["5"],
    ]  # fmt: skip


# A launcher with a kernel that is none.


class Kernel:
    """What is at the other end of the ears: it makes clones, and says who went on."""

    def __init__(self) -> None:
        self.went_on: list[str] = []

    def live(self, end: socket.socket, folder: Path) -> None:
        threading.Thread(target=self._live, args=(end, folder), daemon=True).start()

    def _live(self, end: socket.socket, folder: Path) -> None:
        while True:
            try:
                words, fds, _, _ = socket.recv_fds(end, 16384, 1)
            except ConnectionResetError:
                return
            what, *pairs = words.decode().split("\n")
            if what == "clone":
                self.pairs = dict(zip(pairs[::2], pairs[1::2], strict=True))
                self.live(socket.socket(fileno=fds[0]), Path(pairs[1]))
                end.send(f"made {_process()}".encode())
            elif what == "go":
                self.went_on.append(folder.name)
            else:
                return


def _process() -> int:
    """A child that waits to be killed."""
    pid = os.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import signal; signal.pause()"])
    return pid


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


@pytest.fixture
def at_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: Kernel) -> Iterator[Launcher]:
    """A launcher in a thread, whose template has come up."""
    state = tmp_path / "state"
    folder = state / "templates" / "one"
    make_folder(folder / "guests" / "1")
    (folder / "console").touch()
    (folder / "launcher").write_text(f"{os.getpid()}\n")
    about = {"lab": "small", "clock": "paced", "counts": None, "key": "k", "memory_mib": 4000}
    (folder / "about.json").write_text(json.dumps(about))
    ours, its = ear()
    its.send(b"resting")
    kernel.live(its, folder / "guests" / "1")
    nobody, starter = os.pipe()
    monkeypatch.setattr(launcher, "_STARTER", nobody)
    monkeypatch.setattr(launcher.signal, "signal", lambda *_: None)
    monkeypatch.chdir(tmp_path)  # and back: a launcher goes to its folder
    monkeypatch.setattr(launcher, "_idlest_cpu", lambda: min(os.sched_getaffinity(0)))
    monkeypatch.setattr(Launcher, "_wanted", lambda _: True)
    monkeypatch.setattr(Launcher, "_start", lambda _: Guest(folder / "guests" / "1", _process(), ours))
    monkeypatch.setattr(memory, "room", lambda: Room({"/dev/shm": 5000}, 0))
    monkeypatch.setattr(disk, "lacking", list)
    yield Launcher(folder)
    os.close(starter)


@pytest.fixture
def template(at_rest: Launcher, tmp_path: Path) -> Iterator[Path]:
    """Its folder, and that it is at rest. In the end nothing is left of it."""
    folder = tmp_path / "state/templates/one"
    thread = threading.Thread(target=at_rest.run, daemon=True)
    thread.start()
    until("it listens", lambda: "" if (folder / "launcher.sock").exists() else "not yet", deadline_s=10)
    asking.ask(folder, asking.KEEP)
    assert (folder / "keep").exists()
    yield folder
    thread.join(20)
    assert not thread.is_alive() and not folder.exists()


def a_lab(template: Path) -> tuple[socket.socket, Any]:
    lab = template.parents[1] / "small"
    client = asking.connect(template, asking.LAB, str(lab), '{"lab": "small"}')
    return client, asking.said(template, client)


def gone(place: Path) -> None:
    until(f"{place} is gone", lambda: "" if not place.exists() else "not yet", deadline_s=10)


def test_a_lab_is_a_clone_with_a_folder_and_lines_of_its_own_and_may_outlive_the_template(
    template: Path, kernel: Kernel
) -> None:
    lab = template.parents[1] / "small"
    client, said = a_lab(template)
    assert said["why"] == "" and not kernel.went_on
    assert json.loads((lab / "about.json").read_text()) == {"lab": "small"}
    assert (lab / "now").resolve() == template / "guests/2"
    own = {old: new for old, new in kernel.pairs.items() if old != new}
    assert own.pop(str(template / "guests/1")) == str(template / "guests/2")
    assert len(own) == 4 and all(word.startswith("/proc/self/fd/") for word in (*own, *own.values()))
    with pytest.raises(BadInput, match="small is up already"):
        a_lab(template)
    asking.ask(lab, asking.STAY)
    client.close()
    assert asking.ask(template, asking.ABOUT)["labs"] == 1
    asking.ask(template, asking.END)
    until("the clone goes on", lambda: "" if kernel.went_on == ["2"] else f"{kernel.went_on}", deadline_s=10)
    assert UmlHost(lab).running()
    assert asking.ask(lab, "checkpoints") == []
    with pytest.raises(BadInput, match="is no template any more"):
        asking.ask(template, asking.ABOUT)
    UmlHost(lab).end(graceful_s=0)
    assert not lab.exists()


def test_who_asked_for_a_lab_and_is_gone_takes_it_along_but_not_the_template(template: Path) -> None:
    client, _ = a_lab(template)
    asking.ask(template.parents[1] / "small", asking.GO)
    client.close()
    gone(template.parents[1] / "small")
    assert asking.ask(template, asking.ABOUT)["labs"] == 0
    asking.ask(template, asking.END)


def test_who_is_gone_before_the_clone_is_made_gets_no_lab_nor_is_one_seen(
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    is_gone = threading.Event()

    def make(*given: object) -> None:
        made.append(given)
        raise OSError

    def lacks_for(_: int) -> str:  # asked just before the clone is made
        assert is_gone.wait(10)
        return ""

    monkeypatch.setattr(launcher.Lab, "of_a_template", make)
    monkeypatch.setattr(memory, "lacks_for", lacks_for)
    asking.connect(template, asking.LAB, str(template.parents[1] / "small"), '{"lab": "small"}').close()
    is_gone.set()
    assert asking.ask(template, asking.ABOUT)["labs"] == 0
    assert not made and not (template / "guests/2").exists()
    asking.ask(template, asking.END)


def test_where_memory_is_short_the_template_itself_becomes_the_lab_with_the_sum(
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "room", lambda: Room({"/dev/shm": 4999}, 0))
    client, said = a_lab(template)
    sum_ = "a lab of it may take 4000 MiB of memory; a lab host may have 3999 MiB (free: 4999 MiB in /dev/shm)"
    assert said["why"] == sum_
    assert not (template / "keep").exists()
    lab = template.parents[1] / "small"
    assert (lab / "now").resolve() == template / "guests/1"
    asking.ask(lab, asking.GO)
    client.close()
    gone(lab)


def test_one_that_nobody_uses_ends_by_itself(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, _ = a_lab(template)
    monkeypatch.setattr(launcher, "_UNUSED_S", 0.3)
    asking.ask(template, asking.ABOUT)  # it looks anew
    gone(template / "keep")
    lab = template.parents[1] / "small"
    assert UmlHost(lab).running()  # which was made of it
    client.close()
    gone(lab)
