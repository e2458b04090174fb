"""What brings a fault about and what undoes it: commands, so that both can be written down and taken later."""

from collections.abc import Iterable
from dataclasses import dataclass

from causeway.lab.lab import Lab
from causeway.process import run


@dataclass(frozen=True)
class Step:
    """One command on a node. One that undoes may be taken twice: the second time it changes nothing."""

    node: str
    argv: tuple[str, ...]
    stdin: str = ""
    #: By the lab host's own tools on the node's network: works where the node is off or hangs, too.
    plugged: bool = False

    def take(self, lab: Lab) -> str:
        """Run it; returns its standard output. LabBroken when it fails."""
        enter = lab.plug if self.plugged else lab.enter
        return run(enter(self.node, self.argv), stdin=self.stdin).must()


@dataclass(frozen=True)
class Undo:
    """Called, it undoes a fault. A second call changes nothing."""

    lab: Lab
    steps: tuple[Step, ...]

    def __call__(self) -> None:
        for step in self.steps:
            step.take(self.lab)


def change(lab: Lab, there: Iterable[Step], back: Iterable[Step]) -> Undo:
    """Take the steps there; returns the undo, which takes those back. When one fails, all is undone at once."""
    undo = Undo(lab, tuple(back))
    try:
        for step in there:
            step.take(lab)
    except BaseException:
        undo()
        raise
    return undo
