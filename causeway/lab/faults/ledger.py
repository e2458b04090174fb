"""The faults that are in a lab that is up, kept in its folder: another command undoes them."""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from causeway.errors import BadInput, LabBroken
from causeway.lab.changes.change import Change, Step, Undo
from causeway.lab.lab import Lab


@dataclass(frozen=True)
class Entry:
    """One injected fault: FOLDER/faults/ID.json has the steps of its undo, and none once it is cleared."""

    id: int
    name: str
    steps: tuple[Step, ...]


def inject(lab: Lab, name: str, change: Change) -> int:
    """Make a fault; returns its id, which no other fault of this lab gets.

    Its undo is kept before anything is changed. A fault that could not be made is undone at once, and is left to be
    cleared only where that could not be done.
    """
    entry = Entry(len(entries(lab)) + 1, name, change.back)
    _write(lab, entry)
    try:
        change.make(lab)
    except BaseException:
        with suppress(LabBroken):  # told already
            clear(lab, entry)
        raise
    return entry.id


def entries(lab: Lab) -> list[Entry]:
    """All that were injected since the lab is up, in that order, the cleared ones too."""
    found = []
    for file in _folder(lab).glob("*.json"):
        kept = json.loads(file.read_text())
        steps = tuple(Step(**(step | {"argv": tuple(step["argv"])})) for step in kept["steps"])
        found.append(Entry(int(file.stem), kept["name"], steps))
    return sorted(found, key=lambda entry: entry.id)


def refuse(lab: Lab) -> None:
    """BadInput while a fault is in: what a scenario measured then would be no verdict on it."""
    if left := [f"{entry.id} ({entry.name})" for entry in entries(lab) if entry.steps]:
        raise BadInput(f"fault {', '.join(left)} is in {lab.site.name}; first: causeway fault clear")


def choose(lab: Lab, which: str) -> list[Entry]:
    """What is to be cleared, the last one first: those that are left of all, or one by its id, cleared or not.

    BadInput when there is no such id, or when a later fault has changed the same thing and must go first.
    """
    everything = entries(lab)
    left = [entry for entry in everything if entry.steps]
    if which == "all":
        return left[::-1]
    ids = ", ".join(str(entry.id) for entry in left) or "none"
    chosen = [entry for entry in everything if str(entry.id) == which]
    if not chosen:
        raise BadInput(f"there is no fault {which}; there are: {ids}")
    over = [e.id for e in left if e.id > chosen[0].id and _things(e) & _things(chosen[0])]
    if over:
        raise BadInput(f"fault {over[-1]} has since changed the same thing as {which}; clear that first")
    return chosen


def clear(lab: Lab, entry: Entry) -> None:
    """Undo a fault. LabBroken when a node does not take it, and then it stays to be cleared."""
    Undo(lab, entry.steps)()
    _write(lab, Entry(entry.id, entry.name, ()))


def _things(entry: Entry) -> set[tuple[str, tuple[str, ...]]]:
    """What an undo sets: the first five words of each command name it, the rest says to what."""
    return {(step.node, step.argv[:5]) for step in entry.steps}


def _folder(lab: Lab) -> Path:
    return lab.folder / "faults"


def _write(lab: Lab, entry: Entry) -> None:
    _folder(lab).mkdir(exist_ok=True)
    temporary = _folder(lab) / ".new"
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:  # keys may be in it
        json.dump({"name": entry.name, "steps": [asdict(step) for step in entry.steps]}, file, indent=2)
    temporary.rename(_folder(lab) / f"{entry.id}.json")
