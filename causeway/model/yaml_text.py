"""A site's file as YAML: read safely, with the line of everything in it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from causeway.errors import BadInput, Problem
from causeway.model.findings import Finding, Where

#: A place in the file: line and column, both from 1.
Mark = tuple[int, int]
#: No site's file is longer (bytes), or has more values when its aliases are written out.
_LONGEST = 300_000
_MOST_VALUES = 50_000
#: Nor is it nested deeper.
_DEEPEST = 50
_TOO_DEEP = "it is nested too deeply", "make it a site's file"
_TAG = "tag:yaml.org,2002:"
_TEXT = f"{_TAG}str"
_SCALARS = {f"{_TAG}{kind}" for kind in ("int", "float", "bool", "null", "merge", "value")}
_COLLECTIONS = {f"{_TAG}map", f"{_TAG}seq"}
_LONGEST_NUMBER = 40


class _Loader(yaml.SafeLoader):
    """YAML in which a date is a string like others."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class Text:
    """A file's data, and where each part of it stands. What aliases share is written out."""

    def __init__(self, file: Path) -> None:
        """Raises BadInput when the file cannot be read, is no YAML, or is no mapping."""
        self.file = file
        text = _read(file)
        root = self._compose(text)
        self.marks: dict[Where, Mark] = {(): (1, 1)}
        self.findings: list[Finding] = []
        if root is not None:
            problems = [*self._too_much(root)] or [*self._wrong_tags(root)]
            if problems:
                raise BadInput(problems)
            self.findings += _duplicate_keys(root)
            self.marks.update(_marks(root))
        data = self._construct(root, text)
        if not isinstance(data, dict):
            raise BadInput([Problem(str(file), 1, "-", "this is no mapping", "begin with `lab: NAME`")])
        self.data: dict[str, Any] = data
        self.patch: Text | None = None

    def patched(self, patch: "Text") -> "Text":
        """This text with another one's values in place of its own.

        A mapping goes into the one that is there, key by key; null removes a key; all else, lists too, takes the
        place of what is there. Source: RFC 7396, JSON Merge Patch.
        """
        self.data = _merged(self.data, patch.data)
        self.findings += patch.findings
        self.patch = patch
        return self

    def mark(self, where: Where) -> Mark:
        """The place in the file, or the patch, of a part, or of the smallest part around it that has one."""
        holder, known = self._known(where)
        return holder.marks[known]

    def problem(self, finding: Finding) -> Problem:
        """A finding with its line."""
        holder, known = self._known(finding.where)
        line = holder.marks[known][0]
        return Problem(str(holder.file), line, dotted(finding.where), finding.what, finding.remedy)

    def _known(self, where: Where) -> tuple["Text", Where]:
        """The text that a part is from, and the smallest part around it that has a place there."""
        where = tuple(map(str, where))
        while where not in self.marks and (self.patch is None or where not in self.patch.marks):
            where = where[:-1]
        return (self.patch if self.patch is not None and where and where in self.patch.marks else self), where

    def _compose(self, text: str) -> yaml.Node | None:
        try:
            root: yaml.Node | None = yaml.compose(text, Loader=_Loader)
        except RecursionError:
            raise BadInput([Problem(str(self.file), 1, "-", *_TOO_DEEP)]) from None
        except yaml.YAMLError as error:
            raise BadInput([self._not_yaml(text, error)]) from None
        return root

    def _construct(self, root: yaml.Node | None, text: str) -> Any:
        if root is None:
            return None
        loader = _Loader("")
        try:
            return _unshared(loader.construct_document(root))
        except (yaml.YAMLError, ValueError) as error:
            raise BadInput([self._not_yaml(text, error)]) from None

    def _not_yaml(self, text: str, error: Exception) -> Problem:
        line, what = 1, str(error)
        if isinstance(error, yaml.MarkedYAMLError):
            what = str(error.problem)
            line = error.problem_mark.line + 1 if error.problem_mark else 1
        elif isinstance(error, yaml.reader.ReaderError):
            line, what = text.count("\n", 0, error.position) + 1, str(error.reason)
        return Problem(str(self.file), line, "-", what, "make it YAML")

    def _too_much(self, root: yaml.Node) -> Iterator[Problem]:
        """What aliases would make of a few lines: more than a machine holds, or what has no end."""
        sizes: dict[int, int] = {}
        heights: dict[int, int] = {}
        begun: set[int] = set()
        waiting: list[tuple[yaml.Node, bool]] = [(root, False)]
        while waiting:  # no recursion: nothing is known of the depth yet
            node, inside = waiting.pop()
            if id(node) in sizes:
                continue
            parts = _parts(node)
            if not inside:
                if id(node) in begun:
                    what = "an alias stands for something that contains it"
                    yield Problem(str(self.file), node.start_mark.line + 1, "-", what, "make it YAML")
                    return
                begun.add(id(node))
                waiting.append((node, True))
                waiting += [(part, False) for part in reversed(parts) if id(part) not in sizes]
                continue
            sizes[id(node)] = 1 + sum(sizes[id(part)] for part in parts)
            heights[id(node)] = 1 + max((heights[id(part)] for part in parts), default=0)
            if heights[id(node)] > _DEEPEST:
                yield Problem(str(self.file), node.start_mark.line + 1, "-", *_TOO_DEEP)
                return
            if sizes[id(node)] > _MOST_VALUES:
                what = f"with its aliases written out this has more than {_MOST_VALUES} values"
                yield Problem(str(self.file), node.start_mark.line + 1, "-", what, "use aliases for small parts only")
                return

    def _wrong_tags(self, root: yaml.Node) -> Iterator[Problem]:
        """Tags for kinds of values that no site's file has; and a tag beside a value of another kind."""
        resolve: Callable[..., str] = _Loader("").resolve
        seen: set[int] = set()
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            waiting += reversed(_parts(node))
            line, name = node.start_mark.line + 1, str(node.tag).replace(_TAG, "!!")
            if node.tag not in (_SCALARS | {_TEXT} if isinstance(node, yaml.ScalarNode) else _COLLECTIONS):
                yield Problem(str(self.file), line, "-", f"there is no {name} in a site's file", "remove the tag")
            elif node.tag in _SCALARS and isinstance(node, yaml.ScalarNode):
                if resolve(yaml.ScalarNode, node.value, (True, False)) != node.tag:
                    yield Problem(str(self.file), line, "-", f"{node.value!r} is no {name}", "remove the tag")
                elif len(node.value) > _LONGEST_NUMBER:
                    yield Problem(str(self.file), line, "-", "a number of too many digits", "use a smaller one")


def _read(file: Path) -> str:
    if file.exists() and not file.is_file() and not file.is_dir():  # a FIFO or a device may have no end
        raise BadInput(f"{file}: this is no file; name a topology file or a shipped lab")
    try:
        with file.open("rb") as opened:
            text = opened.read(_LONGEST + 1).decode()
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}; name a topology file or a shipped lab") from None
    except UnicodeDecodeError:
        raise BadInput(f"{file}: this is no text; name a topology file or a shipped lab") from None
    if len(text) > _LONGEST:
        raise BadInput(f"{file}: more than {_LONGEST} bytes are no site's file; use fewer")
    return text


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _merged(value: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    found = dict(value) if isinstance(value, dict) else {}
    for key, part in patch.items():
        if part is None:
            found.pop(key, None)
        else:
            found[key] = _merged(found.get(key), part)
    return found


def _unshared(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unshared(part) for key, part in value.items()}
    return [_unshared(part) for part in value] if isinstance(value, list) else value


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


def dotted(where: Where) -> str:
    """A place as people write it: nodes.NAME.routes[0].via."""
    text = ""
    for step in where:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "-"
