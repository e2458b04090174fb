"""A lab's moments that are kept: what a launcher does for them, with kernels that say what ours says."""

import itertools
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from causeway.errors import BadInput, LabBroken
from causeway.hosts import asking, guests, memory
from causeway.hosts.checkpoints import BACK, DROP, LIST, MAKE, Checkpoints
from causeway.hosts.guests import Guest, ear, make_folder
from causeway.hosts.mailbox import submit
from causeway.hosts.memory import Room


def process() -> int:
    """A child that waits to be killed."""
    pid = os.fork()
    if pid == 0:
        signal.pause()
        os._exit(0)
    return pid


def _guest(words: str) -> str:
    return words.split()[0]


class Kernel:
    """What is at the other end of guests' ears. `deaf`: comes to no rest; `full`: has no room for a clone."""

    def __init__(self) -> None:
        self.deaf = self.full = False
        self.said: list[str] = []

    def has_heard(self, *words: str) -> bool:
        """These words, and none beside them, within a while: each guest in this order, for they hear side by side."""
        deadline = time.monotonic() + 10
        while len(self.said) < len(words) and time.monotonic() < deadline:
            time.sleep(0.005)
        return sorted(self.said, key=_guest) == sorted(words, key=_guest)

    def watch(self, end: socket.socket, folder: Path, *, rests: bool = False) -> None:
        threading.Thread(target=self._live, args=(end, folder, rests), daemon=True).start()

    def _live(self, end: socket.socket, folder: Path, rests: bool) -> None:
        while True:
            while not rests:
                if not folder.exists():
                    return
                if not self.deaf and (folder / "share/rest").exists():
                    (folder / "share/rest").unlink()
                    end.send(b"resting")
                    rests = True
                time.sleep(0.005)
            words, fds, _, _ = socket.recv_fds(end, 4096, 1)
            what, *pairs = words.decode().split("\n")
            self.said.append(f"{folder.name} {what}")
            if what != "clone":
                if not what:
                    return
                rests = False
            elif self.full:
                os.close(fds[0])
                end.send(b"failed -28 cannot copy the memory: No space left on device")
            else:
                assert pairs[0] == str(folder) and pairs[2:] == ["/dev/pts/7", "/dev/pts/7"]
                self.watch(socket.socket(fileno=fds[0]), Path(pairs[1]), rests=True)
                end.send(f"made {process()}".encode())


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    monkeypatch.setattr(memory, "room", lambda: Room({"/dev/shm": 1000}, 200))
    monkeypatch.setattr(memory, "taken_mib", lambda _: 700)
    monkeypatch.setattr(guests, "_REST_S", 0.5)
    return Kernel()


@pytest.fixture
def kept(kernel: Kernel, tmp_path: Path) -> Iterator[Checkpoints]:
    first = tmp_path / "guests" / "1"
    make_folder(first)
    (first / "share/env").write_text("X=1\n")
    (first / "share/docker.img").write_text("large")
    (first / "share/overlay/nsd01").mkdir(parents=True)
    ours, its = ear()
    kernel.watch(its, first)
    made = Checkpoints(tmp_path, Guest(first, process(), ours), ["/dev/pts/7"], itertools.count(2))
    yield made
    made.end()
    assert not list((tmp_path / "guests").iterdir())


def names(kept: Checkpoints) -> list[str]:
    return [row["name"] for row in kept.do(LIST, [])]


def test_a_lab_goes_on_when_a_moment_of_it_was_kept(kept: Checkpoints, kernel: Kernel, tmp_path: Path) -> None:
    before = kept.lab
    made = kept.do(MAKE, ["one"])
    assert (made["name"], made["memory_mib"]) == ("one", 700)
    assert kept.lab is before and (tmp_path / "now").resolve() == before.folder
    assert kernel.has_heard("1 clone", "1 go")
    assert names(kept) == ["one"]
    assert sorted(place.name for place in (tmp_path / "guests/2/share").iterdir()) == ["env", "jobs", "overlay"]


def test_back_is_a_clone_of_that_moment_as_often_as_one_likes(
    kept: Checkpoints, kernel: Kernel, tmp_path: Path
) -> None:
    kept.do(MAKE, ["one"])
    for number in ("3", "4"):
        submit(kept.lab.share, ["exec", "all", "--", "sleep", "1000"])
        before = kept.lab
        gone = kept.do(BACK, ["one"])
        assert gone["cut_off"] == ["exec all -- sleep 1000"]
        assert kept.lab.folder == tmp_path / "guests" / number == (tmp_path / "now").resolve()
        assert (tmp_path / "pid").read_text() == f"{kept.lab.pid}\n"
        assert not before.folder.exists() and not before.process.exists()
        assert not list((kept.lab.share / "jobs").iterdir())
    assert kernel.has_heard("1 clone", "1 go", "2 clone", "3 go", "2 clone", "4 go")
    kept.do(MAKE, ["two"])
    assert names(kept) == ["one", "two"]
    assert [row["name"] for row in kept.do(DROP, ["one"])] == ["two"]
    assert not (tmp_path / "guests/2").exists()


