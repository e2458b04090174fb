"""Causeway is for any site: for some that nobody wrote, and for one without filesystems and diskless nodes.

(jubl under other names, and with other numbers, is played by `make nightly`: tests/sites/played.py.)
"""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Played, Tool, daily, unlike

from tests.sites.played import AS_DRAWN, COLLECTED, DRAWN_DAILY, UNPROVEN, again, seeds, site_file, wrong


def played(tool: Tool, site: str, *scenarios: str) -> Any:
    """A run of scenarios on a site; of all that are shipped where none is named."""
    file = site_file(site, tool.folder)
    done = tool("run", *scenarios, "--lab", file, "--clock", "virtual", "--seed", "1", "--json", timeout_s=3600)
    assert done.stdout, f"{done.stderr}\nagain: {again(site, scenarios)}"
    return json.loads(done.stdout)


@pytest.mark.parametrize("place", range(DRAWN_DAILY))
def test_on_a_site_of_the_day_nothing_fails_or_breaks(tool: Tool, tmp_path: Path, place: int) -> None:
    site = f"drawn-{seeds(DRAWN_DAILY)[place]}"
    print(f"{site}; again: {again(site)}")
    plays = (str(AS_DRAWN), str(COLLECTED))
    found = wrong(played(tool, site, *plays, *(name for name in daily() if name not in UNPROVEN)), site)
    assert not found, "\n".join([*found, f"again: {again(site)}"])
    assert unlike(tool, site_file(site, tool.folder), tmp_path / "mine") == [], f"again: {again(site)}"


def test_small_plays_what_it_can_and_says_what_it_lacks(on_small: Played) -> None:
    assert wrong(on_small.run, "small") == []
    verdicts = [scenario["verdict"] for scenario in on_small.run["scenarios"]]
    assert verdicts.count("pass") >= 10, verdicts
