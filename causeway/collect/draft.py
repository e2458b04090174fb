"""A site's file on its way: its data, and what in it is a guess."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from causeway.model.findings import Where

_SECTIONS = ("networks", "clusters", "nodes", "links", "channels", "sysctl")


@dataclass
class Draft:
    """`questions` are places whose value is the best guess, with what nobody said; `findings` are for people alone."""

    data: dict[str, Any]
    questions: dict[Where, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)

    def ask(self, what: str, *where: str | int) -> None:
        """Mark a place, or say more of one that is marked."""
        what, known = printable(what), self.questions.get(where)
        self.questions[where] = f"{known}; {what}" if known and what not in known else what

    def tell(self, what: str) -> None:
        """Add a finding, once."""
        if (line := printable(what)) not in self.findings:
            self.findings.append(line)

    def text(self) -> str:
        """The site's file: a comment `# ?` stands at each guess."""
        lines = []
        for key in ("lab", "domain"):
            lines.append(self._line(0, f"{key}: {_flow(self.data[key])}", (key,)))
        for section in _SECTIONS:
            if self.data.get(section) or section in ("networks", "clusters", "nodes"):
                lines += ["", *self._block(0, section, self.data.get(section) or {}, (section,))]
        return "\n".join(lines) + "\n"

    def _block(self, depth: int, key: str, value: Any, where: Where) -> Iterator[str]:
        """A key and its value: on one line where that holds no mapping or list of its own but lists of words."""
        if not value or (_is_flat(value) and depth):
            yield self._line(depth, f"{key}: {_flow(value)}", where)
            return
        yield self._line(depth, f"{key}:", where)
        if isinstance(value, dict):
            for name, part in value.items():
                yield from self._block(depth + 1, _flow(name), part, (*where, name))
        else:
            for index, part in enumerate(value):
                yield from self._item(depth + 1, part, (*where, index))

    def _item(self, depth: int, part: Any, where: Where) -> Iterator[str]:
        """One of a list: on a line of its own, or with a line for each part of it."""
        if _is_flat(part):
            yield self._line(depth, f"- {_flow(part)}", where)
            return
        if where in self.questions:
            yield "  " * depth + f"# ? {self.questions[where]}"
        begin = "- "
        for key, value in part.items():
            for line in self._block(depth + 1, key, value, (*where, key)):
                yield "  " * depth + begin + line.removeprefix("  " * (depth + 1)) if begin.strip() else line
                begin = "  "

    def _line(self, depth: int, text: str, where: Where) -> str:
        asked = self.questions.get(where)
        return "  " * depth + text + (f"  # ? {asked}" if asked else "")


def printable(text: str) -> str:
    """A line of text: outputs may come from strangers, and neither end a comment nor move a terminal's cursor."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def _is_flat(value: Any) -> bool:
    if isinstance(value, dict):
        return not any(isinstance(part, dict) or _has_mappings(part) for part in value.values())
    return not _has_mappings(value)


def _has_mappings(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(part, dict) for part in value)


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
    return text.removesuffix("...\n").strip()
