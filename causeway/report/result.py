"""What a run found, as data: steps, comparisons, exhibits, verdicts; and its JSON form."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pydantic import TypeAdapter

from causeway.errors import EXIT_CHECK_FAILED, EXIT_INTERRUPTED, EXIT_LAB_BROKEN, EXIT_NOTHING_RAN, EXIT_PASSED

Phase = Literal["Arrange", "Healthy", "Perturb", "Observe", "Judge", "Contrast", "Restore"]
Verdict = Literal["pass", "fail", "broken", "skipped"]
Value = float | int | str


@dataclass(frozen=True)
class Comparison:
    """One expected value beside the measured one.

    `expected` and `measured` are in `unit`; `measured` is None (or NaN) where the measurement gave nothing.
    `tolerance` is the part of `expected` that `measured` may be off by: 0.01 is 1 %, 0 asks for equality.
    `why` gives the reason for the tolerance, or for the expected value. `repeats` says that every run with this
    seed measures the very same value; agreement judges runs by it.
    """

    what: str
    expected: Value
    measured: Value | None
    unit: str
    tolerance: float
    why: str = ""
    repeats: bool = True

    @property
    def ok(self) -> bool:
        """Whether the measured value is within tolerance. A missing value, or one of another type, never is."""
        if isinstance(self.expected, str) or isinstance(self.measured, str):
            return self.tolerance == 0 and self.measured == self.expected
        if self.measured is None or is_missing(self.measured) or is_missing(self.expected):
            return False
        return abs(self.measured - self.expected) <= self.tolerance * abs(self.expected)

    @property
    def deviation(self) -> float | None:
        """How far the measured value is from the expected one, as a part of the latter (0.01 is 1 %).

        None where that has no meaning: text, no measured value, or an expected value of 0.
        """
        if isinstance(self.expected, str) or isinstance(self.measured, str):
            return None
        if self.measured is None or is_missing(self.measured) or self.expected == 0:
            return None
        return (self.measured - self.expected) / abs(self.expected)


@dataclass(frozen=True)
class Step:
    """One step of a scenario: its phase, the sentence that says what it does, and what that took in seconds.

    `ok` says whether the step did what its sentence says; `detail` is what there is to add. `commands` are what
    one would type, on which node, to do and see the same by hand.
    """

    phase: Phase
    sentence: str
    wall_s: float
    virtual_s: float
    ok: bool = True
    detail: str = ""
    commands: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Bar:
    """One bar, in its chart's unit. The label is the member's name, then ": " and the streams on it."""

    label: str
    expected: float
    measured: float | None


@dataclass(frozen=True)
class Bars:
    """A channel's members as bars. `unit` (MB, Mbit/s) holds for all values; `capacity` is the axis' end."""

    title: str
    unit: str
    capacity: float
    bars: list[Bar]
    note: str = ""
    kind: Literal["bars"] = "bars"


@dataclass(frozen=True)
class Lines:
    """A chart of lines over numbers that are named, such as of nodes. `unit` holds for all values of `lines`.

    A line's name ends in " (expected)" where it was computed; it is drawn thin then.
    """

    title: str
    over: str
    places: list[str]
    unit: str
    lines: dict[str, list[float]]
    kind: Literal["lines"] = "lines"


@dataclass(frozen=True)
class Table:
    """A table of text; each row has one cell for each column."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    kind: Literal["table"] = "table"


@dataclass(frozen=True)
class Text:
    """Text that is shown as it stands, such as a program's output."""

    title: str
    text: str
    kind: Literal["text"] = "text"


Exhibit = Bars | Lines | Table | Text


@dataclass(frozen=True)
class ScenarioResult:
    """What one scenario found. `why` is the reason for a verdict other than pass; times are in seconds.

    A pass that holds a failed step or comparison is refused with a ValueError.
    """

    name: str
    title: str
    claim: str
    source: str
    verdict: Verdict
    why: str
    wall_s: float
    virtual_s: float
    steps: list[Step] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Refuse a pass that its own evidence contradicts."""
        failed = [s.sentence for s in self.failed_steps] + [c.what for c in self.failed_comparisons]
        if self.verdict == "pass" and failed:
            raise ValueError(f"scenario {self.name} cannot pass: {'; '.join(failed)}")

    @property
    def failed_steps(self) -> list[Step]:
        """The steps that did not do what their sentence says."""
        return [step for step in self.steps if not step.ok]

    @property
    def failed_comparisons(self) -> list[Comparison]:
        """The comparisons that are out of tolerance."""
        return [comparison for comparison in self.comparisons if not comparison.ok]


@dataclass(frozen=True)
class Run:
    """One run of some scenarios in a lab.

    `started` is the wall's time in ISO form; `fell_behind_s` is by how many seconds a paced lab fell behind
    the wall, and None with any other clock. `interrupted` says that it was ended before all had been played.
    `made_of` has the versions of what the lab is made of: of each artefact, by what is in it; empty with a lab host of
    the machine's own.
    """

    id: str
    lab: str
    lab_host: str
    clock: str
    seed: int
    started: str
    wall_s: float
    virtual_s: float
    fell_behind_s: float | None
    scenarios: list[ScenarioResult]
    interrupted: bool = False
    made_of: dict[str, dict[str, str]] = field(default_factory=dict)

    def count(self, verdict: Verdict) -> int:
        """How many scenarios ended with this verdict."""
        return sum(scenario.verdict == verdict for scenario in self.scenarios)

    @property
    def judged_s(self) -> dict[str, float]:
        """How many seconds of wall time each scenario took that was played to its end, passed or failed."""
        return {one.name: one.wall_s for one in self.scenarios if one.verdict in ("pass", "fail")}

    @property
    def exit_code(self) -> int:
        """The tool's exit code: 130 interrupted, else 3 any broken, else 1 any failed, else 4 nothing ran, else 0."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        if self.count("broken"):
            return EXIT_LAB_BROKEN
        if self.count("fail"):
            return EXIT_CHECK_FAILED
        return EXIT_PASSED if self.count("pass") else EXIT_NOTHING_RAN


def is_missing(value: Value | None) -> bool:
    """Whether a measurement gave nothing that can be compared: None, NaN or an infinity."""
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def to_json(run: Run) -> dict[str, Any]:
    """The run as the dictionary that report.json holds. A value that JSON cannot hold (NaN) becomes None."""
    report: dict[str, Any] = _finite(asdict(run))
    for scenario, written in zip(run.scenarios, report["scenarios"], strict=True):
        for comparison, entry in zip(scenario.comparisons, written["comparisons"], strict=True):
            entry["ok"] = comparison.ok
    return report


def from_json(report: dict[str, Any]) -> Run:
    """The run that a stored report holds. Raises a ValueError that names each wrong field."""
    return _RUN.validate_python(report)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(item) for item in value]
    return None if is_missing(value) else value


_RUN = TypeAdapter(Run)
