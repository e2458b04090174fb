"""Who plays scenarios on sites that nobody wrote: somebody, or nobody for a reason; never by name."""

from pathlib import Path

import pytest
import yaml

from causeway.errors import Unsupported
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.scenario import runner
from causeway.scenario.cast import Ask
from tests.sites.played import site_file
from tests.sites.renamed import new_names
from tests.sites.slower import JUBL

SCENARIOS = runner.load_all([])


def players(scenario: runner.Scenario, site: Site) -> list[str] | str:
    """Who was asked for and given, or the sentence that says why nobody can."""
    ask = Ask(site)
    try:
        scenario.cast_by(ask)
    except Unsupported as lacking:
        return str(lacking)
    return ask.players


@pytest.mark.parametrize("seed", range(12))
def test_on_a_drawn_site_a_scenario_is_cast_or_the_site_is_told_what_it_lacks(seed: int, tmp_path: Path) -> None:
    site = load_site(Path(site_file(f"drawn-{seed}", tmp_path)))
    for scenario in SCENARIOS:
        found = players(scenario, site)
        if isinstance(found, str):
            assert len(found.split()) > 3 and site.name in found, f"{scenario.name}: {found}"
        else:
            assert set(found) <= set(site.nodes), scenario.name


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_under_other_names_the_same_nodes_play(scenario: runner.Scenario, tmp_path: Path) -> None:
    there = players(scenario, load_site(JUBL))
    elsewhere = players(scenario, load_site(Path(site_file("renamed", tmp_path))))
    assert isinstance(there, list) == isinstance(elsewhere, list), elsewhere
    if isinstance(there, list):
        other = new_names(yaml.safe_load(JUBL.read_text()))
        assert [other.get(node, node) for node in there] == elsewhere


#: Slower links carry too few of their longer frames for what this one shows.
NEEDS_SHORT_FRAMES = {"channel_round_robin"}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_with_other_numbers_whoever_can_play_on_jubl_can(scenario: runner.Scenario, tmp_path: Path) -> None:
    there = players(scenario, load_site(JUBL))
    elsewhere = players(scenario, load_site(Path(site_file("slower", tmp_path))))
    can = isinstance(there, list) and scenario.name not in NEEDS_SHORT_FRAMES
    assert isinstance(elsewhere, list) == can, elsewhere
