"""The pages of docs/ and the README say what the tool is now."""

import ast
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from causeway.cli.app import app
from causeway.docs import keep
from causeway.docs import pages as docs
from causeway.docs.labs import timeline
from causeway.docs.markdown import fill, section
from causeway.docs.mc import mc_commands, mc_page
from causeway.docs.scenarios import scenario_page, steps
from causeway.docs.sites import sites_page
from causeway.errors import BadInput
from causeway.folders import REPO, sites
from causeway.model.document import Topology
from causeway.model.load import load_site
from causeway.report.result import Run, ScenarioResult, Table
from causeway.scenario.runner import load_all
from mc import main as mc_main

README = (REPO / "README.md").read_text()
MAKEFILE = (REPO / "Makefile").read_text()


def drift(wanted: dict[str, str], present: dict[str, str]) -> list[str]:
    """The pages that are not what the generator writes, missing and left-over ones included."""
    return sorted(name for name in wanted | present if wanted.get(name) != present.get(name))


@pytest.fixture(scope="module")
def wanted() -> dict[str, str]:
    """The pages as the generator makes them now, which takes it a quarter of a minute."""
    return docs.pages()


def test_the_pages_are_what_the_generator_writes(wanted: dict[str, str]) -> None:
    differing = drift(wanted, docs.stored())
    assert not differing, f"docs/ is behind: {', '.join(differing)}; run `make docs`"


def test_a_changed_a_missing_and_a_left_over_page_are_found_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, str]
) -> None:
    monkeypatch.setattr(docs, "DOCS", tmp_path)
    monkeypatch.setattr(docs, "pages", lambda: wanted)
    docs.write()
    assert drift(wanted, docs.stored()) == []
    (tmp_path / "commands.md").write_text("changed")
    (tmp_path / "labs" / "jubl.md").unlink()
    (tmp_path / "scenarios" / "gone.md").write_text("its scenario is no more")
    (tmp_path / "written-by-hand.md").write_text("stays")
    assert drift(wanted, docs.stored()) == ["commands.md", "labs/jubl.md", "scenarios/gone.md"]
    docs.write()
    assert drift(wanted, docs.stored()) == []
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
    assert steps(ast.parse(scenario)) == [
        ("Healthy", "all is well"),
        ("Perturb", "nsd01 sends by {policy}"),
        ("Restore", "as before"),
    ]


def test_every_scenario_has_a_page_with_claim_source_and_all_phases() -> None:
    for file in (REPO / "scenarios").glob("*.py"):
        page = scenario_page(file)
        for part in ("**Claim.**", "**Source.**", "| Healthy |", "| Judge |", "| Contrast |", "| Restore |"):
            assert part in page, f"{file.name}: its page lacks {part}"


def test_the_readme_names_every_command_and_no_other() -> None:
    group: Any = typer.main.get_command(app())
    table = README.split("| command | what it does |")[1].split("\n\n")[0]
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`([a-z]+)", cell)}
    assert named == {name for name, command in group.commands.items() if not command.hidden}


def test_the_readme_names_only_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    assert set(re.findall(r"(?:^|`|\$ )make ([a-z-]+)", README, re.MULTILINE)) <= targets


