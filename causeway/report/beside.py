"""What another clock made of the same scenarios, so that a report can show both side by side."""

import json
from dataclasses import dataclass
from pathlib import Path

from causeway.report.result import Comparison, Run, ScenarioResult, from_json


@dataclass(frozen=True)
class Beside:
    """A scenario's result of a run with another clock."""

    run_id: str
    clock: str
    result: ScenarioResult

    def comparison(self, mine: ScenarioResult, index: int) -> Comparison | None:
        """Its counterpart of one of my comparisons: of the same name, and as often said before; None without one."""
        what = mine.comparisons[index].what
        earlier = sum(c.what == what for c in mine.comparisons[:index])
        same = [c for c in self.result.comparisons if c.what == what]
        return same[earlier] if earlier < len(same) else None


def other_clock(run: Run, runs: Path) -> dict[str, Beside]:
    """The newest result of each of a run's scenarios with another clock in the same lab, of the runs in a folder."""
    wanted = {scenario.name for scenario in run.scenarios}
    found: dict[str, Beside] = {}
    for file in sorted(runs.glob("[0-9]*/report.json"), reverse=True):
        if wanted <= found.keys():
            break
        try:
            report = json.loads(file.read_text(encoding="utf-8"))
            if report["clock"] == run.clock or report["lab"] != run.lab:  # most are of the same clock
                continue
            other = from_json(report)
        except (OSError, ValueError, KeyError):  # of an older Causeway, half written, somebody else's to read
            continue
        for result in other.scenarios:
            if result.name in wanted:
                found.setdefault(result.name, Beside(other.id, other.clock, result))
    return found