def test_a_name_that_is_taken_or_not_there_is_refused(kept: Checkpoints, kernel: Kernel) -> None:
    with pytest.raises(BadInput, match="there is no checkpoint one; there are: none"):
        kept.do(BACK, ["one"])
    kept.do(MAKE, ["one"])
    assert kernel.has_heard("1 clone", "1 go")
    with pytest.raises(BadInput, match="there is a checkpoint one already; `causeway checkpoints --drop one`"):
        kept.do(MAKE, ["one"])
    for what in (BACK, DROP):
        with pytest.raises(BadInput, match="there is no checkpoint two; there are: one"):
            kept.do(what, ["two"])
    assert kernel.said == ["1 clone", "1 go"]


def test_a_newer_command_does_an_older_lab_no_harm(kept: Checkpoints) -> None:
    with pytest.raises(BadInput, match="another version, which knows no clone"):
        kept.do("clone", ["one"])


def test_no_moment_is_kept_in_the_middle_of_a_command(kept: Checkpoints, kernel: Kernel) -> None:
    submit(kept.lab.share, ["shell", "nsd01"], terminal="ttyS0")  # which may be under way
    job = submit(kept.lab.share, ["run", "channel_imbalance"])
    with pytest.raises(BadInput, match="`causeway run channel_imbalance` is under way in the lab"):
        kept.do(MAKE, ["one"])
    assert not kernel.said
    (job.folder / "rc").write_text("0")
    kept.do(MAKE, ["one"])


def test_too_little_memory_is_refused_with_the_sum_before_anything_is_done(
    kept: Checkpoints, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.do(MAKE, ["one"])
    assert kernel.has_heard("1 clone", "1 go")
    monkeypatch.setattr(memory, "taken_mib", lambda _: 801)
    for what, name in ((MAKE, "two"), (BACK, "one")):
        with pytest.raises(BadInput) as caught:
            kept.do(what, [name])
        assert str(caught.value) == (
            "a clone of this lab takes 801 MiB of memory, 800 are left: free: 1000 MiB in /dev/shm; "
            "of that 200 MiB are promised to labs that run"
        )
    assert kernel.said == ["1 clone", "1 go"]


def test_a_clone_that_cannot_be_made_leaves_nothing_and_the_lab_goes_on(
    kept: Checkpoints, kernel: Kernel, tmp_path: Path
) -> None:
    kernel.full = True
    with pytest.raises(BadInput, match="cannot be cloned, and goes on as it was: -28 cannot copy the memory"):
        kept.do(MAKE, ["one"])
    assert kernel.has_heard("1 clone", "1 go")
    assert names(kept) == [] and [place.name for place in (tmp_path / "guests").iterdir()] == ["1"]
    kernel.full = False
    kept.do(MAKE, ["one"])


def test_a_lab_that_comes_to_no_rest_is_told_and_asked_no_more(kept: Checkpoints, kernel: Kernel) -> None:
    kernel.deaf = True
    with pytest.raises(LabBroken, match="did not come to rest"):
        kept.do(MAKE, ["one"])
    assert not (kept.lab.share / "rest").exists()
    kernel.deaf = False
    kept.do(MAKE, ["one"])


@pytest.mark.parametrize("error", [BadInput, LabBroken])
def test_who_asks_a_launcher_gets_its_answer_or_its_error(error: type[Exception], tmp_path: Path) -> None:
    heard: list[tuple[str, list[str]]] = []
    here = Path.cwd()
    listener = asking.listen(tmp_path)

    def launcher() -> None:
        for said in ({"done": [1]}, {error.__name__: "why"}, None):
            client = listener.accept()[0]
            heard.append(asking.hear(client))
            if said:
                asking.answer(client, said)
            client.close()

    threading.Thread(target=launcher, daemon=True).start()
    assert asking.ask(tmp_path, MAKE, "one") == [1]
    with pytest.raises(error, match=r"^why$"):
        asking.ask(tmp_path, BACK, "two")
    with pytest.raises(LabBroken, match="the lab host ended"):
        asking.ask(tmp_path, LIST)
    assert heard == [(MAKE, ["one"]), (BACK, ["two"]), (LIST, [])]
    listener.close()
    with pytest.raises(LabBroken, match="does not answer"):
        asking.ask(tmp_path, LIST)
    assert Path.cwd() == here
