"""Files with another text, which many faults are made of."""

from causeway.lab.faults.undo import Step, Undo, change
from causeway.lab.lab import Lab

_WRITE = 'mkdir -p "${0%/*}" && cat >"$0"'


def write(node: str, path: str, text: str) -> Step:
    """Write a file as an editor does: one that is there keeps its owner and mode."""
    return Step(node, ("sh", "-c", _WRITE, path), stdin=text)


def put_back(lab: Lab, node: str, path: str) -> Step:
    """What brings a file back to what it is now, also where it is not there."""
    if not lab.file(node, path).exists():
        return Step(node, ("rm", "-f", path))
    return write(node, path, lab.read(node, path))


def file_changed(lab: Lab, node: str, path: str, text: str) -> Undo:
    """A file on a node has another text, as an editor would leave it, or is there at all, until the undo."""
    return change(lab, [write(node, path, text)], [put_back(lab, node, path)])
