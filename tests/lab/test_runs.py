"""Runs in virtual time: the shipped scenarios, their report, and that a seed repeats them."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import REPO, Tool, without_filesystems
from test_jubl import stream_mbit


@pytest.fixture(scope="module")
def tool_and_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tool, Any]:
    tool = Tool(tmp_path_factory.mktemp("virtual"))
    done = tool("run", "--clock", "virtual", "--seed", "1", "--json", timeout_s=2700)
    assert done.stdout, done.stderr
    return tool, json.loads(done.stdout)  # whatever its verdicts are, which a test of its own judges


def test_every_shipped_scenario_passes(tool_and_run: tuple[Tool, Any]) -> None:
    _, run = tool_and_run
    shipped = [file.stem for file in sorted((REPO / "scenarios").glob("*.py"))]
    assert {s["name"]: (s["verdict"], s["why"]) for s in run["scenarios"]} == dict.fromkeys(shipped, ("pass", ""))
    assert (run["lab"], run["lab_host"], run["clock"], run["seed"]) == ("jubl", "uml", "virtual", 1)


def test_the_report_is_kept_as_json_page_and_junit(tool_and_run: tuple[Tool, Any]) -> None:
    tool, run = tool_and_run
    latest = tool.folder / "runs" / "latest"
    assert json.loads((latest / "report.json").read_text()) == run
    pages = {file.stem: file.read_text() for file in (latest / "scenarios").glob("*.html")}
    assert sorted(pages) == sorted(s["name"] for s in run["scenarios"])
    assert "<svg" in pages["channel_imbalance"] and "nsd01# " in pages["channel_imbalance"]
    assert 'href="scenarios/channel_imbalance.html"' in (latest / "report.html").read_text()
    assert f'tests="{len(run["scenarios"])}"' in (latest / "junit.xml").read_text()
    assert "nuttcp" in (latest / "transcript.txt").read_text()


def test_the_same_seed_gives_the_same_members_and_rates(tool_and_run: tuple[Tool, Any]) -> None:
    tool, first = tool_and_run
    site = without_filesystems(tool.folder)  # which makes no difference to a stream
    second = tool.json("run", "channel_imbalance", "--lab", site, "--seed", "1", "--json")
    for one, other in zip(comparisons(first, "channel_imbalance"), comparisons(second), strict=True):
        assert one["what"] == other["what"]
        if one["unit"] == "Mbit/s":
            assert other["measured"] == pytest.approx(one["measured"], rel=1e-3), one["what"]
        elif one["unit"] != "bytes":  # how long streams overlap at their start differs by milliseconds
            assert other["measured"] == one["measured"], one["what"]


def comparisons(run: Any, scenario: str = "") -> list[Any]:
    """Those of the scenario, or of the only one."""
    (found,) = (s for s in run["scenarios"] if scenario in ("", s["name"]))
    return list(found["comparisons"])


def test_a_wrong_claim_fails_with_exit_code_1_and_evidence_and_what_a_lab_has_not_is_skipped(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    wrong = tmp_path / "wrong_claim.py"
    wrong.write_text(
        '"""A claim that does not hold.\n\nClaim: nsd01 has five members.\n\nSource: none.\n"""\n\n\n'
        "def play(stage):\n"
        '    with stage.judge("nsd01 has five members"):\n'
        '        text = stage.lab.on("nsd01", "cat", "/proc/net/bonding/bond0").must()\n'
        '        stage.compare("members", 5, text.count("Slave Interface"), "members", 0)\n'
    )
    site = without_filesystems(tmp_path)
    done = tool("run", str(wrong), "startup_touch_file", "--lab", site, "--io-nodes", "1")
    assert done.returncode == 1, done.stderr
    latest = tmp_path / "runs" / "latest"
    assert "expected 5 members, measured 4" in (latest / "scenarios" / "wrong_claim.html").read_text()
    assert "Slave Interface: eth5" in (latest / "evidence" / "wrong_claim" / "nsd01" / "bonding.txt").read_text()
    _, other = json.loads((latest / "report.json").read_text())["scenarios"]
    assert (other["verdict"], other["why"]) == ("skipped", "jubl has no filesystems, and this takes one")


@pytest.mark.parametrize("clock", ["virtual", "paced"])
def test_jumbo_frames_by_one_key_carry_990_mbit(tool: Tool, tmp_path: Path, clock: str) -> None:
    site = without_filesystems(tmp_path, "jumbo", mtu="9000")
    if clock == "paced":
        assert tool("up", site, "--io-nodes", "2", "--quiet").returncode == 0
        assert abs(stream_mbit(tool) / 990.04 - 1) < 0.001
    else:
        tool("run", "single_stream", "--lab", site, "--io-nodes", "2")
        run = json.loads((tmp_path / "runs" / "latest" / "report.json").read_text())
        assert (run["scenarios"][0]["verdict"], run["scenarios"][0]["why"]) == ("pass", "")
        rates = {c["what"]: c["measured"] for c in comparisons(run)}
        assert abs(rates["one stream, nsd01 transmits"] / 990.04 - 1) < 0.001
