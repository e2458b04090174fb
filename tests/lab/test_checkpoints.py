"""Moments of a lab that people keep: what is as it was, what cannot be, and that nothing is left of them."""

import os
import signal
from pathlib import Path

from conftest import CAUSEWAY, Tool
from test_shell import PATIENCE_S, Typist

from causeway.wait import until

#: A file in memory, one in a container's layer on the lab's disk, one in the shared filesystem, and what runs.
STORE = 'echo "$1" >/dev/shm/word; echo "$1" >/root/word; sync'
TELL = "cat /dev/shm/word /root/word"


def seen(lab: Tool) -> list[str]:
    return lab.on("nsd01", "sh", "-c", TELL).split()


def kernels(tool: Tool, name: str) -> list[int]:
    """The lab's kernel, its clones and, where it is kept, the template that all are of: the launcher's children."""
    launcher = int((tool.folder / "state" / name / "launcher").read_text())
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    return [int(child) for child in children]


def test_back_all_is_as_it_was_and_the_lab_goes_on(lab: Tool) -> None:
    lab.on("nsd01", "sh", "-c", STORE, "sh", "before")
    sleeper = lab.on("nsd01", "sh", "-c", "sleep 100000 >/dev/null 2>&1 & echo $!").strip()
    before = lab.json("status", "--json")
    assert lab("checkpoint", "sound").returncode == 0
    assert seen(lab) == ["before", "before"]
    for word in ("one", "two"):
        lab.on("nsd01", "sh", "-c", STORE, "sh", word)
        lab.on("nsd01", "kill", sleeper)
        lab.on("nsd01", "ip", "link", "set", "bond0", "down")
        (made,) = lab.json("checkpoints", "--json")
        assert made["name"] == "sound" and made["memory_mib"] > 100
        done = lab("back", "sound")
        assert done.returncode == 0, done.stderr
        assert "back at sound" in done.stderr
        assert seen(lab) == ["before", "before"]
        assert lab.on("nsd01", "cat", f"/proc/{sleeper}/comm") == "sleep\n"
        assert lab.json("status", "--json") == before
    assert len(kernels(lab, "jubl")) == 2
    done = lab("run", "route_return_missing")  # addresses, routes and ssh all over the lab
    assert done.returncode == 0, done.stdout
    assert lab("checkpoints", "--drop", "sound").returncode == 0
    assert lab.json("checkpoints", "--json") == []
    assert len(kernels(lab, "jubl")) == 1


def test_shells_go_on_at_a_checkpoint_and_end_when_the_lab_goes_back(lab: Tool) -> None:
    typist = Typist([str(CAUSEWAY), "shell", "nsd01"], lab.env)
    typist.wait_for("nsd01")
    assert lab("checkpoint", "with_a_shell").returncode == 0
    typist.ask("echo $((40 + 2))", "42")
    assert lab("back", "with_a_shell").returncode == 0
    typist.wait_for("the lab has gone back to a checkpoint")
    assert typist.process.wait(timeout=PATIENCE_S) == 3
    # it is hung up in the lab, too, and its line is free
    for _ in range(5):
        other = Typist([str(CAUSEWAY), "shell", "nsd01"], lab.env)
        other.wait_for("nsd01")
        other.ask("echo $((40 + 3))", "43")
        other.leave("exit 4", 4)
    assert lab("checkpoints", "--drop", "with_a_shell").returncode == 0


def _last(jobs: Path) -> str:
    """What was asked for last."""
    return "".join(file.read_text() for file in sorted(jobs.glob("*/request"))[-1:])


def test_what_cannot_be_is_refused_and_changes_nothing(lab: Tool) -> None:
    before = kernels(lab, "jubl")
    running = lab.start("exec", "nsd01", "--", "sleep", "1000")
    try:
        asked = lab.folder / "state/jubl/now/share/jobs"
        until("it is asked for", lambda: "" if "sleep" in _last(asked) else "not yet", deadline_s=PATIENCE_S)
        done = lab("checkpoint", "half_way")
        assert (done.returncode, "`causeway exec nsd01 -- sleep 1000` is under way" in done.stderr) == (2, True)
    finally:
        os.killpg(running.pid, signal.SIGINT)
        running.wait(timeout=PATIENCE_S)
    for words, said in (
        (("back", "nowhere"), "there is no checkpoint nowhere; there are: none"),
        (("checkpoints", "--drop", "nowhere"), "there is no checkpoint nowhere"),
        (("checkpoint", "a/b"), "use letters, digits"),
    ):
        done = lab(*words)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert kernels(lab, "jubl") == before


def test_a_killed_launcher_takes_its_checkpoints_along_and_down_leaves_nothing(tool: Tool) -> None:
    assert tool("up", "small", "--quiet").returncode == 0
    assert tool("checkpoint", "one").returncode == 0
    assert tool("back", "one").returncode == 0
    assert tool("checkpoint", "two").returncode == 0
    mine = kernels(tool, "small")
    assert len(mine) == 4
    os.kill(int((tool.folder / "state/small/launcher").read_text()), signal.SIGKILL)
    until("its kernels end", lambda: " ".join(str(p) for p in mine if Path(f"/proc/{p}").exists()), deadline_s=10)
    assert tool("checkpoints").returncode == 2
    assert tool("down").returncode == 0
    assert not list((tool.folder / "state").iterdir())
