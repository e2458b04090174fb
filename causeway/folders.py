"""The folders that Causeway uses outside of a lab."""

import os
from pathlib import Path

#: The checkout: topologies, scenarios, lessons, images.
REPO = Path(__file__).resolve().parents[1]

#: What of it is used in a lab host.
INSIDE = ("causeway", "labs", "nodes", "scenarios", "topologies")


def _home(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / default)


def cache() -> Path:
    """What is slow to build, by the hash of its inputs; may be deleted at any time."""
    override = os.environ.get("CAUSEWAY_CACHE")
    return Path(override) if override else _home("XDG_CACHE_HOME", ".cache") / "causeway"


def state() -> Path:
    """One folder a running lab host."""
    override = os.environ.get("CAUSEWAY_STATE")
    return Path(override) if override else _home("XDG_STATE_HOME", ".local/state") / "causeway"


def templates() -> Path:
    """One folder a lab host that is at rest as a template, or comes up to be one."""
    return state() / "templates"


def runs() -> Path:
    """Results: one folder a run, and `latest`."""
    return Path(os.environ.get("CAUSEWAY_RUNS") or REPO / "runs")


#: The site that a command takes when it is told none.
DEFAULT_SITE = "jubl"


def sites() -> list[str]:
    """Every shipped site."""
    return sorted(file.parent.name for file in (REPO / "topologies").glob("*/site.yaml"))


def site_file(site: str) -> Path:
    """The file of a shipped site, or the file that is named."""
    shipped = REPO / "topologies" / site / "site.yaml"
    return shipped if "/" not in site and shipped.exists() else Path(site)
