"""What an administrator does in a part of a change: types commands, puts files, carries them by hand."""

from collections.abc import Iterable, Iterator

from causeway.lab.changes import files
from causeway.lab.changes.change import Step
from causeway.lab.filesystems.administrators import carry
from causeway.lab.lab import Lab
from causeway.rehearse.change import Carried
from causeway.rehearse.parts import Command, Put

Act = Command | Put | Carried
#: A command of an administrator's that does not end.
_PATIENCE_S = 300.0


def do(lab: Lab, acts: Iterable[Act]) -> Iterator[tuple[Command, str]]:
    """Do all in their order, whatever failed before: gives each command that fails, and why."""
    for act in acts:
        if isinstance(act, Put):
            files.write(act.node, act.path, act.text).take(lab)
        elif isinstance(act, Carried):
            carry(lab, act.source, act.path, act.node, act.to)
        else:
            result = lab.on(act.node, "sh", "-c", act.line, timeout_s=_PATIENCE_S)
            if result.rc:
                said = " ".join((result.stderr or result.stdout).split())
                yield act, said or f"it ended with {result.rc}"


def old_files(lab: Lab, acts: Iterable[Act]) -> list[Step]:
    """What gives nodes the files back that acts are about to give them anew."""
    places = ((act.node, act.path if isinstance(act, Put) else act.to) for act in acts if not isinstance(act, Command))
    return [files.put_back(lab, *place) for place in places]
