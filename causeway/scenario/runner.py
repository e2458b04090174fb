"""Find scenario files, play them on a lab, and turn what happened into results with a verdict."""

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import random
import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causeway.errors import BadInput, CheckFailed, LabBroken, Unsupported
from causeway.folders import REPO
from causeway.lab import dirt
from causeway.lab.clock import Watch
from causeway.lab.lab import Lab
from causeway.report.result import Phase, ScenarioResult, Verdict
from causeway.scenario import words
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage

FOLDER = REPO / "scenarios"
#: By their first letters: Arrange at most once and first; Healthy, once or more, before anything is perturbed; the
#: first Judge after a Perturb; the first Contrast after a Judge; Restore last, and once. From the first Perturb on
#: Perturb and Observe may come again at any time, so may Judge from the first one on, and Contrast from its first.
_ORDER = re.compile("A?H+P[PO]*J[POJ]*C[POJC]*R")
IN_ORDER = "Arrange if need be, Healthy, Perturb, Observe if need be, Judge, Contrast, and Restore at the end"


@dataclass(frozen=True)
class Scenario:
    """A scenario file: what its docstring says, whom it asks for, and the function that plays it.

    `sites` are the only ones that it is about, or none: then it is about any that can cast it.
    """

    name: str
    title: str
    claim: str
    source: str
    sites: tuple[str, ...]
    cast: Callable[[Ask], Any] | None
    play: Callable[..., None]

    def cast_by(self, ask: Ask) -> tuple[Any, ...]:
        """What `play` takes after the stage. Unsupported, with the reason, where the site has nobody for it."""
        if self.sites and ask.site.name not in self.sites:
            raise Unsupported(f"it is about {' and '.join(self.sites)}, and this is {ask.site.name}")
        return () if self.cast is None else (self.cast(ask),)


class Interrupted(KeyboardInterrupt):
    """Somebody ended the run while a scenario played. Its changes are undone, and it has a result, which is here."""

    def __init__(self, result: ScenarioResult) -> None:
        super().__init__()
        self.result = result


def names() -> list[str]:
    """Every shipped scenario."""
    return sorted(file.stem for file in FOLDER.glob("*.py"))


def load(name: str) -> Scenario:
    """A scenario by its name, or by its file's path. Raises BadInput when there is none."""
    return _loaded(_checked(name))


