"""Whether runs of the same scenarios with one seed found the same: verdicts, and every measured value.

What a scenario says to repeat must be equal to the last digit. A number that does not must be within 0.1 % of the other
runs', whatever its own comparison allows. What is random in every run (an id, a digest) is counted, where its scenario
says why.

usage: python -m causeway.report.agreement REPORT.json REPORT.json...
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causeway.errors import EXIT_BAD_INPUT, EXIT_CHECK_FAILED, EXIT_NOTHING_RAN, EXIT_PASSED

#: By how much a number that does not repeat may differ between runs, as a part of the largest (0.1 %).
TOLERANCE = 0.001


@dataclass(frozen=True)
class Difference:
    """What differs between runs: where, the values in the order of the runs, and what is wrong with that, or "".

    `why` is the reason that the scenario gives for a value that is another one in every run.
    """

    where: str
    values: tuple[Any, ...]
    wrong: str
    why: str = ""


def differences(runs: Sequence[dict[str, Any]]) -> Iterator[Difference]:
    """Everything that differs: a scenario's verdict, the comparisons that it made, a measured value."""
    names = dict.fromkeys(scenario["name"] for run in runs for scenario in run["scenarios"])
    for name in names:
        found = [next((s for s in run["scenarios"] if s["name"] == name), None) for run in runs]
        verdicts = tuple(scenario["verdict"] if scenario else "not run" for scenario in found)
        if len(set(verdicts)) > 1:
            yield Difference(f"{name}: verdict", verdicts, "verdicts are equal")
            continue
        compared = [scenario["comparisons"] for scenario in found if scenario]
        said = tuple(tuple(comparison["what"] for comparison in comparisons) for comparisons in compared)
        if len(set(said)) > 1:
            yield Difference(f"{name}: what it compares", tuple(len(what) for what in said), "it is always the same")
            continue
        for same in zip(*compared, strict=True):
            values = tuple(comparison["measured"] for comparison in same)
            if len(set(values)) > 1:
                yield Difference(f"{name}: {same[0]['what']}", values, _wrong(same[0], values), same[0]["why"])


def _wrong(comparison: dict[str, Any], values: Sequence[Any]) -> str:
    """What is wrong with values that differ from run to run, or ""."""
    if comparison.get("repeats", True):
        return "it repeats to the last digit"
    numbers = [value for value in values if isinstance(value, int | float)]
    if not numbers:
        return "" if comparison["why"] else "its scenario does not say why"
    if len(numbers) < len(values):
        return "it is a number in every run"
    off = (max(numbers) - min(numbers)) / max(abs(number) for number in numbers)
    return f"numbers are within {TOLERANCE:.1%}, not {off:.2%}" if off > TOLERANCE else ""


def main(files: Sequence[str]) -> int:
    """Print what differs; 1 when something does that must not, 4 when nothing was compared."""
    if len(files) < 2:
        print("name the report.json of two runs or more", file=sys.stderr)
        return EXIT_BAD_INPUT
    runs = [json.loads(Path(file).read_text()) for file in files]
    found = list(differences(runs))
    for difference in found:
        values = ", ".join(str(value) for value in difference.values)
        said = f"  WRONG: {difference.wrong}" if difference.wrong else f" ({difference.why})" if difference.why else ""
        print(f"{difference.where}: {values}{said}")
    wrong = sum(bool(difference.wrong) for difference in found)
    compared = [comparison for scenario in runs[0]["scenarios"] for comparison in scenario["comparisons"]]
    repeating = sum(comparison.get("repeats", True) for comparison in compared)
    print(
        f"{len(runs)} runs, {len(runs[0]['scenarios'])} scenarios, {len(compared)} values, of which {repeating} repeat:"
        f" {len(found)} differ, {wrong} of them wrongly"
    )
    if wrong:
        return EXIT_CHECK_FAILED
    return EXIT_PASSED if compared else EXIT_NOTHING_RAN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
