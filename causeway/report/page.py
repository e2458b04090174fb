"""The HTML page of a run: one file that needs nothing else."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from causeway.report import wording
from causeway.report.result import Run, is_missing


def render(run: Run) -> str:
    """The page of a run as text."""
    template = _environment().get_template("page.html.j2")
    return template.render(run=run, counts=wording.counts(run), summary=wording.summary(run))


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=wording.number,
        seconds=wording.seconds,
        deviation=wording.deviation,
        tolerance=wording.tolerance,
        verdict=wording.verdict,
        values=wording.bar_values,
        percent=_percent,
    )
    return environment


def _percent(value: float | None, capacity: float) -> str:
    """Where a value stands on an axis from 0 to `capacity`, in per cent, held within the axis."""
    if value is None or is_missing(value) or capacity <= 0:
        return "0%"
    return f"{min(max(100 * value / capacity, 0), 100):.2f}%"
