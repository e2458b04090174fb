"""Find scenario files, run them on a lab, and turn what happened into results with a verdict."""

import importlib.util
import inspect
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from causeway.errors import BadInput, CheckFailed, LabBroken, Unsupported
from causeway.lab.clock import Watch
from causeway.lab.lab import Lab
from causeway.labhost.folders import REPO
from causeway.report.result import ScenarioResult, Verdict
from causeway.scenario.stage import Stage

FOLDER = REPO / "scenarios"


@dataclass(frozen=True)
class Scenario:
    """A scenario file: what its docstring says, and the function that plays it."""

    name: str
    title: str
    claim: str
    source: str
    play: Callable[[Stage], None]


def names() -> list[str]:
    """Every shipped scenario."""
    return sorted(file.stem for file in FOLDER.glob("*.py"))


def load(name: str) -> Scenario:
    """A scenario by its name, or by its file's path. Raises BadInput when there is none."""
    file = Path(name) if name.endswith(".py") else FOLDER / f"{name}.py"
    if not file.is_file():
        raise BadInput(f"there is no scenario {name!r}; the scenarios are {', '.join(names())}")
    spec = importlib.util.spec_from_file_location(f"scenario_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    doc = inspect.getdoc(module) or ""
    play = getattr(module, "play", None)
    if play is None or "Claim:" not in doc or "Source:" not in doc:
        raise BadInput(f"{file}: a scenario has a docstring with Claim: and Source:, and play(stage)")
    return Scenario(file.stem, doc.splitlines()[0], _part(doc, "Claim"), _part(doc, "Source"), play)


def _part(doc: str, name: str) -> str:
    match = re.search(rf"^{name}:(.*?)(?=\n\n|\n[A-Z][a-z]+:|\Z)", doc, re.MULTILINE | re.DOTALL)
    return " ".join(match.group(1).split()) if match else ""


def play(scenario: Scenario, lab: Lab, seed: int, keep_evidence: Callable[[str], object]) -> ScenarioResult:
    """Play one scenario. Whatever happens, its changes are undone and it has a verdict.

    Evidence of a failure is kept before the undo, with what went wrong as its argument. A file that ends
    without having judged anything fails: silence is no pass.
    """
    # of the name, too: two scenarios in one lab must not draw the same ports, which rest after use
    stage = Stage(lab, random.Random(f"{seed} {scenario.name}"))
    watch = Watch()
    verdict, why = _verdict(scenario, stage)
    if verdict in ("fail", "broken"):
        try:
            keep_evidence(f"{verdict}: {why}")
        except Exception as error:  # a lab so broken that it gives none must still be undone and told of
            why += f"; evidence is incomplete: {error}"
    try:
        stage.undo()
    except Exception as error:  # what cannot be undone is a broken lab, whatever the verdict was
        verdict, why = "broken", f"undo failed: {error}"
    return ScenarioResult(
        name=scenario.name,
        title=scenario.title,
        claim=scenario.claim,
        source=scenario.source,
        verdict=verdict,
        why=why,
        wall_s=watch.wall_s,
        virtual_s=watch.virtual_s,
        steps=stage.steps,
        comparisons=stage.comparisons,
        exhibits=stage.exhibits,
    )


def _verdict(scenario: Scenario, stage: Stage) -> tuple[Verdict, str]:
    try:
        scenario.play(stage)
    except CheckFailed as error:
        return "fail", str(error)
    except Unsupported as error:
        return "skipped", str(error)
    except LabBroken as error:
        return "broken", str(error)
    except Exception as error:  # a mistake in the scenario's own code says nothing about the lab
        return "broken", f"{type(error).__name__}: {error}"
    phases = {step.phase for step in stage.steps}
    lacking = [phase for phase in ("Healthy", "Judge", "Contrast", "Restore") if phase not in phases]
    if lacking or not stage.comparisons:
        return "fail", f"it ended without a verdict: no {', '.join(lacking) or 'comparison'}"
    return "pass", ""


def load_all(wanted: Iterable[str]) -> list[Scenario]:
    """The wanted scenarios, or all; BadInput names every one that there is not."""
    problems: list[str] = []
    found: list[Scenario] = []
    for name in list(wanted) or names():
        try:
            found.append(load(name))
        except BadInput as error:
            problems.append(str(error))
    if problems:
        raise BadInput("\n".join(problems))
    return found
