"""The tables of a run for a terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from causeway.report import wording
from causeway.report.result import Run, ScenarioResult, Verdict

_STYLES: dict[Verdict, str] = {"pass": "green", "fail": "bold red", "broken": "bold yellow", "skipped": "dim"}

#: What a row takes beside the name, in columns: the verdict, two times, and enough for words to be read.
_BESIDE_A_NAME = 56


def show(run: Run, console: Console) -> None:
    """Print each scenario with its verdict, what failed in it, and its wall and virtual seconds; then the sum.

    A name stands on one line however narrow the terminal is, so that it can be found, copied and typed.
    """
    if run.scenarios:
        longest = max(len(scenario.name) for scenario in run.scenarios)
        if longest + _BESIDE_A_NAME <= console.width:
            console.print(_table(run, longest))
        else:
            console.print(Text(f"Run {run.id}", "italic"))
            for scenario in run.scenarios:
                console.print(_paragraph(scenario))
    console.print(Text(_sum(run)))


def _table(run: Run, name_width: int) -> Table:
    table = Table(title=f"Run {run.id}", title_justify="left", show_lines=run.exit_code != 0)
    table.add_column("Scenario", no_wrap=True, min_width=name_width)
    table.add_column("Verdict", no_wrap=True)
    table.add_column("Expected and measured", overflow="fold", ratio=1)
    table.add_column("Wall", justify="right", no_wrap=True)
    table.add_column("Virtual", justify="right", no_wrap=True)
    for scenario in run.scenarios:
        table.add_row(
            Text(scenario.name),
            Text(wording.verdict(scenario.verdict), _STYLES[scenario.verdict]),
            Text(_findings(scenario)),
            wording.seconds(scenario.wall_s),
            wording.seconds(scenario.virtual_s),
        )
    return table


def _paragraph(scenario: ScenarioResult) -> Text:
    """What a row of the table has, one below the other."""
    took = f"{wording.seconds(scenario.wall_s)} wall, {wording.seconds(scenario.virtual_s)} virtual"
    verdict = (wording.verdict(scenario.verdict), _STYLES[scenario.verdict])
    return Text.assemble(f"{scenario.name}\n", verdict, f", {took}\n", _findings(scenario), "\n")


def _findings(scenario: ScenarioResult) -> str:
    if scenario.verdict == "pass":
        return wording.met(scenario)
    lines = [scenario.why]
    lines += [f"{step.phase}: {step.sentence}" for step in scenario.failed_steps]
    lines += [wording.failure(comparison) for comparison in scenario.failed_comparisons]
    return "\n".join(line for line in lines if line)


def _sum(run: Run) -> str:
    behind = "" if run.fell_behind_s is None else f", {wording.seconds(run.fell_behind_s)} behind the wall"
    return (
        f"{wording.summary(run)}: lab {run.lab}, lab host {run.lab_host}, clock {run.clock}, seed {run.seed}; "
        f"{wording.seconds(run.wall_s)} wall, {wording.seconds(run.virtual_s)} virtual{behind}"
    )
