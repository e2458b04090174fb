"""Killed at any point, `causeway down` leaves nothing; and two labs at once do not disturb each other."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import Tool

from causeway.wait import until
from tests.kills import processes


def leftovers(tool: Tool) -> list[str]:
    """Processes that mention the tool's state folder or work in it, and what is in it."""
    state = tool.folder / "state"
    files = [str(p) for p in state.iterdir()] if state.exists() else []
    return processes(state) + files


def nothing_is_left(tool: Tool) -> None:
    """Wait for processes that are just ending: a killed kernel's own, by the host's kernel."""
    until("nothing is left", lambda: leftovers(tool), deadline_s=10)


def kernels(tool: Tool) -> list[str]:
    return [line for line in leftovers(tool) if "linux" in line]


def read_until(running: "subprocess.Popen[str]", sign: str) -> None:
    """Read what a command prints, up to a line with a sign, which must come while it runs."""
    assert running.stdout is not None
    seen = ""
    for line in running.stdout:
        seen += line
        if sign in line:
            break
    assert sign in seen and running.poll() is None, seen


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
    running = tool.start(*words, "small")
    read_until(running, sign)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert tool("down").returncode == 0
    came_up = sign == "single_stream: One"
    assert [row["site"] for row in tool.json("templates", "--json")] == ["small"] * came_up
    assert tool("templates", "--drop", "all").returncode == 0
    nothing_is_left(tool)
    assert mounts_and_loops() == before


def test_a_run_that_is_killed_takes_its_lab_host_with_it(tool: Tool) -> None:
    running = tool.start("run", "single_stream", "--lab", "small")
    read_until(running, "deploying")
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    until("no kernel runs", lambda: kernels(tool), deadline_s=10)


def test_down_twice_is_fine_and_so_is_down_without_a_lab(tool: Tool) -> None:
    assert tool("down").returncode == 0
    assert tool("down").returncode == 0
    nothing_is_left(tool)


def test_a_killed_launcher_ends_its_kernel_and_down_clears_the_rest(tool: Tool) -> None:
    assert tool("up", "small", "--quiet").returncode == 0
    os.kill(int((tool.folder / "state" / "small" / "launcher").read_text()), signal.SIGKILL)
    until("no kernel runs", lambda: kernels(tool), deadline_s=10)
    assert tool("status").returncode == 2
    assert tool("down").returncode == 0
    nothing_is_left(tool)


def test_an_interrupt_during_up_cleans_up_by_itself(tool: Tool) -> None:
    running = tool.start("up", "small")
    read_until(running, "creating")
    os.kill(running.pid, signal.SIGINT)
    assert running.wait(timeout=120) != 0
    nothing_is_left(tool)


@pytest.mark.night
def test_what_the_nodes_of_a_lab_say_that_does_not_come_up_is_kept(tool: Tool, tmp_path: Path) -> None:
    wrong = tmp_path / "overlay/pier/etc/network/interfaces"
    wrong.parent.mkdir(parents=True)
    wrong.write_text("auto eth0\niface eth0 inet static\n  address no-address\n")
    done = tool("up", "small", "--overlay", str(tmp_path / "overlay"))
    assert done.returncode == 3, done.stderr
    kept = tool.folder / "runs" / "broken-small"
    assert "pier is failed" in (kept / "why.txt").read_text()
    assert "10.30.0.11" in (kept / "quay1" / "ip-addr.json").read_text()
    assert "what the nodes say is kept in broken-small" in done.stderr
    nothing_is_left(tool)


def test_two_labs_at_once_do_not_disturb_each_other(lab: Tool) -> None:
    other = Tool(lab.folder)  # the same folders, as one user has them
    try:
        assert other("up", "small", "--quiet").returncode == 0
        _apart(lab, other)
    finally:  # the lab is other tests', too, who ask for the one that is up
        assert other("down", "small").returncode == 0
        assert other("templates", "--drop", "small").returncode == 0
    assert {n["state"] for n in lab.json("status", "--json")["nodes"]} == {"up"}
    assert "small" not in str(leftovers(lab))


def _apart(lab: Tool, other: Tool) -> None:
    first = json.loads(other("status", "--lab", "jubl", "--json").stdout)
    second = json.loads(other("status", "--lab", "small", "--json").stdout)
    assert (len(first["nodes"]), len(second["nodes"])) == (19, 8)
    look = f"mount -t hostfs -o hostfs={lab.folder}/state/jubl/now/share none /mnt && ls /mnt"
    seen = other("exec", "--lab", "small", "quay1", "--", "sh", "-c", look)
    assert seen.returncode == 2 and "Permission denied" in seen.stderr


#: Scenarios that pull a cable and wait, and that leave something behind.
PULLS = (
    '"""Pull a cable and wait.\n\nClaim: none.\n\nSource: none.\n"""\n'
    "from causeway.lab.faults import link_down\n"
    "def play(stage):\n"
    "    with stage.perturb('a cable is pulled'):\n"
    "        stage.make(link_down(stage.lab, 'quay1', 'eth2'))\n"
    "        stage.let_pass(10000, 'somebody may interrupt')\n"
)
LEAVES = (
    '"""Leave something behind.\n\nClaim: none.\n\nSource: none.\n"""\n'
    "def play(stage):\n"
    "    stage.defer(lambda: stage.lab.on('quay1', 'false').must(), 'a thing')\n"
)


def test_an_interrupted_run_is_undone_and_reported_and_a_lab_that_is_not_restored_plays_no_more(
    tool: Tool, tmp_path: Path
) -> None:
    def members_carry() -> int:
        (end,) = (end for end in tool.json("status", "--json")["channels"] if end["node"] == "quay1")
        return sum(member["up"] for member in end["members"])

    pulls, leaves, latest = tmp_path / "pulls.py", tmp_path / "leaves.py", tmp_path / "runs" / "latest" / "report.json"
    pulls.write_text(PULLS)
    leaves.write_text(LEAVES)
    assert tool("up", "small", "--quiet").returncode == 0
    for number in (signal.SIGINT, signal.SIGTERM):
        running = tool.start("run", str(pulls), "single_stream")
        until("a member is out", members_carry, enough=lambda count: count == 2, deadline_s=120, poll_s=1)
        os.kill(running.pid, number)
        assert running.wait(timeout=120) == 130
        until("all members carry", members_carry, enough=lambda count: count == 3, deadline_s=60, poll_s=1)
        assert [(s["verdict"], s["why"]) for s in json.loads(latest.read_text())["scenarios"]] == [
            ("skipped", "interrupted; Perturb: a cable is pulled"),
            ("skipped", "the run was interrupted before"),
        ]
    done = tool("run", str(leaves), "single_stream", "--json")
    assert done.returncode == 3
    why = "the lab was not restored"
    first, second = json.loads(done.stdout)["scenarios"]
    assert (first["verdict"], first["why"].startswith(f"{why}: a thing: ")) == ("broken", True)
    assert (second["verdict"], second["why"]) == ("broken", f"{why} after leaves")
    again = tool("run", "single_stream")
    assert again.returncode == 2 and "`causeway down small` and `causeway up` make a new one" in again.stderr
