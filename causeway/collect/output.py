"""What collect.sh printed on one node: a file in sections."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("collect.sh")
_FIRST = "causeway collect 1"
_MARK, _END = "== ", "end"
#: No node's output is longer (bytes).
_LONGEST = 20_000_000


class Unreadable(Exception):
    """This is not what collect.sh prints, or not all of it; says what, and what would be right."""


@dataclass(frozen=True)
class Output:
    """One node's output: section -> its lines."""

    file: Path
    sections: Mapping[str, list[str]]

    def lines(self, section: str) -> list[str]:
        """The lines of a section; none where the node has none of it."""
        return self.sections.get(section, [])

    def text(self, section: str) -> str:
        return "\n".join(self.lines(section))

    def json(self, section: str) -> Any:
        """A section's data, None where it is not there; Unreadable where it is no JSON."""
        if not self.text(section).strip():
            return None
        try:
            return json.loads(self.text(section))
        except ValueError as error:
            raise Unreadable(f"section {section!r} is no JSON ({error}); collect it again") from None

    def named(self, kind: str) -> dict[str, list[str]]:
        """The sections `KIND NAME`, by their names."""
        begin = f"{kind} "
        return {name.removeprefix(begin): lines for name, lines in self.sections.items() if name.startswith(begin)}


def read_output(file: Path) -> Output:
    """Raises Unreadable, with a sentence, where the file cannot be read or is no whole output."""
    try:
        if file.stat().st_size > _LONGEST:
            raise Unreadable(f"more than {_LONGEST // 10**6} MB; leave only outputs of collect.sh in the folder")
        text = file.read_text()
    except OSError as error:
        raise Unreadable(f"{error.strerror}; make it readable") from None
    except UnicodeDecodeError:
        raise Unreadable("this is no text; leave only outputs of collect.sh in the folder") from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[0] != _FIRST:
        raise Unreadable(f"it does not begin with {_FIRST!r}; leave only outputs of collect.sh in the folder")
    sections: dict[str, list[str]] = {}
    here: list[str] | None = None
    name = ""
    for number, line in enumerate(lines[1:], 2):
        if line.startswith(_MARK):
            name = line.removeprefix(_MARK)
            here = sections.setdefault(name, [])
        elif line.startswith(" ") and here is not None:
            here.append(line[1:])
        elif line:
            raise Unreadable(f"line {number} is none of collect.sh's; keep its output apart from what others print")
    if name != _END:
        raise Unreadable("its end is missing; collect it again")
    return Output(file, sections)
