"""A change that touches nothing, and tells when it is made and undone; a scenario that says words of a test's."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causeway.lab.changes.change import Change
from causeway.model.site import Site
from causeway.scenario.cast import Ask
from causeway.scenario.runner import Scenario
from causeway.scenario.stage import Stage
from tests.unit.here import Here, stand_in


class Told(Change):
    """A change that tells when it is made, and when it is undone."""

    def __init__(self, title: str, made: Callable[[], object], undone: Callable[[], object]) -> None:
        super().__init__(title, (), ())
        object.__setattr__(self, "made", made)
        object.__setattr__(self, "undone", undone)

    def make(self, lab: Any) -> Any:
        self.made()  # type: ignore[attr-defined]
        return super().make(lab)

    def undo(self, _: Any) -> Any:
        return self.undone  # type: ignore[attr-defined]


def play(scenario: Scenario, site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch, words: dict[str, Any]) -> None:
    """Play a scenario with these words in place of a lab's."""
    cast = scenario.cast_by(Ask(site))[0]
    stand_in(monkeypatch, scenario.play, words)
    stage = Stage(Here(site, folder), random.Random(1))
    try:
        scenario.play(stage, cast)
    finally:
        stage.undo()
