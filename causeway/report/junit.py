"""The run as JUnit XML, for CI systems."""

import re
import xml.etree.ElementTree as ET

from causeway.report.result import Run, ScenarioResult, Verdict
from causeway.report.wording import failure

_ELEMENTS: dict[Verdict, str] = {"fail": "failure", "broken": "error", "skipped": "skipped"}
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(run: Run) -> str:
    """The run as one test suite, with a test case for each scenario. Times are wall seconds."""
    suite = ET.Element(
        "testsuite",
        name=clean(f"causeway.{run.lab}"),
        tests=str(len(run.scenarios)),
        failures=str(run.count("fail")),
        errors=str(run.count("broken")),
        skipped=str(run.count("skipped")),
        time=f"{run.wall_s:.3f}",
    )
    for scenario in run.scenarios:
        _add_case(suite, run, scenario)
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=False) + "\n"


def _add_case(suite: ET.Element, run: Run, scenario: ScenarioResult) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=clean(f"causeway.{run.lab}"),
        name=clean(scenario.name),
        time=f"{scenario.wall_s:.3f}",
    )
    if scenario.verdict in _ELEMENTS:
        outcome = ET.SubElement(case, _ELEMENTS[scenario.verdict], message=clean(scenario.why))
        outcome.text = clean("\n".join(failure(comparison) for comparison in scenario.failed_comparisons))


def clean(text: str) -> str:
    """The text with each character that XML cannot hold (a terminal's escape codes) replaced."""
    return _NOT_XML.sub("\ufffd", text)
