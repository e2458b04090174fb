"""The index: every lab, every scenario, every page."""

from collections.abc import Iterator
from pathlib import Path

from causeway.docs.labs import header
from causeway.docs.lessons import lesson_rows
from causeway.docs.markdown import page_from, table
from causeway.folders import REPO, site_file, sites
from causeway.model.load import load_site
from causeway.scenario.playbill import billing
from causeway.scenario.runner import load_all

TEXT = Path(__file__).with_name("index.md")


def index_page() -> str:
    """The text beside this file, with the tables that it asks for."""
    return page_from(
        TEXT,
        {
            "labs": table("lab|nodes|what it is", _labs())[:-1],
            "lessons": table("lesson|shows|labs that can take it", lesson_rows())[:-1],
            "scenarios": table("scenario|shows|played on", _scenarios())[:-1],
        },
        REPO / "topologies",
        REPO / "labs",
        REPO / "scenarios",
    )


def _labs() -> Iterator[list[str]]:
    """A lab with the first sentence of its file."""
    for name in sites():
        site = load_site(site_file(name))
        said = " ".join(" ".join(header(site_file(name))).split()).removeprefix(f"{name}: ")
        sentence = said.split(". ")[0].rstrip(".")
        yield [f"[{name}](labs/{name}.md)", str(len(site.nodes)), f"{sentence[:1].upper()}{sentence[1:]}."]


def _scenarios() -> Iterator[list[str]]:
    """A scenario with its title and the labs that can cast it."""
    labs = {name: load_site(site_file(name)) for name in sites()}
    for one in load_all([]):
        able = [f"[{name}](labs/{name}.md)" for name, lab in labs.items() if not billing(one, lab).why_not]
        yield [f"[{one.name}](scenarios/{one.name}.md)", one.title, ", ".join(able) or "a site of the tests"]
