"""What the pages have one type is typed: here all that needs no lab (the rest: `make nightly`, tests/pages.py)."""

import re
import runpy
from pathlib import Path

import pytest

from causeway.errors import BadInput
from causeway.folders import REPO, site_file
from causeway.lab.faults.catalogue import Fault
from causeway.lessons import lesson as lessons
from causeway.model.load import load_site
from tests import pages
from tests.pages import Block

WITHOUT = [block for block in pages.every() if block.at_once]


@pytest.mark.parametrize("block", WITHOUT, ids=str)
def test_what_a_page_has_one_type_can_be_typed(tmp_path: Path, block: Block) -> None:
    assert pages.typed(pages.new_user(tmp_path, block.page), block.lines) == []


def test_every_reader_has_a_page_and_every_page_something_to_type() -> None:
    index = (REPO / "docs" / "README.md").read_text()
    table = index.split("## By reader")[1].split("\n## ")[0]
    assert set(re.findall(r"\]\(([a-z]+\.md)", table)) >= set(pages.PAGES)
    assert all(pages.blocks(page) for page in pages.PAGES)
    for page, heading in re.findall(r"\]\(([a-z]+\.md)#([a-z-]+)\)", table):
        text = (REPO / "docs" / page).read_text()
        assert f"\n## {heading.replace('-', ' ')}\n" in text.lower()


def test_a_line_that_ends_otherwise_than_its_comment_says_is_found(tmp_path: Path) -> None:
    lines = ("true", "false  # ends with 1: that is known", "exit 3", "true  # ends with 1 until then")
    assert [wrong.split(":")[0] for wrong in pages.typed(tmp_path, lines)] == ["exit 3", lines[-1]]


def test_a_block_needs_a_lab_where_one_line_does() -> None:
    pure = "bin/causeway graph mine/site.yaml", "bin/causeway lab list", "ls", "bin/causeway run --list --lab x.yaml"
    assert Block("x.md", 1, pure).at_once
    for line in ("bin/causeway up small", "bin/causeway lab start routes", "bin/causeway rehearse small --change x"):
        assert not Block("x.md", 1, (*pure, line)).at_once


def test_the_page_s_lesson_is_one_that_a_small_site_can_take(tmp_path: Path) -> None:
    folder = pages.new_user(tmp_path, "training.md") / "mine" / "silent"
    assert lessons.where(lessons.load(folder), load_site(site_file("small"))) == ""


def test_the_page_s_fault_has_all_that_the_catalogue_says_of_one(tmp_path: Path) -> None:
    file = pages.new_user(tmp_path, "writing.md") / "mine" / "names.py"
    fault = Fault(runpy.run_path(str(file))["name_changed"])
    assert all((fault.state, fault.injected, fault.triggers, fault.look))
    site = load_site(site_file("small"))
    assert fault.read(["node=pier"], site) == {"node": "pier"}
    with pytest.raises(BadInput, match="there is no node with a root user basin"):
        fault.read(["node=basin"], site)


def test_a_new_user_finds_causeway_and_what_the_page_had_him_write(tmp_path: Path) -> None:
    folder = pages.new_user(tmp_path, "writing.md")
    assert (folder / "bin" / "causeway").exists() and not (folder / "runs").exists()
    assert (folder / "mine").is_dir() and not (REPO / "mine").exists()
