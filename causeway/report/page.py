"""The HTML pages of a run: one of all scenarios, and one of each. None needs anything but the others."""

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from causeway.report import wording
from causeway.report.beside import Beside
from causeway.report.result import Run, ScenarioResult, is_missing


def render(run: Run, beside: Mapping[str, Beside], drawing: str = "") -> dict[str, str]:
    """The pages by their paths in the run's folder.

    `beside` has, by scenario, what another clock made of it; `drawing` is an element of HTML that shows the site.
    """
    templates = environment()
    overview = templates.get_template("overview.html.j2")
    words = {"counts": wording.counts(run), "summary": wording.summary(run)}
    found = {"report.html": overview.render(run=run, **words, beside=beside, drawing=Markup(drawing))}
    template = templates.get_template("scenario.html.j2")
    for scenario in run.scenarios:
        found[_page_name(scenario)] = template.render(run=run, scenario=scenario, other=beside.get(scenario.name))
    return found


def _page_name(scenario: ScenarioResult) -> str:
    return f"scenarios/{scenario.name}.html"


def environment() -> Environment:
    """The templates, and the words in which they say values."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        number=wording.number,
        seconds=wording.seconds,
        deviation=wording.deviation,
        tolerance=wording.tolerance,
        verdict=wording.verdict,
        values=wording.bar_values,
        met=wording.met,
        page_name=_page_name,
        percent=_percent,
    )
    return made


def _percent(value: float | None, capacity: float) -> str:
    """Where a value stands on an axis from 0 to `capacity`, in per cent, held within the axis."""
    if value is None or is_missing(value) or capacity <= 0:
        return "0%"
    return f"{min(max(100 * value / capacity, 0), 100):.2f}%"
