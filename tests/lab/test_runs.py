"""Runs in virtual time: the shipped scenarios, their report, and that a seed repeats them."""

import json
from pathlib import Path

import pytest
import yaml
from conftest import BY_NIGHT, REPO, XE_ALONE, Played, Tool, daily

from causeway.docs import keep
from causeway.report.result import from_json
from causeway.wait import until
from tests.sites.played import wrong

#: How a key begins, in PEM.
PRIVATE = b"PRIVATE KEY"


def test_every_scenario_of_the_day_passes_on_jubl_but_those_of_xe(on_jubl: Played) -> None:
    run = on_jubl.run
    verdicts = {s["name"]: s["verdict"] for s in run["scenarios"] if s["name"] in daily()}
    assert verdicts == dict.fromkeys(daily(), "pass") | dict.fromkeys((*XE_ALONE, *BY_NIGHT), "skipped"), wrong(
        run, "jubl"
    )
    assert (run["lab"], run["lab_host"], run["clock"], run["seed"]) == ("jubl", "uml", "virtual", 1)


def test_those_pass_on_xe(on_xe: Played) -> None:
    for name in (*XE_ALONE, "as_drawn"):
        on_xe.passed(name)


@pytest.mark.parametrize("file", keep.extracts(), ids=lambda file: file.name)
def test_rates_that_others_have_published_are_found_again(on_jubl: Played, file: Path) -> None:
    """BadInput says which are not, in this run."""
    fresh = keep.refresh(json.loads(file.read_text()), from_json(on_jubl.run))
    assert fresh is not None and len(fresh["streams"]) == len(fresh["published"]["mbit"])


def test_the_report_is_kept_as_json_page_and_junit(on_jubl: Played) -> None:
    run, latest = on_jubl.run, on_jubl.tool.folder / "runs" / "latest"
    assert json.loads((latest / "report.json").read_text()) == run
    pages = {file.stem: file.read_text() for file in (latest / "scenarios").glob("*.html")}
    assert sorted(pages) == sorted(s["name"] for s in run["scenarios"])
    assert "<svg" in pages["channel_imbalance"] and "nsd01# " in pages["channel_imbalance"]
    assert 'href="scenarios/channel_imbalance.html"' in (latest / "report.html").read_text()
    assert f'tests="{len(run["scenarios"])}"' in (latest / "junit.xml").read_text()
    assert "nuttcp" in (latest / "transcript.txt").read_text()


def test_the_same_seed_gives_the_same_members_and_rates(on_small: Played, tool: Tool) -> None:
    done = tool("run", "channel_imbalance", "--lab", "small", "--seed", "1", "--json")
    (again,) = json.loads(done.stdout)["scenarios"]
    before = on_small.passed("channel_imbalance")
    for one, other in zip(before["comparisons"], again["comparisons"], strict=True):
        assert one["what"] == other["what"]
        if one["unit"] == "Mbit/s":
            assert other["measured"] == pytest.approx(one["measured"], rel=1e-3), one["what"]
        elif one["unit"] != "bytes":  # how long streams overlap at their start differs by milliseconds
            assert other["measured"] == one["measured"], one["what"]


def test_a_wrong_claim_fails_with_exit_code_1_and_evidence_without_private_keys(lab: Tool, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong_claim.py"
    wrong.write_text(
        '"""A claim that does not hold.\n\nClaim: nsd01 has five members.\n\nSource: none.\n"""\n\n\n'
        "def play(stage):\n"
        '    with stage.healthy("nsd01 has five members"):\n'
        '        text = stage.lab.on("nsd01", "cat", "/proc/net/bonding/bond0").must()\n'
        '        stage.same("members", 5, text.count("Slave Interface"))\n'
    )
    done = lab("run", str(wrong))  # in the lab that is up
    assert done.returncode == 1, done.stderr
    latest = lab.folder / "runs" / "latest"
    assert "expected 5, measured 4" in (latest / "scenarios" / "wrong_claim.html").read_text()
    kept = [file for file in latest.rglob("*") if file.is_file()]
    assert latest / "evidence" / "wrong_claim" / "nsd01" / "bonding.txt" in kept
    assert "Slave Interface: eth5" in (latest / "evidence" / "wrong_claim" / "nsd01" / "bonding.txt").read_text()
    assert [file for file in kept if PRIVATE in file.read_bytes()] == []


def test_a_second_run_in_the_lab_that_is_up_ends_at_once(lab: Tool, tmp_path: Path) -> None:
    waits = tmp_path / "waits.py"
    waits.write_text(
        '"""It waits.\n\nClaim: none.\n\nSource: none.\n"""\n\n\n'
        "def play(stage):\n"
        '    with stage.healthy("it waits"):\n'
        '        stage.lab.on("SN", "sh", "-c", "touch /tmp/waits; sleep 15").must()\n'
        '        stage.same("one", 1, 1)\n'
    )
    first = lab.start("run", str(waits))
    until("it waits", lambda: "" if "waits" in lab.on("SN", "ls", "/tmp") else "not yet", deadline_s=60)
    second = lab("run", "single_stream")
    assert (second.returncode, "another run plays in jubl; wait for its end" in second.stderr) == (2, True)
    first.communicate(timeout=120)
    lab.on("SN", "rm", "/tmp/waits")


@pytest.mark.night
def test_jumbo_frames_by_one_key_carry_990_mbit(tool: Tool) -> None:
    text = (REPO / "topologies" / "small" / "site.yaml").read_text()
    file = tool.folder / "jumbo.yaml"
    file.write_text(text.replace("lab: small", "lab: jumbo").replace("mtu: 1500", "mtu: 9000"))
    assert yaml.safe_load(file.read_text())["networks"]["sea"]["mtu"] == 9000
    (played,) = tool.json("run", "single_stream", "--lab", str(file), "--json")["scenarios"]
    rates = [c["measured"] for c in played["comparisons"] if c["unit"] == "Mbit/s"]
    assert played["verdict"] == "pass", played["why"]
    assert min(abs(rate / 990.04 - 1) for rate in rates) < 0.001, rates
