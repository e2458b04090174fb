"""A lab whose every node is this machine: commands run here, and paths are this machine's (in a test's own folder)."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.lab.lab import Lab
from causeway.model.load import load_site
from causeway.report.result import Comparison
from causeway.scenario.stage import Stage

SITE = load_site(REPO / "topologies" / "jubl" / "site.yaml")


class Here(Lab):
    """For changes and stages, which need something that can be changed, and no node."""

    def enter(self, node: str, argv: Sequence[str]) -> list[str]:  # noqa: ARG002
        return list(argv)

    plug = enter

    @cached_property
    def pids(self) -> dict[str, int]:
        """No container runs."""
        return {}

    def file(self, node: str, path: str) -> Path:  # noqa: ARG002
        return Path(path)


def here(folder: Path) -> Here:
    return Here(SITE, folder)


@dataclass(frozen=True)
class _Noted(Change):
    made: Callable[[], object]
    undone: Callable[[], object]

    def make(self, lab: Any) -> Any:
        self.made()
        return super().make(lab)

    def undo(self, _: Any) -> Any:
        return self.undone


def noted(title: str, made: Callable[[], object], undone: Callable[[], object]) -> Change:
    """A change of no node: what a stand-in does when it is made, and when it is undone."""
    return _Noted(title, (), (), made, undone)


def stand_in(monkeypatch: pytest.MonkeyPatch, play: Callable[..., None], words: Mapping[str, Any]) -> None:
    """Have a scenario say other words than it has imported, or other constants than its own, until the test ends."""
    for word, value in words.items():
        monkeypatch.setitem(play.__globals__, word, value)


def compared(play: Callable[[Stage, Any], None], cast: object, folder: Path) -> list[Comparison]:
    """What a scenario compares with this cast, played to its end and undone."""
    stage = Stage(here(folder), random.Random(1))
    try:
        play(stage, cast)
    finally:
        stage.undo()
    return stage.comparisons
