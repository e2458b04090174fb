"""The pages of docs/ and the README say what the tool is now."""

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from causeway import docs
from causeway.cli import app
from causeway.labhost.folders import REPO
from mc import main as mc_main

README = (REPO / "README.md").read_text()
MAKEFILE = (REPO / "Makefile").read_text()


def drift(wanted: dict[str, str], present: dict[str, str]) -> list[str]:
    """The pages that are not what the generator writes, missing and left-over ones included."""
    return sorted(name for name in wanted | present if wanted.get(name) != present.get(name))


def test_the_pages_are_what_the_generator_writes() -> None:
    differing = drift(docs.pages(), docs.stored())
    assert not differing, f"docs/ is behind: {', '.join(differing)}; run `make docs`"


def test_a_changed_a_missing_and_a_left_over_page_are_found_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs, "DOCS", tmp_path)
    docs.write()
    assert drift(docs.pages(), docs.stored()) == []
    (tmp_path / "commands.md").write_text("changed")
    (tmp_path / "labs" / "jubl.md").unlink()
    (tmp_path / "scenarios" / "gone.md").write_text("its scenario is no more")
    (tmp_path / "written-by-hand.md").write_text("stays")
    assert drift(docs.pages(), docs.stored()) == ["commands.md", "labs/jubl.md", "scenarios/gone.md"]
    docs.write()
    assert drift(docs.pages(), docs.stored()) == []
    assert (tmp_path / "written-by-hand.md").exists()


def test_steps_are_the_sentences_of_the_stage_in_the_order_of_the_file() -> None:
    scenario = """
def play(stage):
    with stage.healthy("all is well"):
        stage.compare("no step", 1, 1, "", 0)
    for policy in POLICIES:
        with stage.perturb(f"nsd01 sends by {policy}"):
            judge(stage, "no step either")
    with stage.restore(
        "as before"
    ):
        pass
"""
    assert docs.steps(ast.parse(scenario)) == [
        ("Healthy", "all is well"),
        ("Perturb", "nsd01 sends by {policy}"),
        ("Restore", "as before"),
    ]


def test_every_scenario_has_a_page_with_claim_source_and_all_phases() -> None:
    for file in (REPO / "scenarios").glob("*.py"):
        page = docs.scenario_page(file)
        for part in ("**Claim.**", "**Source.**", "| Healthy |", "| Judge |", "| Contrast |", "| Restore |"):
            assert part in page, f"{file.name}: its page lacks {part}"


def test_the_readme_names_every_command_and_no_other() -> None:
    group: Any = typer.main.get_command(app)
    table = README.split("| command | what it does |")[1].split("\n\n")[0]
    named = set(re.findall(r"^\| `([a-z]+)", table, re.MULTILINE))
    assert named == {name for name, command in group.commands.items() if not command.hidden}


def test_the_readme_names_only_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    assert set(re.findall(r"(?:^|`|\$ )make ([a-z-]+)", README, re.MULTILINE)) <= targets


def test_links_in_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (REPO / target).exists(), f"README.md: there is no {target}"


def test_mc_commands_that_the_pages_have_one_type_can_be_typed() -> None:
    typed = re.findall(r"^(?:SN|nsd01)# (mc.*)$", docs.mc_page() + README, re.MULTILINE)
    for line in typed:
        name, *words = shlex.split(line, comments=True)
        mc_main.parser(name).parse_args(words)
    assert {line.split()[0] for line in typed} >= mc_main.COMMANDS.keys() - {"mcumount", "mclsnode"}


def test_the_page_of_the_mc_commands_has_every_command_and_every_part() -> None:
    page = docs.mc_page()
    assert re.findall(r"^\| `(mc[^`]+)` \| mm", page, re.MULTILINE) == [name for name, _ in docs.mc_commands()]
    assert re.findall(r"<!-- (?!Made by)", page) == []