def dead_links(page: Path, text: str) -> list[str]:
    """What a page refers to and is not there."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    return [f"{page.name}: there is no {target}" for target in targets if not (page.parent / target).exists()]


@pytest.mark.parametrize("page", [REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))], ids=lambda p: p.stem)
def test_links_lead_somewhere(page: Path) -> None:
    assert dead_links(page, page.read_text()) == []


def test_a_dead_link_is_found() -> None:
    text = "[one](docs/gone.md), [two](README.md), [three](https://example.org/gone)"
    assert dead_links(REPO / "README.md", text) == ["README.md: there is no docs/gone.md"]


def test_the_readme_is_two_screens_long() -> None:
    assert len(README.splitlines()) <= 150


def test_every_page_is_in_the_index_or_in_the_readme() -> None:
    index = (REPO / "docs" / "README.md").read_text()
    for page in (REPO / "docs").rglob("*.md"):
        name = str(page.relative_to(REPO / "docs"))
        assert f"]({name})" in index or name == "README.md", f"docs/README.md does not lead to {name}"


def test_the_index_has_every_lab_and_every_scenario_with_its_title() -> None:
    index = (REPO / "docs" / "README.md").read_text()
    for site in sites():
        assert f"| [{site}](labs/{site}.md) |" in index
    for one in load_all([]):
        assert f"| [{one.name}](scenarios/{one.name}.md) | {one.title} |" in index


def test_the_example_of_a_site_is_one(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```", sites_page(), re.MULTILINE | re.DOTALL)
    (tmp_path / "site.yaml").write_text(example)
    assert list(load_site(tmp_path / "site.yaml").nodes) == ["a", "b", "sw"]


def test_the_page_of_a_sites_form_leads_to_every_form_in_it() -> None:
    page = sites_page()
    headings = set(re.findall(r"^## (\w+)$", page, re.MULTILINE))
    assert {name for name, _ in re.findall(r"\[(\w+)\]\(#(\w+)\)", page)} <= headings
    for field in Topology.model_fields:
        assert f"| `{field}` |" in page
    assert "anything" not in page


def test_a_text_asks_only_for_parts_that_there_are() -> None:
    assert fill("a\n<!-- b -->\nc\n", {"b": ["1", "2"]}) == "a\n1\n2\nc\n"
    with pytest.raises(KeyError, match="nosuch"):
        fill("<!-- nosuch -->\n", {})


def test_a_section_without_rows_is_left_out() -> None:
    assert section("Links", "end|end", []) == []
    assert section("Links", "end|end", [["a", "b"]])[0] == "## Links"


def played(title: str, rows: list[list[str]]) -> Run:
    columns = ["stream", "ports", "member computed", "member seen", "expected Mbit/s", "measured Mbit/s", "off by"]
    scenario = ScenarioResult("dice", "t", "c", "s", "pass", "", 1, 1, exhibits=[Table(title, columns, rows)])
    return Run("run-7", "mini", "uml", "virtual", 7, "now", 1, 1, None, [scenario])


def test_what_is_kept_of_a_run_is_what_the_run_says(tmp_path: Path) -> None:
    published = {"by": "They", "within": 0.06, "mbit": {"a to b": 9.5, "a to c": 10.1}}
    asked = {"scenario": "dice", "table": "thrown", "published": published}
    rows = [
        ["A:t:b", "1 > 2", "eth0", "eth0", "10.00", "10.01", "+0.10 %"],
        ["A:t:c", "3 > 4", "eth0", "eth0", "10.00", "9.98", "-0.20 %"],
    ]
    fresh = keep.refresh(asked, played("thrown", rows))
    assert fresh is not None and (fresh["run"], fresh["seed"]) == ("run-7", 7)
    (tmp_path / "two.json").write_text(json.dumps(fresh))
    lines = keep.tables(tmp_path)["two.json"]
    assert lines[2] == "| a to b | 9.5 | 10.00 | 10.01 | +5.4 % | eth0 (2) |"
    assert lines[4] == "| all | 19.6 | 20.00 | 19.99 | +2.0 % |  |"
    assert lines[-1].endswith("run `run-7`, seed 7; streams on a member: eth0 2.")


def test_a_run_whose_rates_are_not_those_published_is_not_kept() -> None:
    published = {"by": "They", "within": 0.05, "mbit": {"a to b": 9.5, "a to c": 10.1}}
    row = ["A:t:b", "1 > 2", "eth0", "eth0", "10.00", "10.01", "+0.10 %"]
    rows = [row, ["A:t:c", *row[1:]]]
    with pytest.raises(BadInput) as caught:
        keep.refresh({"scenario": "dice", "table": "thrown", "published": published}, played("thrown", rows))
    assert str(caught.value) == "run run-7: a to b: 10.01 Mbit/s, and They has 9.5: more than 5 % off"


def test_a_run_that_lacks_what_is_kept_changes_nothing() -> None:
    published = {"by": "They", "within": 1, "mbit": {"a to z": 1.0}}
    asked = {"scenario": "dice", "table": "thrown", "published": published}
    assert keep.refresh(asked | {"scenario": "other"}, played("thrown", [])) is None
    with pytest.raises(BadInput, match="run run-7: dice has no table 'thrown'; it has \\['cast'\\]"):
        keep.refresh(asked, played("cast", []))
    with pytest.raises(BadInput, match="run run-7: 0 streams are a to z; it has \\[\\]"):
        keep.refresh(asked, played("thrown", []))


@pytest.mark.parametrize("file", keep.extracts(), ids=lambda file: file.name)
def test_an_extract_is_of_a_run_and_its_page_has_it(file: Path) -> None:
    kept = json.loads(file.read_text())
    assert {stream["stream"] for stream in kept["streams"]} == set(kept["published"]["mbit"])
    assert f"run `{kept['run']}`" in (REPO / "docs" / "labs" / f"{file.parent.name}.md").read_text()


def test_mc_commands_that_the_pages_have_one_type_can_be_typed() -> None:
    typed = re.findall(r"^(?:SN|nsd01)# (mc.*)$", mc_page() + README, re.MULTILINE)
    for line in typed:
        name, *words = shlex.split(line, comments=True)
        mc_main.parser(name).parse_args(words)
    assert {line.split()[0] for line in typed} >= mc_main.COMMANDS.keys() - {"mcumount", "mclsnode"}


def test_the_page_of_the_mc_commands_has_every_command_and_every_part() -> None:
    page = mc_page()
    assert re.findall(r"^\| `(mc[^`]+)` \| mm", page, re.MULTILINE) == [name for name, _ in mc_commands()]
    assert re.findall(r"<!-- (?!Made by)", page) == []


def test_a_boots_timeline_comes_from_its_console_and_the_marks_at_its_top() -> None:
    console = ["# One of two.", "# on = wait", "# go = run", "# end ="]
    console += ["[    0.000] power on", "[    0.005] go go", "[    1.200] the end"]
    assert list(timeline(console)) == ["  wait : 0, 5", "  run : 5, 1200"]
    with pytest.raises(KeyError, match="go"):
        list(timeline([line for line in console if "go go" not in line]))
