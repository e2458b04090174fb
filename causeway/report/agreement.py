"""Whether runs of the same scenarios with one seed found the same: verdicts, and every measured number.

usage: python -m causeway.report.agreement REPORT.json REPORT.json...
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causeway.errors import EXIT_BAD_INPUT, EXIT_CHECK_FAILED, EXIT_PASSED

#: By how much a number may differ between runs, as a part of the largest (0.1 %).
TOLERANCE = 0.001


@dataclass(frozen=True)
class Difference:
    """What differs between runs: where, the values in the order of the runs, and the reason that the scenario gives."""

    where: str
    values: tuple[Any, ...]
    why: str


def differences(runs: Sequence[dict[str, Any]]) -> Iterator[Difference]:
    """Everything that differs: a scenario's verdict, the comparisons that it made, a measured value."""
    names = dict.fromkeys(scenario["name"] for run in runs for scenario in run["scenarios"])
    for name in names:
        found = [next((s for s in run["scenarios"] if s["name"] == name), None) for run in runs]
        verdicts = tuple(scenario["verdict"] if scenario else "not run" for scenario in found)
        if len(set(verdicts)) > 1:
            yield Difference(f"{name}: verdict", verdicts, "")
            continue
        compared = [scenario["comparisons"] for scenario in found if scenario]
        said = tuple(tuple(comparison["what"] for comparison in comparisons) for comparisons in compared)
        if len(set(said)) > 1:
            yield Difference(f"{name}: what it compares", tuple(len(what) for what in said), "")
            continue
        for same in zip(*compared, strict=True):
            values = tuple(comparison["measured"] for comparison in same)
            if not _agree(values):
                yield Difference(f"{name}: {same[0]['what']}", values, same[0]["why"])


def _agree(values: Sequence[Any]) -> bool:
    if all(isinstance(value, int | float) for value in values):
        return bool(max(values) - min(values) <= TOLERANCE * max(abs(value) for value in values))
    return len(set(values)) == 1


def main(files: Sequence[str]) -> int:
    """Print what differs; 1 when something does for which its scenario gives no reason."""
    if len(files) < 2:
        print("name the report.json of two runs or more", file=sys.stderr)
        return EXIT_BAD_INPUT
    runs = [json.loads(Path(file).read_text()) for file in files]
    found = list(differences(runs))
    for difference in found:
        values = ", ".join(str(value) for value in difference.values)
        print(f"{difference.where}: {values}" + (f" ({difference.why})" if difference.why else "  NO REASON GIVEN"))
    unexplained = sum(not difference.why for difference in found)
    numbers = sum(len(scenario["comparisons"]) for scenario in runs[0]["scenarios"])
    print(
        f"{len(runs)} runs, {len(runs[0]['scenarios'])} scenarios, {numbers} values:"
        f" {len(found)} differ by more than {TOLERANCE:.1%}, {unexplained} of them without a reason"
    )
    return EXIT_CHECK_FAILED if unexplained else EXIT_PASSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
