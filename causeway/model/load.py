"""Read a topology file and report every mistake in it at once, each with its line."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from causeway.errors import BadInput, Problem
from causeway.model.rules import Finding, check
from causeway.model.site import Site, build_site
from causeway.model.topology import Services, Topology

Where = tuple[str | int, ...]
#: A place in the file: line and column, both from 1.
Mark = tuple[int, int]


class _Loader(yaml.SafeLoader):
    """YAML in which a date is a string like others."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


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
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}; name a topology file or a shipped lab") from None
    except UnicodeDecodeError:
        raise BadInput(f"{file}: this is no text; name a topology file or a shipped lab") from None
    marks: dict[Where, Mark] = {(): (1, 1)}
    findings: list[Finding] = []
    try:
        root = yaml.compose(text, Loader=_Loader)
        if root is not None:
            findings += _duplicate_keys(root)
            marks.update(_marks(root))
        # what aliases share is written out, as each place is checked by itself
        data = _unshared(yaml.load(text, Loader=_Loader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput([_not_yaml(file, text, error)]) from None
    if not isinstance(data, dict):
        raise BadInput([Problem(str(file), 1, "-", "this is no mapping", "begin with `lab: NAME`")])
    if io_nodes is not None:
        if not isinstance(data.get("io_nodes"), dict):
            raise BadInput(f"{file}: this site has no I/O nodes to count; leave --io-nodes out")
        data["io_nodes"]["count"] = io_nodes

    form = _Form(data)
    topology = form.parse()
    findings += form.findings
    if topology is not None:
        findings += [form.in_file(f) for f in check(topology) if not form.explains(f)]
    if findings:
        # a mistake behind an anchor counts once, however many aliases repeat it
        once: dict[tuple[Mark, str, str], Problem] = {}
        for f in findings:
            mark = _mark(f.where, marks)
            problem = Problem(str(file), mark[0], _dotted(f.where), f.what, f.remedy)
            once.setdefault((mark, f.what, f.remedy), problem)
        raise BadInput(sorted(once.values(), key=lambda problem: problem.line))
    assert topology is not None
    return build_site(topology)


class _Form:
    """Parse a topology; take the smallest parts of bad form out, note them, parse what is left."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.findings: list[Finding] = []
        self.dropped: list[Where] = []  # as in the file
        self._kept: dict[Where, list[int]] = {}  # list -> places in the file of what is left of it
        self._gone: set[str] = set()  # what a finding may miss because of that

    def parse(self) -> Topology | None:
        while True:
            try:
                return Topology.model_validate(self.data)
            except ValidationError as error:
                drop: list[Where] = []
                items = error.errors(include_url=False)
                misspelt = dict(_misspelt(items))
                for item in items:
                    if item["type"] == "missing" and item["loc"] in misspelt.values():
                        continue
                    loc = item["loc"]
                    here = _existing(self.data, loc if item["type"] != "missing" else loc[:-1])
                    where = self._place(here)
                    if not any(len(d) > len(where) and d[: len(where)] == where for d in self.dropped):
                        remedy = _REMEDIES.get(item["type"], "give a value of that form")
                        if item["loc"] in misspelt:
                            remedy = f"did you mean {misspelt[item['loc']][-1]}?"
                        finding = Finding(where, _sentence(item), remedy)
                        # of a union every member complains about the same value: one is enough
                        missing = item["type"] == "missing"
                        if missing or all(f.where != where for f in self.findings):
                            self.findings.append(finding)
                    if here not in drop:
                        drop.append(here)
                    if item["type"] == "extra_forbidden":  # a key that it may have been meant for is not missed
                        keys = [*Topology.model_fields, *Services.model_fields]
                        self._gone.update(get_close_matches(str(item["loc"][-1]), keys, n=1))
                if () in drop:
                    return None
                # the last of a list first: the places of the others stay as they are
                for here in sorted(drop, key=_depth_and_place, reverse=True):
                    self._take_out(here)

    def explains(self, finding: Finding) -> bool:
        """Whether a finding only says that something taken out is not there."""
        return not self._gone.isdisjoint(finding.mentions)

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
        place = self._place(where)
        self.dropped.append(place)
        last = where[-1]
        self._gone |= {str(last), *_holds(parent[last])}
        if place[0] == "nodes" and "interfaces" in place:
            self._gone.add(f"{place[1]}:*")
        if isinstance(parent, list) and isinstance(last, int):
            places = self._kept.setdefault(self._place(where[:-1]), list(range(len(parent))))
            places.pop(last)
        parent.pop(last)


def _depth_and_place(where: Where) -> tuple[int, int]:
    last = where[-1]
    return len(where), last if isinstance(last, int) else -1


def _holds(value: Any) -> Iterator[str]:
    """What others may refer to in a part of a topology: addresses, and ports as NODE:DEVICE."""
    if isinstance(value, dict):
        if "node" in value and "name" in value:
            yield f"{value['node']}:{value['name']}"
        yield from (str(v) for k, v in value.items() if k == "address")
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _holds(part)
    elif isinstance(value, str):  # also one with another sign in place of the colon
        port = value if ":" in value else re.sub(r"[\s.,;/=-]+", ":", value, count=1)
        if ":" in port:
            yield port


def _unshared(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unshared(part) for key, part in value.items()}
    return [_unshared(part) for part in value] if isinstance(value, list) else value


def _not_yaml(file: Path, text: str, error: Exception) -> Problem:
    line, what = 1, str(error)
    if isinstance(error, yaml.MarkedYAMLError):
        what = str(error.problem)
        line = error.problem_mark.line + 1 if error.problem_mark else 1
    elif isinstance(error, yaml.reader.ReaderError):
        line, what = text.count("\n", 0, error.position) + 1, str(error.reason)
    elif isinstance(error, RecursionError):
        what = "an alias stands for something that contains it"
    return Problem(str(file), line, "-", what, "make it YAML")


def _misspelt(items: list[Any]) -> Iterator[tuple[Where, Where]]:
    """Unknown keys that are, by their looks, missing ones of the same place."""
    missing = [item["loc"] for item in items if item["type"] == "missing"]
    for item in items:
        if item["type"] == "extra_forbidden":
            *place, key = item["loc"]
            names = [str(loc[-1]) for loc in missing if loc[:-1] == tuple(place)]
            for name in get_close_matches(str(key), names, n=1):
                yield item["loc"], (*place, name)


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
        in_list = isinstance(data, list) and isinstance(step, int) and step < len(data)
        if not in_list and not (isinstance(data, dict) and step in data):
            break
        data = data[step]
        where += (step,)
    return where


def _marks(node: yaml.Node, where: Where = ()) -> Iterator[tuple[Where, Mark]]:
    """The place of every key and list item; keys are as they are written, so 1 is "1"."""

    def mark(part: yaml.Node) -> Mark:
        return part.start_mark.line + 1, part.start_mark.column + 1

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*where, str(key.value))
            yield here, mark(key)
            yield from _marks(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*where, str(index)), mark(value)
            yield from _marks(value, (*where, str(index)))


def _duplicate_keys(node: yaml.Node, where: Where = ()) -> Iterator[Finding]:
    """YAML keeps the last of two equal keys in silence; here it is a mistake."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                yield Finding((*where, name), "this key stands twice", "keep one of the two")
            seen.add(name)
            yield from _duplicate_keys(value, (*where, name))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _duplicate_keys(value, (*where, index))


def _mark(where: Where, marks: dict[Where, Mark]) -> Mark:
    where = tuple(map(str, where))
    while where not in marks:
        where = where[:-1]
    return marks[where]


def _dotted(where: Where) -> str:
    text = ""
    for step in where:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "-"
