"""Files with another text, under another name, or away."""

import re

from causeway.errors import LabBroken
from causeway.lab.changes.change import Change, Step
from causeway.lab.lab import Lab

_WRITE = 'mkdir -p "${0%/*}" && cat >"$0"'
#: $0 becomes $1, where it has not become it already.
_MOVE = '[ ! -e "$0" ] || mv "$0" "$1"'


def write(node: str, path: str, text: str) -> Step:
    """Write a file as an editor does: one that is there keeps its owner and mode."""
    return Step(node, ("sh", "-c", _WRITE, path), stdin=text)


def put_back(lab: Lab, node: str, path: str) -> Step:
    """What brings a file back to what it is now, also where it is not there."""
    if not lab.file(node, path).exists():
        return Step(node, ("rm", "-f", path))
    return write(node, path, lab.read(node, path))


def file_changed(lab: Lab, node: str, path: str, text: str) -> Change:
    """A file on a node has another text, as an editor would leave it, or is there at all."""
    title = f"{node}:{path} has another text"
    return Change(title, (write(node, path, text),), (put_back(lab, node, path),))


def replaced(lab: Lab, node: str, path: str, pattern: str, text: str) -> Change:
    """All that a regular expression (^ and $ are a line's) finds in a file is another text, as `sed` would leave it.

    LabBroken when it finds nothing, or nothing would be other than it is.
    """
    before = lab.read(node, path)
    after = re.sub(pattern, text, before, flags=re.MULTILINE)
    if after == before:
        raise LabBroken(f"{node}:{path} has nothing that {pattern!r} would change")
    return file_changed(lab, node, path, after)


def renamed(lab: Lab, node: str, path: str, to: str) -> Change:
    """A file has another name. LabBroken when there is no such file, or the other name is taken."""
    if not lab.file(node, path).exists():
        raise LabBroken(f"{node} has no {path} to rename")
    if lab.file(node, to).exists():
        raise LabBroken(f"{node} has a {to} already")
    there, back = (("sh", "-c", _MOVE, *names) for names in ((path, to), (to, path)))
    return Change(f"{node}:{path} is called {to}", (Step(node, there),), (Step(node, back),))


def moved_away(lab: Lab, node: str, path: str) -> Change:
    """A file is not where it is looked for; beside it is PATH.away."""
    return renamed(lab, node, path, f"{path}.away")
