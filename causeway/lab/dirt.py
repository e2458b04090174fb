"""The mark of a lab that could not be restored: nothing more is played in it."""

from collections.abc import Iterable
from pathlib import Path

from causeway.errors import BadInput
from causeway.lab.lab import Lab


def mark(lab: Lab, scenario: str, reasons: Iterable[str]) -> None:
    """Keep in the lab's folder what is not undone, and after which scenario."""
    with _file(lab).open("a") as file:
        file.writelines(f"{scenario}: {' '.join(reason.split())}\n" for reason in reasons)


def after(lab: Lab) -> str:
    """The scenario after which the lab was not restored, or ""."""
    return next(iter(left(lab)), "").split(":")[0]


def left(lab: Lab) -> list[str]:
    """What is not undone, each with the scenario that did it."""
    return _file(lab).read_text().splitlines() if _file(lab).exists() else []


def refuse(lab: Lab) -> None:
    """BadInput, with what is not undone and the remedy, where the lab is marked."""
    if after(lab):
        name = lab.site.name
        raise BadInput(
            f"lab {name} was not restored after a scenario, and nothing is played in it:\n"
            f"{_file(lab).read_text()}`causeway down {name}` and `causeway up` make a new one"
        )


def _file(lab: Lab) -> Path:
    return lab.folder / "dirty"
