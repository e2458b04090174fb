"""One run of several: parts that were played in labs of their own, on one machine or on many."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from causeway.errors import BadInput
from causeway.report import files
from causeway.report.result import Run, from_json

#: What runs must have in common to be parts of one.
_ALIKE = ("lab", "lab_host", "clock", "seed")


def merge(folders: Sequence[Path], runs: Path) -> Run:
    """Make a run of several in a folder of its own, with what they typed and kept; they stay as they are.

    BadInput, with all that is wrong, where one is none, or they are no parts of one.
    """
    parts = list(_read(folders))
    parts.sort(key=lambda part: part[1].id)
    found = [run for _, run in parts]
    if mistakes := list(_mistakes(found)):
        raise BadInput("\n".join(mistakes))
    first = min(found, key=lambda run: run.started)
    target = files.new_folder(runs, datetime.fromisoformat(first.started), first.clock, first.seed)
    behind = [run.fell_behind_s for run in found if run.fell_behind_s is not None]
    merged = Run(
        id=target.name,
        lab=first.lab,
        lab_host=first.lab_host,
        clock=first.clock,
        seed=first.seed,
        started=first.started,
        wall_s=sum(run.wall_s for run in found),
        virtual_s=sum(run.virtual_s for run in found),
        fell_behind_s=max(behind, default=None),
        scenarios=sorted((s for run in found for s in run.scenarios), key=lambda scenario: scenario.name),
        interrupted=any(run.interrupted for run in found),
        made_of=_made_of(found),
    )
    try:
        for folder, _ in parts:
            if (folder / "evidence").is_dir():
                shutil.copytree(folder / "evidence", target / "evidence", dirs_exist_ok=True)
        typed = [folder / "transcript.txt" for folder, _ in parts if (folder / "transcript.txt").exists()]
        (target / "transcript.txt").write_text("".join(file.read_text() for file in typed))
        files.write(merged, target, files.drawing_of(parts[0][0]))
    except BaseException:
        shutil.rmtree(target)
        raise
    return merged


def _made_of(found: Sequence[Run]) -> dict[str, dict[str, str]]:
    """What their labs are made of; where that differs, of each by its run's name."""
    first, *others = (run.made_of for run in found)
    if all(other == first for other in others):
        return first
    return {f"{run.id}: {artefact}": what for run in found for artefact, what in run.made_of.items()}


def read(folder: Path) -> Run:
    """The run of a folder. BadInput where it has none, or one that another Causeway has written."""
    file = folder / "report.json"
    try:
        return from_json(json.loads(file.read_text(encoding="utf-8")))
    except OSError:
        raise BadInput(f"{folder} is no run: it has no report.json; name a folder of runs/") from None
    except ValueError:
        raise BadInput(f"{file}: this is no report of this Causeway; play it again") from None


def _read(folders: Sequence[Path]) -> Iterator[tuple[Path, Run]]:
    mistakes = []
    for folder in folders:
        try:
            yield folder, read(folder)
        except BadInput as error:
            mistakes.append(str(error))
    if mistakes:
        raise BadInput("\n".join(mistakes))


def _mistakes(found: Sequence[Run]) -> Iterator[str]:
    for key in _ALIKE:
        values = {getattr(run, key): run.id for run in found}
        if len(values) > 1:
            said = ", ".join(f"{value} in {name}" for value, name in values.items())
            yield f"{key.replace('_', ' ')} is not the same in all of them ({said}); merge parts of one run"
    times = Counter(scenario.name for run in found for scenario in run.scenarios)
    for name, number in times.items():
        if number > 1:
            yield f"{name} was played in {number} of them; leave out all but one"
