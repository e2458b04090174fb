"""Write the pages of docs/ from what they describe, so that they cannot drift from it.

`make docs` writes them; tests/meta compares them.
"""

import sys
from collections.abc import Callable
from functools import partial

from causeway.docs.commands import commands_page
from causeway.docs.costs import costs_page
from causeway.docs.coverage import SEEDS, coverage_page
from causeway.docs.faults import faults_page
from causeway.docs.index import index_page
from causeway.docs.labs import lab_page
from causeway.docs.lessons import lesson_page
from causeway.docs.mc import mc_page
from causeway.docs.scenarios import scenario_page
from causeway.docs.sites import sites_page
from causeway.docs.sizing import sizing_page
from causeway.folders import REPO, site_file, sites
from causeway.lessons.lesson import every
from causeway.model import schema
from causeway.model.load import load_site
from causeway.render.drawing.svg import svg

DOCS = REPO / "docs"
#: Folders of docs/ in which every file is a generated one.
_OWN_FOLDERS = ("labs", "lessons", "scenarios")
#: Generated pages beside them.
_OWN_PAGES: dict[str, Callable[[], str]] = {
    "README.md": index_page,
    "commands.md": commands_page,
    "costs.md": costs_page,
    "faults.md": faults_page,
    "mc.md": mc_page,
    "site.schema.json": schema.text,
    "sites.md": sites_page,
    "sizing.md": sizing_page,
    **{f"{seed}.md": partial(coverage_page, seed) for seed in SEEDS},
}


def pages() -> dict[str, str]:
    """Every generated page by its path in docs/."""
    found = {name: page() for name, page in _OWN_PAGES.items()}
    for site in sites():
        found[f"labs/{site}.md"] = lab_page(site_file(site))
        found[f"labs/{site}.svg"] = svg(load_site(site_file(site)))
    for name in every():
        found[f"lessons/{name}.md"] = lesson_page(name)
    for file in sorted((REPO / "scenarios").glob("*.py")):
        found[f"scenarios/{file.stem}.md"] = scenario_page(file)
    return found


def stored() -> dict[str, str]:
    """The pages in docs/ that are there now and that only the generator writes."""
    files = [*(DOCS / page for page in _OWN_PAGES), *(f for name in _OWN_FOLDERS for f in (DOCS / name).glob("*.*"))]
    return {str(f.relative_to(DOCS)): f.read_text() for f in files if f.exists()}


def write() -> None:
    """Bring docs/ to what `pages` says; a page whose source is gone goes, too."""
    wanted, present = pages(), stored()
    for name in present.keys() - wanted.keys():
        (DOCS / name).unlink()
    for name, text in wanted.items():
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / name).write_text(text)


if __name__ == "__main__":
    write()
    sys.stderr.write(f"docs: {len(stored())} pages\n")
