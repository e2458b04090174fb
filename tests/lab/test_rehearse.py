"""Changes are played as predicted, and taken back: commands in an order that hurts, a site's file, a way back."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from conftest import REPO, Tool

from causeway.report.rehearsal import QUESTIONS

CHANGES = REPO / "topologies" / "small" / "changes"


def rehearsed(tool: Tool, change: str, code: int, *words: str) -> dict[str, Any]:
    """What comes of a worked change of small, whose verdict must be this."""
    done = tool("rehearse", "small", "--change", str(CHANGES / change), *words, "--json")
    assert done.returncode == code, (done.stdout[-3000:], done.stderr)
    found = json.loads(done.stdout)
    assert [a for a in found["answers"] if a["question"] in ("prediction", "back", "commands", "sessions")] == []
    return dict(found)


def test_frames_that_become_larger_in_the_wrong_order_are_lost_on_the_way_alone(tool: Tool) -> None:
    found = rehearsed(tool, "jumbo-wrong.txt", 1)
    worse = [answer for answer in found["answers"] if answer["turn"] == "worse"]
    assert {answer["question"] for answer in worse} <= {"during", "computed"}
    during = [answer for answer in worse if answer["question"] == "during"]
    assert during and {answer["played"] for answer in during} == {"large packets are lost"}
    assert all(answer["predicted"].startswith("large packets are lost") for answer in during)
    better = {(a["before"], a["predicted"], a["played"]) for a in found["answers"] if a["question"] == "reach"}
    assert ("1500 bytes", "9000 bytes", "9000 bytes") in better
    (folder,) = (tool.folder / "runs").glob("2*")
    cases = ElementTree.parse(folder / "junit.xml").getroot()
    assert [case.get("name") for case in cases if len(case)] == [QUESTIONS["during"]]
    assert "large packets are lost" in (folder / "rehearsal.html").read_text()


def test_another_version_of_the_file_is_played_by_native_files_and_costs_seconds(tool: Tool) -> None:
    found = rehearsed(tool, "jumbo.yaml", 0)
    lost = [answer for answer in found["answers"] if answer["question"] == "lost"]
    assert any(answer["what"] == "pings lost during the change" for answer in lost)
    titles = [part["title"] for part in found["parts"]]
    assert "basin: its ports and channels" in titles and "back, quay1: /etc/network/interfaces" in titles


def test_who_is_left_without_a_way_back_is_found_and_given_it_back(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "back.txt").write_text("lark# ip route add 10.30.0.0/24 via 10.20.0.1\n")
    found = rehearsed(tool, "no-way-back.txt", 1, "--back", str(tmp_path / "back.txt"))
    (cut, *_) = (a for a in found["answers"] if a["question"] == "reach")
    assert (cut["turn"], cut["played"]) == ("worse", "no")
