"""The folders that Causeway uses."""

import os
from pathlib import Path

#: The checkout: topologies, scenarios, lessons, images.
REPO = Path(__file__).resolve().parents[1]

#: What of it is used in a lab host.
INSIDE = ("causeway", "labs", "nodes", "scenarios", "topologies")


def _named(variable: str, otherwise: Path) -> Path:
    """What a variable names, else another place; whole, for processes look for it from other folders than this one."""
    return Path(os.environ.get(variable) or otherwise).absolute()


def cache() -> Path:
    """What is slow to build, by the hash of its inputs; may be deleted at any time."""
    return _named("CAUSEWAY_CACHE", _named("XDG_CACHE_HOME", Path.home() / ".cache") / "causeway")


def state() -> Path:
    """One folder a running lab host."""
    return _named("CAUSEWAY_STATE", _named("XDG_STATE_HOME", Path.home() / ".local/state") / "causeway")


def templates() -> Path:
    """One folder a lab host that is at rest as a template, or comes up to be one."""
    return state() / "templates"


def runs() -> Path:
    """Results: one folder a run, and `latest`."""
    return _named("CAUSEWAY_RUNS", REPO / "runs")


#: In a lab host, what it knows of its labs: LAB/ with the rendered files and lab.json.
LABS = Path("/run/causeway/labs")
#: In a lab host, what it is made of, where somebody told it.
MADE_OF = Path("/share/made-of.json")

#: The site that a command takes when it is told none.
DEFAULT_SITE = "jubl"


def sites() -> list[str]:
    """Every shipped site."""
    return sorted(file.parent.name for file in (REPO / "topologies").glob("*/site.yaml"))


def site_file(site: str) -> Path:
    """The file of a shipped site, or the file that is named."""
    shipped = REPO / "topologies" / site / "site.yaml"
    return shipped if "/" not in site and shipped.exists() else Path(site)
