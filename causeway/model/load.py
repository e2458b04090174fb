"""Read a topology file and report every mistake in it at once, each with its line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from causeway.errors import BadInput, Problem
from causeway.model.rules import Finding, check
from causeway.model.site import Site, build_site
from causeway.model.topology import Topology

Where = tuple[str | int, ...]

#: pydantic error type -> remedy, where its own message does not say what would be right.
_REMEDIES = {
    "extra_forbidden": "remove it or correct its spelling",
    "missing": "add it",
}


def load_site(file: Path, io_nodes: int | None = None) -> Site:
    """The site that a topology file describes; `io_nodes` replaces its `io_nodes.count`.

    Raises BadInput with all mistakes: those of form do not hide those of meaning, because what has a
    bad form is taken out and the rest is checked without it.
    """
    try:
        text = file.read_text()
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}; name a topology file or a shipped lab") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadInput([Problem(str(file), line, "-", str(error.problem), "make it YAML")]) from None

    lines: dict[Where, int] = {(): 1}
    findings: list[Finding] = []
    if root is not None:
        findings += _duplicate_keys(root)
        lines.update(_lines(root))
    data = yaml.safe_load(text)
    if not isinstance(data, dict):
        raise BadInput([Problem(str(file), 1, "-", "this is no mapping", "begin with `lab: NAME`")])
    if io_nodes is not None and isinstance(data.get("io_nodes"), dict):
        data["io_nodes"]["count"] = io_nodes

    form = _Form(data)
    topology = form.parse()
    findings += form.findings
    if topology is not None:
        findings += [form.in_file(f) for f in check(topology) if not form.explains(f)]
    if findings:
        ordered = sorted(findings, key=lambda f: _line(f.where, lines))
        raise BadInput(
            [Problem(str(file), _line(f.where, lines), _dotted(f.where), f.what, f.remedy) for f in ordered]
        )
    assert topology is not None
    return build_site(topology)


class _Form:
    """Parse a topology; take the smallest parts of bad form out, note them, parse what is left."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.findings: list[Finding] = []
        self.dropped: list[Where] = []  # as in the file
        self._kept: dict[Where, list[int]] = {}  # list -> places in the file of what is left of it

    def parse(self) -> Topology | None:
        while True:
            try:
                return Topology.model_validate(self.data)
            except ValidationError as error:
                drop: list[Where] = []
                for item in error.errors(include_url=False):
                    loc = item["loc"]
                    here = _existing(self.data, loc if item["type"] != "missing" else loc[:-1])
                    where = self._place(here)
                    if not any(len(d) > len(where) and d[: len(where)] == where for d in self.dropped):
                        remedy = _REMEDIES.get(item["type"], "give a value of that form")
                        finding = Finding(where, _sentence(item), remedy)
                        # a union reports each of its members' complaints: one is enough
                        if all(f.where != where or f.what != finding.what for f in self.findings):
                            self.findings.append(finding)
                    if not here:
                        return None
                    if here not in drop:
                        drop.append(here)
                for here in sorted(drop, key=lambda w: (len(w), str(w)), reverse=True):
                    self._take_out(here)

    def explains(self, finding: Finding) -> bool:
        """Whether a finding only says that something taken out is not there."""
        return any(str(d[-1]) in finding.mentions for d in self.dropped)

    def in_file(self, finding: Finding) -> Finding:
        return Finding(self._place(finding.where), finding.what, finding.remedy)

    def _place(self, where: Where) -> Where:
        """A path in what is left, as the path in the file."""
        place: Where = ()
        for step in where:
            if isinstance(step, int) and place in self._kept:
                step = self._kept[place][step]
            place += (step,)
        return place

    def _take_out(self, where: Where) -> None:
        parent: Any = self.data
        for step in where[:-1]:
            parent = parent[step]
        self.dropped.append(self._place(where))
        last = where[-1]
        if isinstance(parent, list) and isinstance(last, int):
            places = self._kept.setdefault(self._place(where[:-1]), list(range(len(parent))))
            places.pop(last)
        parent.pop(last)


def _sentence(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        return "unknown key"
    if item["type"] == "missing":
        return f"`{item['loc'][-1]}` is missing"
    return f"{item['msg'][0].lower()}{item['msg'][1:]} (it is {item['input']!r})"


def _existing(data: Any, loc: Where) -> Where:
    """The longest part of a pydantic location that is a path in the data (unions add steps to it)."""
    where: Where = ()
    for step in loc:
        if (isinstance(data, dict) and step in data) or (
            isinstance(data, list) and isinstance(step, int) and step < len(data)
        ):
            data = data[step]
        else:
            break
        where += (step,)
    return where


def _lines(node: yaml.Node, where: Where = ()) -> Iterator[tuple[Where, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*where, key.value)
            yield here, key.start_mark.line + 1
            yield from _lines(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*where, index), value.start_mark.line + 1
            yield from _lines(value, (*where, index))


def _duplicate_keys(node: yaml.Node, where: Where = ()) -> Iterator[Finding]:
    """YAML keeps the last of two equal keys in silence; here it is a mistake."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                yield Finding((*where, key.value), "this key stands twice", "keep one of the two")
            seen.add(key.value)
            yield from _duplicate_keys(value, (*where, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _duplicate_keys(value, (*where, index))


def _line(where: Where, lines: dict[Where, int]) -> int:
    while where not in lines:
        where = where[:-1]
    return lines[where]


def _dotted(where: Where) -> str:
    text = ""
    for step in where:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "-"
