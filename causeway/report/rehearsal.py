"""What came of a change that was played, as data, and as one page, JSON and JUnit XML."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup

from causeway.errors import EXIT_CHECK_FAILED, EXIT_PASSED
from causeway.report.junit import clean
from causeway.report.page import environment

Turn = Literal["worse", "better", "other"]
#: What is asked of every change, in the order of the page.
QUESTIONS = {
    "commands": "Does each command do what it says?",
    "during": "Can all talk between the steps who could before and can afterwards?",
    "lost": "What is lost meanwhile?",
    "sessions": "Does every session live?",
    "files": "Can files be written, before, meanwhile and afterwards?",
    "reach": "Who reaches whom afterwards, and with packets of which size?",
    "ways": "By which routers?",
    "load": "What becomes of streams that run all the time?",
    "rates": "What do streams get that run together?",
    "computed": "What else moves, by computation alone?",
    "back": "Is all as before after the way back?",
    "prediction": "Is what was played what was predicted?",
}


@dataclass(frozen=True)
class Answer:
    """One thing that a change moves, of one of the questions; `predicted` and `played` are "" where nobody can say.

    `count` says how many pairs or nodes it concerns, `pairs` which: node -> others. `see` are native commands that show
    it.
    """

    question: str
    turn: Turn
    what: str
    before: str
    predicted: str
    played: str
    pairs: dict[str, list[str]] = field(default_factory=dict)
    see: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(map(len, self.pairs.values())) or len(self.pairs)

    @property
    def whom(self) -> str:
        """Whom it concerns, in a few words."""
        others = list(dict.fromkeys(other for ends in self.pairs.values() for other in ends))
        return " > ".join(filter(None, (_some(list(self.pairs)), _some(others))))

    @property
    def line(self) -> str:
        """As one line."""
        values = (("before", self.before), ("predicted", self.predicted), ("played", self.played))
        said = ", ".join(f"{name}: {value}" for name, value in values if value)
        return f"{self.turn}: {self.what}: {said}" + (f" ({self.whom})" if self.pairs else "")


@dataclass(frozen=True)
class Done:
    """A part of a rehearsal: what it is, its seconds on the lab's clock, what was typed, and what came of it."""

    title: str
    seconds: float
    typed: list[str]
    found: str


@dataclass(frozen=True)
class Rehearsal:
    """A whole one. Times are in seconds; `asked` are the questions that something was measured for."""

    id: str
    site: str
    change: str
    clock: str
    seed: int
    started: str
    wall_s: float
    virtual_s: float
    answers: list[Answer]
    parts: list[Done]
    not_predicted: list[str]
    asked: list[str]
    made_of: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, question: str) -> list[Answer]:
        """The answers to a question, the worst first."""
        order = ("worse", "better", "other")
        return sorted(
            (a for a in self.answers if a.question == question), key=lambda a: (order.index(a.turn), -a.count)
        )

    def count(self, turn: Turn) -> int:
        return sum(answer.turn == turn for answer in self.answers)

    @property
    def verdict(self) -> str:
        return "regression" if self.count("worse") else "no regression"

    @property
    def summary(self) -> str:
        return f"{self.verdict}: {self.count('worse')} worse, {self.count('better')} better"

    @property
    def exit_code(self) -> int:
        return EXIT_CHECK_FAILED if self.count("worse") else EXIT_PASSED


def as_data(rehearsal: Rehearsal) -> dict[str, Any]:
    """As rehearsal.json has it."""
    return {"verdict": rehearsal.verdict, **asdict(rehearsal)}


def write(rehearsal: Rehearsal, folder: Path, drawing: str = "") -> None:
    """Write rehearsal.json, rehearsal.html and junit.xml."""
    text = json.dumps(as_data(rehearsal), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "rehearsal.json").write_text(text + "\n", encoding="utf-8")
    (folder / "rehearsal.html").write_text(page(rehearsal, drawing), encoding="utf-8")
    (folder / "junit.xml").write_text(junit(rehearsal), encoding="utf-8")


def page(rehearsal: Rehearsal, drawing: str = "") -> str:
    """The one page; it needs nothing but itself."""
    template = environment().get_template("rehearsal.html.j2")
    return template.render(rehearsal=rehearsal, questions=QUESTIONS, drawing=Markup(drawing))


def junit(rehearsal: Rehearsal) -> str:
    """One test suite, with a test case for each question that was asked."""
    wrong = [name for name in rehearsal.asked if any(a.turn == "worse" for a in rehearsal.of(name))]
    name = clean(f"causeway.rehearsal.{rehearsal.site}")
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(rehearsal.asked)),
        failures=str(len(wrong)),
        time=f"{rehearsal.wall_s:.3f}",
    )
    for asked in rehearsal.asked:
        case = ET.SubElement(suite, "testcase", classname=name, name=QUESTIONS[asked])
        if asked in wrong:
            worse = [answer.line for answer in rehearsal.of(asked) if answer.turn == "worse"]
            ET.SubElement(case, "failure", message=clean(worse[0])).text = clean("\n".join(worse))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=False) + "\n"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names if len(names) <= 4 else [*names[:3], f"... ({len(names)})"])
