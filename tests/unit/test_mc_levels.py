"""mcgetstate -L: the level of each node's software, and whether nodes have several."""

import argparse
import json
import shutil
from pathlib import Path

import pytest

from mc import config as configuration
from mc import daemons, states
from mc.config import Config, Node
from mc.drivers import gluster
from tests.unit.mc_node import HERE, configured

AWAY = Node(2, "FEN-b", "127.0.0.2", "nonquorum")
CONFIG = configured("blue.example", "0", HERE.name, nodes=[HERE, AWAY])
OLD, NEW = "glusterfs 11.1, mc 0a1b2c3d", "glusterfs 11.1, mc 4e5f6a7b"


@pytest.fixture
def software(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """These commands, installed elsewhere, on a node with a GlusterFS."""
    root = tmp_path / "mc"
    shutil.copytree(states.ROOT, root, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(states, "ROOT", root)
    monkeypatch.setattr(gluster, "level", lambda: "glusterfs 11.1")
    return root


@pytest.mark.parametrize("file", ["mc/table.py", "mc/drivers/gluster.py", "filter/brick", "bin/mc"])
def test_a_byte_of_any_command_is_another_level(file: str, software: Path) -> None:
    before = states.level_here(CONFIG)
    assert before.startswith("glusterfs 11.1, mc ")
    text = (software / file).read_bytes()
    (software / file).write_bytes(text + b"\n")
    assert states.level_here(CONFIG) != before
    (software / file).write_bytes(text)
    assert states.level_here(CONFIG) == before


def test_what_python_has_compiled_is_no_part_of_a_level(software: Path) -> None:
    before = states.level_here(CONFIG)
    (software / "mc" / "__pycache__").mkdir()
    (software / "mc" / "__pycache__" / "table.pyc").write_bytes(b"0")
    assert states.level_here(CONFIG) == before


def test_another_release_of_the_driver_is_another_level(software: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert software.is_dir()
    before = states.level_here(CONFIG)
    monkeypatch.setattr(gluster, "level", lambda: "glusterfs 12.0")
    assert states.level_here(CONFIG).partition(",")[2] == before.partition(",")[2]
    assert states.level_here(CONFIG) != before


def show(monkeypatch: pytest.MonkeyPatch, found: list[dict[str, str]], *, levels: bool, as_json: bool) -> list[str]:
    """`mcgetstate -a` where the nodes answer so; returns how they were asked."""
    asked: list[str] = []

    def ask(_: Config, __: list[Node], command: str) -> list[list[dict[str, str]] | None]:
        asked.append(command)
        return [[said] if said else None for said in found]

    monkeypatch.setattr(configuration, "load", lambda: CONFIG)
    monkeypatch.setattr(states, "ask", ask)
    daemons.show_states(argparse.Namespace(all=True, nodes=None, levels=levels, json=as_json))
    return asked


MIXED = [{"state": "active", "level": NEW}, {"state": "active", "level": OLD}]


def test_nodes_of_two_levels_are_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(monkeypatch, MIXED, levels=True, as_json=False)[0].split() == ["mcgetstate", "--json", "-L"]
    *_, first, second, blank, last = capsys.readouterr().out.splitlines()
    assert (first.split()[1], second.split()[1], blank) == ("SN-b", "FEN-b", "")
    assert first.endswith(NEW)
    assert second.endswith(OLD)
    assert last == "the nodes have software of 2 levels"


@pytest.mark.parametrize("away", [MIXED[0], {}], ids=["of the same level", "not reached"])
def test_nothing_is_told_where_all_that_answer_have_one(
    away: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show(monkeypatch, [MIXED[0], away], levels=True, as_json=False)
    assert "levels" not in capsys.readouterr().out


def test_programs_get_the_levels_as_json_and_who_does_not_ask_gets_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show(monkeypatch, MIXED, levels=True, as_json=True)
    assert [row["level"] for row in json.loads(capsys.readouterr().out)] == [NEW, OLD]
    without = [{"state": "active"}, {}]
    assert show(monkeypatch, without, levels=False, as_json=True)[0].split() == ["mcgetstate", "--json"]
    rows = json.loads(capsys.readouterr().out)
    assert [(row["state"], "level" in row) for row in rows] == [("active", False), ("unknown", False)]
