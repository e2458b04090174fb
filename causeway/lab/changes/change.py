"""What is changed in a lab, as data: the commands there and the commands back. Nothing is touched until it is made."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from causeway.lab.lab import Lab
from causeway.process import run


@dataclass(frozen=True)
class Step:
    """One command on a node. One that undoes may be taken twice, or for what was not done: then it changes nothing."""

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
    """Called, it undoes a change. A second call changes nothing."""

    lab: Lab
    steps: tuple[Step, ...]

    def __call__(self) -> None:
        """Take all its steps, whatever one of them does; raises the first error, with what the others said."""
        do_all(lambda step=step: step.take(self.lab) for step in self.steps)  # type: ignore[misc]


@dataclass(frozen=True)
class Change:
    """A change of a lab that is not made yet.

    `title` says what is the case while it is made ("cn01 has no route to 10.2.64.0/22"). The steps back are to what
    was there when the change was thought of, not to what the site says.
    """

    title: str
    there: tuple[Step, ...]
    back: tuple[Step, ...]

    def undo(self, lab: Lab) -> Undo:
        """What undoes it, made or not."""
        return Undo(lab, self.back)

    def make(self, lab: Lab) -> Undo:
        """Take the steps there; returns the undo. When one fails, or an interrupt comes, all is undone at once."""
        undo = self.undo(lab)
        try:
            for step in self.there:
                step.take(lab)
        except BaseException as error:
            try:
                undo()
            except Exception as worse:
                error.add_note(f"and it could not be undone: {worse}")
            raise
        return undo


def together(title: str, changes: Iterable[Change]) -> Change:
    """Several changes as one: made in their order, undone the last one first."""
    parts = list(changes)
    there = tuple(step for part in parts for step in part.there)
    return Change(title, there, tuple(step for part in reversed(parts) for step in part.back))


def do_all(actions: Iterable[Callable[[], object]]) -> None:
    """Do each, whatever the others do. Raises the first error, whose notes have what the others said."""
    first: Exception | None = None
    for action in actions:
        try:
            action()
        except Exception as error:
            if first is None:
                first = error
            else:
                first.add_note(str(error))
    if first is not None:
        raise first
