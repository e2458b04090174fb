"""What is known of the lesson that is on in a lab: a file in the lab's folder, which does not go back with the lab.

Whoever does a command in the lab host finds it in the shared folder, and writes it anew there.
"""

import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

NAME = "lesson.json"
#: The name of the checkpoint that is a lesson's beginning.
BEGINNING = "lesson"


@dataclass
class Notes:
    """`lesson` as the lab host finds it (a shipped one's name or a path); `hints`: task -> how many were taken;
    `passed`: the tasks that were right when they were looked at last."""

    lesson: str
    seed: int
    level: int
    tasks: int = 0
    title: str = ""
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    hints: dict[str, int] = field(default_factory=dict)
    passed: list[int] = field(default_factory=list)
    checks: int = 0
    resets: int = 0
    solved: bool = False

    @property
    def task(self) -> int:
        """The task that is to be done next; one more than there are where all are done."""
        return next((number for number in range(1, self.tasks + 1) if number not in self.passed), self.tasks + 1)

    @property
    def name(self) -> str:
        return Path(self.lesson).name

    def write(self, folder: Path) -> None:
        new = folder / f".{NAME}"
        new.write_text(json.dumps(asdict(self), indent=2))
        os.replace(new, folder / NAME)


def read(folder: Path) -> Notes | None:
    """The notes in a folder, or None where no lesson is on."""
    try:
        return Notes(**json.loads((folder / NAME).read_text()))
    except FileNotFoundError:
        return None