def _loaded(file: Path) -> Scenario:
    spec = importlib.util.spec_from_file_location(f"scenario_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    doc = inspect.getdoc(module) or ""
    cast: Callable[[Ask], Any] | None = getattr(module, "cast", None)
    said = {part: _part(doc, part) for part in ("Claim", "Source", "Sites")}
    sites = tuple(said["Sites"].split())
    return Scenario(file.stem, doc.splitlines()[0], said["Claim"], said["Source"], sites, cast, module.play)


def _checked(name: str) -> Path:
    """The file of a scenario. BadInput where there is none, or it has not a scenario's form; it is read, not run."""
    file = Path(name) if name.endswith(".py") else FOLDER / f"{name}.py"
    if not file.is_file():
        raise BadInput(f"there is no scenario {name!r}; the scenarios are {', '.join(names())}")
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise BadInput(f"{file}:{line}: {getattr(error, 'msg', error)}; make it Python") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    doc, takes = ast.get_docstring(tree) or "", 2 if "cast" in functions else 1
    play = functions.get("play")
    if play is None or len(play.args.args) != takes or "Claim:" not in doc or "Source:" not in doc:
        raise BadInput(
            f"{file}: a scenario has a docstring with Claim: and Source:, and play(stage), or cast(ask) and"
            " play(stage, cast)"
        )
    return file


def _part(doc: str, name: str) -> str:
    match = re.search(rf"^{name}:(.*?)(?=\n\n|\n[A-Z][a-z]+:|\Z)", doc, re.MULTILINE | re.DOTALL)
    return " ".join(match.group(1).split()) if match else ""


def load_all(wanted: Iterable[str]) -> list[Scenario]:
    """The wanted scenarios, or all; BadInput names every one that there is not.

    This does what stands at a file's top level, which may be a stranger's: it is for the lab host, or for a jail.
    """
    return [_loaded(file) for file in check_all(list(wanted) or names())]


def load_words() -> None:
    """Load what scenarios are written in: before a jail in which their libraries could not be loaded."""
    for module in pkgutil.iter_modules(words.__path__, f"{words.__name__}."):
        importlib.import_module(module.name)


def check_all(wanted: Iterable[str]) -> list[Path]:
    """The files of scenarios. BadInput naming each that there is not, or that has not the form; none of them is run."""
    files: list[Path] = []
    problems: list[str] = []
    for name in wanted:
        try:
            files.append(_checked(name))
        except BadInput as error:
            problems.append(str(error))
    if problems:
        raise BadInput("\n".join(problems))
    return files


def play(scenario: Scenario, lab: Lab, seed: int, keep_evidence: Callable[[str], object]) -> ScenarioResult:
    """Play one scenario. Whatever happens, its changes are undone and it has a verdict.

    Evidence of a failure is kept before the undo, with what went wrong as its argument. A file that ends
    without having judged anything fails: silence is no pass. Where not all could be undone, the lab is marked
    (dirt). Raises Interrupted after an interrupt.
    """
    # of the name, too: two scenarios in one lab must not draw the same ports, which rest after use
    stage = Stage(lab, random.Random(f"{seed} {scenario.name}"))
    watch = Watch()
    interrupted = False
    verdict: Verdict
    try:
        verdict, why = _verdict(scenario, stage)
        if verdict in ("fail", "broken"):
            try:
                keep_evidence(f"{verdict}: {why}")
            except Exception as error:  # a lab so broken that it gives none must still be undone and told of
                why += f"; evidence is incomplete: {error}"
    except KeyboardInterrupt:
        interrupted = True
        verdict, why = "skipped", _where(stage)
    try:
        stage.undo()
    except LabBroken:
        pass  # it is in not_restored
    except KeyboardInterrupt:
        interrupted = True
    if stage.not_restored:  # a broken lab, whatever the verdict was
        left = "; ".join(stage.not_restored)
        other = "" if left in why else why
        verdict, why = "broken", "; ".join(filter(None, [f"the lab was not restored: {left}", other]))
        dirt.mark(lab, scenario.name, stage.not_restored)
    result = ScenarioResult(
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
    if interrupted:
        raise Interrupted(result)
    return result


def not_played(scenario: Scenario, verdict: Verdict, why: str) -> ScenarioResult:
    """The result of a scenario that did not begin."""
    return ScenarioResult(scenario.name, scenario.title, scenario.claim, scenario.source, verdict, why, 0.0, 0.0)


def _verdict(scenario: Scenario, stage: Stage) -> tuple[Verdict, str]:
    try:
        scenario.play(stage, *scenario.cast_by(Ask(stage.site)))
    except CheckFailed as error:
        return "fail", str(error)
    except Unsupported as error:
        return "skipped", str(error)
    except LabBroken as error:
        return "broken", str(error)
    except Exception as error:  # a mistake in the scenario's own code says nothing about the lab
        return "broken", _mistake(error)
    phases = [step.phase for step in stage.steps]
    if not stage.comparisons:
        return "fail", "it ended without a verdict: no comparison"
    if not _in_order(phases):
        return "fail", f"its phases are {', '.join(phases)}; due are {IN_ORDER}"
    return "pass", ""


def _in_order(phases: Iterable[Phase]) -> bool:
    return _ORDER.fullmatch("".join(phase[0] for phase in phases)) is not None


def _where(stage: Stage) -> str:
    """How far an interrupted scenario came."""
    last = stage.steps[-1] if stage.steps else None
    return "interrupted" if last is None else f"interrupted; {last.phase}: {last.sentence}"


def _mistake(error: Exception) -> str:
    """An exception that no check, lab or site is to blame for: its kind, its words and its place."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    places = [f"{_short(f.filename)}:{f.lineno}" for f in (frames[0], frames[-1])] if frames else []
    said = f"{type(error).__name__}: {error}".removesuffix(": ")
    return f"{said} (at {', in '.join(dict.fromkeys(reversed(places)))})"


def _short(file: str) -> str:
    return str(Path(file).relative_to(REPO)) if Path(file).is_relative_to(REPO) else file
