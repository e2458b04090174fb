"""What a change moves: for people as lines, for programs as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from causeway.errors import EXIT_CHECK_FAILED, EXIT_PASSED
from causeway.rehearse.rates import Pattern, Rates

Turn = Literal["worse", "better", "other"]
#: In the order in which they matter.
TURNS: tuple[Turn, ...] = ("worse", "better", "other")


@dataclass(frozen=True)
class Move:
    """One thing that is another one after the change: `about` what it is, and whom it concerns.

    In `before` and `after` {a} and {b} stand for the two ends; `pairs` are these: node -> other ends.
    """

    about: str
    turn: Turn
    before: str
    after: str
    pairs: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(map(len, self.pairs.values()))

    @property
    def example(self) -> tuple[str, str]:
        """Before and after, told of the first two that it concerns."""
        if not self.pairs:
            return self.before, self.after
        one, others = next(iter(self.pairs.items()))
        names = {"{a}": one, "{b}": others[0].partition(":")[0] if others else ""}

        def told(text: str) -> str:
            for place, name in names.items():
                text = text.replace(place, name)
            return text

        return told(self.before), told(self.after)

    def as_data(self) -> dict[str, Any]:
        before, after = self.example
        return {
            "about": self.about,
            "turn": self.turn,
            "before": before,
            "after": after,
            "count": self.count,
            "pairs": dict(self.pairs),
        }


@dataclass(frozen=True)
class Prediction:
    """All that a change moves, what it does to rates, and what of it is not predicted.

    `rates` has every pattern with what it gets before and after, `files` the files that nodes must get: path -> nodes.
    """

    site: str
    change: str
    moves: list[Move]
    rates: list[tuple[Pattern, Rates, Rates]]
    files: Mapping[str, list[str]]
    unpredicted: list[str]

    @property
    def worse(self) -> list[Move]:
        return [move for move in self.moves if move.turn == "worse"]

    @property
    def exit_code(self) -> int:
        return EXIT_CHECK_FAILED if self.worse else EXIT_PASSED

    @property
    def verdict(self) -> str:
        return "regression" if self.worse else "no regression"

    def as_data(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "site": self.site,
            "change": self.change,
            "verdict": self.verdict,
            "moves": [move.as_data() for move in self.moves],
            "rates": [
                {"pattern": pattern.name, "before": _told(before), "after": _told(after)}
                for pattern, before, after in self.rates
            ],
            "files": dict(self.files),
            "not_predicted": self.unpredicted,
        }


def _told(rates: Rates) -> dict[str, Any]:
    if not rates.values:
        return {"why": rates.why}
    return {
        "mean": round(rates.mean, 3),
        "worst_tenth": round(rates.worst_tenth, 3),
        "unit": rates.unit,
        "draws": len(rates.values),
        "streams_by_member": dict(rates.members or {}),
    }


def together(moves: Iterator[tuple[tuple[str, Turn, str, str], str, str]]) -> list[Move]:
    """Moves of pairs that say the same as one: ((about, turn, before, after), one, other)."""
    found: dict[tuple[str, Turn, str, str], dict[str, list[str]]] = {}
    for key, one, other in moves:
        found.setdefault(key, {}).setdefault(one, []).append(other)
    whole = [Move(*key, pairs) for key, pairs in found.items()]
    return sorted(whole, key=lambda move: (TURNS.index(move.turn), -move.count))
