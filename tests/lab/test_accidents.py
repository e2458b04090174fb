"""Killed at any point, `causeway down` leaves nothing; and two labs at once do not disturb each other."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import Tool, without_filesystems

from causeway.lab.wait import until


def leftovers(tool: Tool) -> list[str]:
    """Processes that mention the tool's state folder, and what is in it."""
    state = str(tool.folder / "state")
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if state in command:
                processes.append(f"{entry.name} {command[:200]}")
    files = [str(p) for p in Path(state).iterdir()] if Path(state).exists() else []
    return processes + files


def kernels(tool: Tool) -> list[str]:
    return [line for line in leftovers(tool) if "linux" in line]


def read_until(running: "subprocess.Popen[str]", sign: str) -> None:
    """Read what a command prints, up to a line with a sign."""
    assert running.stdout is not None
    for line in running.stdout:
        if sign in line:
            break


def mounts_and_loops() -> str:
    loops = subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=False).stdout
    return Path("/proc/mounts").read_text() + loops


@pytest.mark.parametrize(
    ("words", "sign"),
    [
        (("up",), "deploying"),
        (("up",), "creating"),
        (("run", "single_stream", "--lab"), "single_stream: One"),
    ],
    ids=["booting", "deploying", "running"],
)
def test_sigkill_of_the_tool_and_then_down_leaves_nothing(tool: Tool, words: tuple[str, ...], sign: str) -> None:
    before = mounts_and_loops()
    running = tool.start(*words, without_filesystems(tool.folder), "--io-nodes", "2")
    read_until(running, sign)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert tool("down").returncode == 0
    assert leftovers(tool) == []
    assert mounts_and_loops() == before


def test_a_run_that_is_killed_takes_its_lab_host_with_it(tool: Tool) -> None:
    running = tool.start("run", "single_stream", "--lab", "jubl", "--io-nodes", "2")
    read_until(running, "deploying")
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    until("no kernel runs", lambda: " ".join(kernels(tool)), deadline_s=10)
    assert not kernels(tool)


def test_down_twice_is_fine_and_so_is_down_without_a_lab(tool: Tool) -> None:
    assert tool("down").returncode == 0
    assert tool("down").returncode == 0
    assert leftovers(tool) == []


def test_a_killed_launcher_ends_its_kernel_and_down_clears_the_rest(tool: Tool) -> None:
    assert tool("up", without_filesystems(tool.folder), "--io-nodes", "1", "--quiet").returncode == 0
    os.kill(int((tool.folder / "state" / "jubl" / "launcher").read_text()), signal.SIGKILL)
    until("no kernel runs", lambda: " ".join(kernels(tool)), deadline_s=10)
    assert not kernels(tool)
    assert tool("status").returncode == 2
    assert tool("down").returncode == 0
    assert leftovers(tool) == []


def test_an_interrupt_during_up_cleans_up_by_itself(tool: Tool) -> None:
    running = tool.start("up", "--io-nodes", "1")
    read_until(running, "creating")
    os.kill(running.pid, signal.SIGINT)
    assert running.wait(timeout=120) != 0
    assert leftovers(tool) == []


def test_two_labs_at_once_do_not_disturb_each_other(lab: Tool, tmp_path: Path) -> None:
    site = without_filesystems(tmp_path, "second")
    other = Tool(lab.folder)  # the same folders, as one user has them
    assert other("up", site, "--io-nodes", "1", "--quiet").returncode == 0
    first = json.loads(other("status", "--lab", "jubl", "--json").stdout)
    second = json.loads(other("status", "--lab", "second", "--json").stdout)
    assert (len(first["nodes"]), len(second["nodes"])) == (19, 12)
    assert other("down", "second").returncode == 0
    assert {n["state"] for n in lab.json("status", "--json")["nodes"]} == {"up"}
    assert "second" not in str(leftovers(lab))
