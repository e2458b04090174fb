"""Changes are played as predicted, and taken back: commands in an order that hurts, a site's file, a way back."""

import json
import shutil
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import REPO, Tool

from causeway.report.rehearsal import QUESTIONS
from tests import forge

CHANGES = REPO / "topologies" / "small" / "changes"


def as_predicted(found: Any) -> dict[str, Any]:
    """What came of a change, which must be as predicted, and as before in the end."""
    assert [a for a in found["answers"] if a["question"] in ("prediction", "back", "commands", "sessions")] == []
    return dict(found)


def rehearsed(tool: Tool, change: str, code: int, *words: str) -> dict[str, Any]:
    """What comes of a worked change of small, whose verdict must be this."""
    done = tool("rehearse", "small", "--change", str(CHANGES / change), *words, "--json")
    assert done.returncode == code, (done.stdout[-3000:], done.stderr)
    return as_predicted(json.loads(done.stdout))


def test_frames_that_become_larger_in_the_wrong_order_are_lost_and_a_forge_is_told(tool: Tool) -> None:
    project = tool.folder / "project"
    (project / "changes").mkdir(parents=True)
    for name in ("bin", "docs"):
        (project / name).symlink_to(REPO / name)
    shutil.copy(REPO / "topologies" / "small" / "site.yaml", project / "site.yaml")
    shutil.copy(CHANGES / "jumbo-wrong.txt", project / "changes" / "next.txt")
    with forge.forge(forge.GITLAB) as at:
        done = forge.run_job(project, at, tool.env, ready=True)
    assert done.returncode == 1, (done.stdout[-3000:], done.stderr)
    (comment,) = at.comments
    assert comment.startswith("**next.txt on small: regression**")
    assert "| worse | reaches after line 2: ip link set bond0 mtu 9000 | yes | large packets are lost" in comment

    (folder,) = (project / "runs").glob("2*")
    found = as_predicted(json.loads((folder / "rehearsal.json").read_text()))
    worse = [answer for answer in found["answers"] if answer["turn"] == "worse"]
    assert {answer["question"] for answer in worse} <= {"during", "computed"}
    during = [answer for answer in worse if answer["question"] == "during"]
    assert during and {answer["played"] for answer in during} == {"large packets are lost"}
    assert all(answer["predicted"].startswith("large packets are lost") for answer in during)
    better = {(a["before"], a["predicted"], a["played"]) for a in found["answers"] if a["question"] == "reach"}
    assert ("1500 bytes", "9000 bytes", "9000 bytes") in better
    cases = ElementTree.parse(folder / "junit.xml").getroot()
    assert [case.get("name") for case in cases if len(case)] == [QUESTIONS["during"]]
    assert "large packets are lost" in (folder / "rehearsal.html").read_text()


def test_another_version_of_the_file_is_played_by_native_files_and_costs_seconds(tool: Tool) -> None:
    found = rehearsed(tool, "jumbo.yaml", 0)
    lost = [answer for answer in found["answers"] if answer["what"] == "pings lost during the change"]
    assert any(answer["played"] != "0.0 s" for answer in lost)
    titles = [part["title"] for part in found["parts"]]
    assert "basin: its ports and channels" in titles and "back, quay1: /etc/network/interfaces" in titles


@pytest.mark.night
def test_who_is_left_without_a_way_back_is_found_and_given_it_back_one_by_one(tool: Tool) -> None:
    back = tool.folder / "back.txt"
    back.write_text("lark# ip route add 10.30.0.0/24 via 10.20.0.1\n")
    found = rehearsed(tool, "no-way-back.txt", 1, "--back", str(back), "--one-by-one")
    (cut, *_) = (a for a in found["answers"] if a["question"] == "reach")
    assert (cut["turn"], cut["played"]) == ("worse", "no")
    (told,) = (part["found"] for part in found["parts"] if part["title"] == "line 2: ip route del 10.30.0.0/24")
    assert told == "lark: route 10.30.0.0/24 via 10.20.0.1 dev eth0: yes > -"
    (page,) = (tool.folder / "runs").glob("2*/rehearsal.html")
    assert told.replace(">", "&gt;") in page.read_text()
    lost = [answer for answer in found["answers"] if answer["what"] == "pings lost during the change"]
    assert [answer["played"] for answer in lost] == ["0.0 s"]  # of those who can talk afterwards
