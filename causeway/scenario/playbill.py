"""Who plays each scenario on a site, or why nobody can. The site alone is asked: no lab need be up."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from causeway.errors import Unsupported
from causeway.model.site import Site
from causeway.scenario.cast import Ask
from causeway.scenario.runner import Scenario

#: As many players are named in a line; of more, how many.
_MOST_NAMED = 6


@dataclass(frozen=True)
class Billing:
    """A scenario on a site: its players in the order in which it asked for them, or why nobody plays it.

    A scenario that does not ask has no players; it names its nodes itself.
    """

    scenario: Scenario
    players: tuple[str, ...]
    why_not: str

    @property
    def line(self) -> str:
        """As one line."""
        if self.why_not:
            return f"nobody: {self.why_not}"
        if self.scenario.cast is None:
            return "not cast: every node that it names"
        more = len(self.players) - _MOST_NAMED
        named = ", ".join(self.players[:_MOST_NAMED])
        return f"{named} and {more} more" if more > 0 else named

    def as_data(self) -> dict[str, Any]:
        """As JSON has it; `cast` says whether the scenario asks for its players."""
        return {
            "scenario": self.scenario.name,
            "title": self.scenario.title,
            "plays": not self.why_not,
            "cast": self.scenario.cast is not None,
            "players": list(self.players),
            "why": self.why_not,
        }


def billing(scenario: Scenario, site: Site) -> Billing:
    """Cast one scenario."""
    ask = Ask(site)
    try:
        scenario.cast_by(ask)
    except Unsupported as reason:
        return Billing(scenario, (), str(reason))
    return Billing(scenario, tuple(ask.players), "")


def about(scenarios: Iterable[Scenario], site: Site) -> list[Scenario]:
    """Those of the scenarios that are about any site, or about this one."""
    return [scenario for scenario in scenarios if not scenario.sites or site.name in scenario.sites]
