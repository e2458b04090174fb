"""`watch` on a lab that is up: one look as JSON, and the live screen as tmux shows it to a person."""

import json
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CAUSEWAY, Tool

from causeway.folders import site_file
from causeway.model.load import load_site

JUBL, SMALL = load_site(site_file("jubl")), load_site(site_file("small"))
#: How long a person waits for a machine that is busy with other things, in seconds of wall time.
PATIENCE_S = 120
#: How many looks say what one costs.
LOOKS = 8


class Pane:
    """A terminal of 80 columns and 24 lines in which a command runs."""

    def __init__(self, socket: Path, command: str, env: dict[str, str]) -> None:
        self._tmux = ["tmux", "-S", str(socket)]
        wanted = {key: env[key] for key in ("CAUSEWAY_STATE", "CAUSEWAY_RUNS")}
        words = shlex.join(["env", *(f"{key}={value}" for key, value in wanted.items()), "bash", "-c", command])
        subprocess.run([*self._tmux, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", words], check=True)

    def shows(self) -> str:
        return subprocess.run([*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout

    def wait_for(self, *texts: str) -> str:
        deadline = time.monotonic() + PATIENCE_S
        while not all(text in (seen := self.shows()) for text in texts):
            assert time.monotonic() < deadline, f"{texts} did not come; the screen:\n{seen}"
            time.sleep(0.1)
        return seen

    def interrupt(self) -> None:
        subprocess.run([*self._tmux, "send-keys", "C-c"], check=True)

    def end(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False)


@pytest.fixture
def pane(lab: Tool, tmp_path: Path) -> Iterator[Pane]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed, and this looks at a terminal in it: apt-get install tmux")
    found = Pane(tmp_path / "tmux", f"{CAUSEWAY} watch; echo ended with $?; sleep 600", lab.env)
    yield found
    found.end()


def test_one_look_has_all_of_a_sound_lab(lab: Tool) -> None:
    look = lab.json("watch", "--once", "--json")
    assert look["lab"] == "jubl" and look["clock"] == "paced"
    assert look["nodes"].keys() == JUBL.nodes.keys()
    assert all(state.startswith("up") for state in look["nodes"].values()), look["nodes"]
    ends = [(end.node, end.name) for _, end, _ in JUBL.channel_ends()]
    assert [(end["node"], end["name"]) for end in look["channels"]] == ends
    assert all(end["negotiated"] and all(end["members"].values()) for end in look["channels"]), look["channels"]
    status = lab.json("status", "--json")
    assert look["mounts"] == {row["name"]: row["mounted_on"] for row in status["filesystems"]}
    assert look["faults"] == [] and look["not_restored"] == []
    assert len(look["links"]) == 2 * len(JUBL.cables)
    assert [link for link in look["links"] if link["now_mbit"] is None] == []  # a switch's ports are many
    assert 60 * look["took_s"] < PATIENCE_S


@pytest.mark.night
def test_it_costs_less_than_2_percent_of_the_labs_time(lab: Tool) -> None:
    watching = lab.start("watch", "--json")
    assert watching.stdout is not None
    try:
        looks = [(json.loads(watching.stdout.readline()), time.monotonic()) for _ in range(LOOKS)]
    finally:
        watching.send_signal(signal.SIGINT)
        assert watching.wait(timeout=PATIENCE_S) == 0
    took_s, passed_s = sum(look["took_s"] for look, _ in looks[1:]), looks[-1][1] - looks[0][1]
    print(f"{LOOKS - 1} looks of {took_s / (LOOKS - 1):.3f} s in {passed_s:.1f} s")
    assert took_s < 0.02 * passed_s


def test_the_screen_follows_a_fault_and_ctrl_c_ends_it(lab: Tool, pane: Pane) -> None:
    sound = pane.wait_for(f"nodes up: {len(JUBL.nodes)} of {len(JUBL.nodes)}", "faults: none", "links, the busiest")
    assert "DOWN" not in sound
    assert lab("fault", "inject", "link_down", "node=nsd01", "device=eth2").returncode == 0
    try:
        pane.wait_for("link_down", "nsd01:bond0 to ", "DOWN eth2")
    finally:
        assert lab("fault", "clear").returncode == 0
    pane.wait_for("faults: none", "channels with all members")
    pane.interrupt()
    assert "interrupted" not in pane.wait_for("ended with 0")


@pytest.mark.night
def test_beside_a_run_in_virtual_time_it_shows_what_is_played(tool: Tool) -> None:
    run = tool.start("run", "hash_policies", "channel_imbalance", "--lab", "small", "--clock", "virtual")
    full: list[str] = []
    deadline = time.monotonic() + PATIENCE_S
    while run.poll() is None and not full:
        assert time.monotonic() < deadline, "no cable was seen to be more than half full"
        once = tool("watch", "--once", "--json")
        if once.returncode == 0 and once.stdout:  # there is a lab, and it has not ended meanwhile
            look = json.loads(once.stdout)
            assert (look["lab"], look["clock"], look["nodes"].keys()) == ("small", "virtual", SMALL.nodes.keys())
            full = [link["from"] for link in look["links"] if (link["now_mbit"] or 0) > link["rate_mbit"] / 2]
    said, _ = run.communicate(timeout=600)
    assert (run.returncode, bool(full)) == (0, True), said
