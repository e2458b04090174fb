"""Labs that have come up once and stay at rest: what is made of them, what that takes, and that nothing is left."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import PLAYS, Tool
from test_accidents import leftovers

from causeway.report.agreement import differences
from causeway.wait import until

#: What is another one in each run, or tells of the machine: not what was measured in the lab.
OF_THE_MACHINE = {"id", "started", "wall_s", "fell_behind_s", "made_of"}
#: Two scenarios, one of them the tests' own.
NAMES = ("single_stream", str(PLAYS / "as_drawn.py"))


def timed(tool: Tool, *words: str) -> float:
    """How long a command takes, which must succeed."""
    begun = time.monotonic()
    done = tool(*words)
    assert done.returncode == 0, done.stderr
    took_s = time.monotonic() - begun
    print(f"{' '.join(words)}: {took_s:.1f} s")
    return took_s


def templates(tool: Tool) -> list[dict[str, Any]]:
    return list(tool.json("templates", "--json"))


def labs(tool: Tool) -> list[str]:
    """Those that are up, or about to be."""
    return [file.parent.name for file in (tool.folder / "state").glob("*/launcher")]


def test_a_lab_that_was_up_once_is_up_again_in_seconds_and_as_new(tool: Tool) -> None:
    first_s = timed(tool, "up", "small", "--quiet")
    (kept,) = templates(tool)
    assert (kept["site"], kept["clock"], kept["labs"]) == ("small", "paced", 1)
    assert kept["memory_mib"] > 100
    assert f"{kept['memory_mib']} MiB of memory, for small" in " ".join(tool("doctor", "--json").stdout.split())
    before = tool.json("status", "--json")
    tool.on("quay1", "sh", "-c", "echo spoilt >/root/word; ip link set bond0 down")
    timed(tool, "down")
    again_s = timed(tool, "up", "small", "--quiet")
    assert again_s < first_s
    date = float(tool.on("quay1", "date", "+%s.%N"))
    assert time.time() - 60 < date < time.time() + 1  # a busy machine has the lab in slow motion
    assert tool.json("status", "--json") == before
    assert tool("exec", "quay1", "--", "test", "-e", "/root/word").returncode == 1
    assert tool("checkpoint", "one").returncode == 0
    tool.on("quay1", "sh", "-c", "echo spoilt >/root/word")
    assert tool("back", "one").returncode == 0
    assert tool("exec", "quay1", "--", "test", "-e", "/root/word").returncode == 1
    # what is dropped takes no lab along
    assert tool("templates", "--drop", "large").returncode == 2
    assert tool("templates", "--drop", "small").returncode == 0
    assert templates(tool) == []
    assert tool.json("status", "--json") == before
    assert tool("down").returncode == 0
    assert leftovers(tool) == []


def test_a_killed_launcher_takes_the_template_and_its_labs_along_and_down_clears_the_rest(tool: Tool) -> None:
    assert tool("up", "small", "--quiet").returncode == 0
    os.kill(int((tool.folder / "state/small/launcher").read_text()), signal.SIGKILL)
    until("no kernel runs", lambda: " ".join(one for one in leftovers(tool) if "linux" in one), deadline_s=10)
    assert templates(tool) == []
    assert tool("down").returncode == 0
    assert leftovers(tool) == []


def measured(what: Any, at: str = "") -> dict[str, Any]:
    """Every number and word of a run's report, by where it is."""
    if isinstance(what, dict):
        parts = ((str(key), part) for key, part in what.items() if key not in OF_THE_MACHINE)
    elif isinstance(what, list):
        parts = ((str(number), part) for number, part in enumerate(what))
    else:
        return {at: what}
    return {place: value for key, part in parts for place, value in measured(part, f"{at}/{key}").items()}


def by_name(run: Any) -> dict[str, dict[str, Any]]:
    """What was measured in each scenario, in whatever order they were played."""
    return {scenario["name"]: measured(scenario) for scenario in run["scenarios"]}


def wrong(*runs: Any) -> list[str]:
    """What of two runs' scenarios is not as alike as they say (see `report.agreement`)."""
    return [f"{one.where}: {one.values} {one.wrong}" for one in differences(runs) if one.wrong]


def run_of(tool: Tool, seed: int, *more: str) -> Any:
    begun = time.monotonic()
    run = tool.json("run", *more, "--lab", "small", "--seed", str(seed), "--json")
    print(f"run with seed {seed}: {time.monotonic() - begun:.1f} s")
    assert {scenario["verdict"] for scenario in run["scenarios"]} == {"pass"}
    return run


@pytest.mark.night
def test_clones_of_one_template_are_equal_to_the_last_digit_alone_and_side_by_side(tool: Tool) -> None:
    """Not of each day: once, with other labs beside, two were not, by 0.03 %, and it is not known why."""
    alone = by_name(run_of(tool, 6, NAMES[0])) | by_name(run_of(tool, 6, NAMES[1]))
    for _ in range(2):
        assert by_name(run_of(tool, 6, *NAMES, "--jobs", "2")) == alone


def test_two_runs_of_one_template_are_alike_with_one_seed_and_drawn_anew_with_another(
    tool: Tool, tmp_path: Path
) -> None:
    first = run_of(tool, 5, *NAMES)
    assert wrong(first, run_of(tool, 5, *NAMES)) == []
    # side by side each has a clone: as if it were alone
    both = run_of(tool, 6, *NAMES, "--jobs", "2")
    assert [scenario["name"] for scenario in both["scenarios"]] == ["as_drawn", "single_stream"]
    drawn, anew = measured(first), measured(both)
    assert {place for place in drawn if drawn[place] != anew.get(place)} > {"/seed"}
    assert wrong({"scenarios": both["scenarios"][1:]}, run_of(tool, 6, "single_stream")) == []
    parts = tool.folder / "runs" / both["id"] / "parts"
    assert len(list(parts.glob("*/load.json"))) == 2
    assert all((row["clock"], row["labs"]) == ("virtual", 0) for row in templates(tool))
    # an overlay makes another one
    (tmp_path / "overlay/quay1/etc").mkdir(parents=True)
    (tmp_path / "overlay/quay1/etc/motd").write_text("mine\n")
    run_of(tool, 5, "route_asymmetric", "--overlay", str(tmp_path / "overlay"))
    # an interrupt ends what plays, and leaves no lab; beside other labs one may play at a time, and be the template
    running = tool.start("run", *NAMES, "--jobs", "2", "--lab", "small")
    until("they play", lambda: labs(tool), enough=bool, deadline_s=120, poll_s=0.2)
    os.kill(running.pid, signal.SIGINT)
    assert running.wait(timeout=120) == 130
    assert labs(tool) == []
    assert {row["labs"] for row in templates(tool)} <= {0}
    assert tool("down").returncode == 0
