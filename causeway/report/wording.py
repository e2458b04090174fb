"""How values and verdicts are worded, the same on the page and in a terminal."""

from causeway.report.result import Bar, Bars, Comparison, Run, ScenarioResult, Value, Verdict, is_missing

MARKS: dict[Verdict, str] = {"pass": "✓", "fail": "✗", "broken": "!", "skipped": "–"}
WORDS: dict[Verdict, str] = {"pass": "passed", "fail": "failed", "broken": "lab broken", "skipped": "skipped"}


def verdict(name: Verdict) -> str:
    """A verdict as its mark and its word."""
    return f"{MARKS[name]} {WORDS[name]}"


def number(value: Value | None) -> str:
    """A value without its unit: text as it stands, numbers with three decimals where they have any."""
    if isinstance(value, str):
        return value
    if value is None or is_missing(value):
        return "not measured"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.3f}" if abs(value) >= 1 else f"{value:.4g}"


def seconds(value: float | None) -> str:
    """A duration in seconds, with its unit."""
    return "–" if value is None else f"{value:,.1f} s"


def deviation(comparison: Comparison) -> str:
    """The deviation of the measured from the expected value in per cent, or a dash where there is none."""
    return "–" if comparison.deviation is None else f"{100 * comparison.deviation:+,.3f} %"


def tolerance(comparison: Comparison) -> str:
    """The deviation that is allowed."""
    return "equal" if comparison.tolerance == 0 else f"± {100 * comparison.tolerance:g} %"


def failure(comparison: Comparison) -> str:
    """One line that says what was expected and what was measured."""
    unit = f" {comparison.unit}" if comparison.unit else ""
    line = f"{comparison.what}: expected {number(comparison.expected)}{unit}"
    if is_missing(comparison.measured):
        return f"{line}, not measured"
    line += f", measured {number(comparison.measured)}{unit}"
    if comparison.deviation is None:
        return line
    return f"{line} ({deviation(comparison)}, allowed: {tolerance(comparison)})"


def met(scenario: ScenarioResult) -> str:
    """How many comparisons of a scenario are met, and how far the measured values are off at most."""
    good = sum(comparison.ok for comparison in scenario.comparisons)
    line = f"{good} of {len(scenario.comparisons)} met"
    off = [abs(c.deviation) for c in scenario.comparisons if c.ok and c.deviation is not None and c.tolerance > 0]
    return f"{line}, at most {100 * max(off):.3g} % off" if off else line


def bar_values(bar: Bar, chart: Bars) -> str:
    """What a bar's member carried and what was expected of it, in the chart's unit."""
    expected = f"{number(bar.expected)} {chart.unit} expected"
    if bar.measured is None or is_missing(bar.measured):
        return f"not measured, {expected}"
    beyond = ", above capacity" if bar.measured > chart.capacity else ""
    return f"{number(bar.measured)} measured, {expected}{beyond}"


def counts(run: Run) -> list[tuple[Verdict, int]]:
    """Each verdict that occurs in the run, and how often."""
    return [(name, run.count(name)) for name in MARKS if run.count(name)]


def summary(run: Run) -> str:
    """The run's verdicts in a few words, and whether it came to its end."""
    said = ", ".join(f"{count} {WORDS[name]}" for name, count in counts(run)) or "nothing ran"
    return f"interrupted: {said}" if run.interrupted else said
