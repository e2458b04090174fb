"""Disks that do a part of what they could: an array that rebuilds a disk, say."""

from pathlib import PurePosixPath

from causeway.errors import BadInput
from causeway.lab.changes.change import Change, Step
from causeway.lab.lab import Lab


def disk_slowed(lab: Lab, node: str, filesystem: str, part: float) -> Change:
    """A filesystem's disk at a server has a part of its rates, both ways; BadInput for one that has none.

    Its arm is told (kernel patch 0009), for what is asked of it from then on.
    """
    device = lab.on(node, "findmnt", "-n", "-o", "SOURCE", f"/disks/{filesystem}").stdout.strip()
    if not device.startswith("/dev/loop"):
        raise BadInput(f"the site does not say what the disk of {filesystem} at {node} does")
    file = f"/sys/block/{PurePosixPath(device).name}/loop/arm"
    before = Step(node, ("cat", file)).take(lab).split()
    rates = [str(round(int(kb_s) * part)) for kb_s in before[:2]]
    there, back = (_told(node, file, arm) for arm in ([*rates, *before[2:]], before))
    return Change(f"the disk of {filesystem} at {node} does {part:.0%} of what it could", (there,), (back,))


def _told(node: str, file: str, arm: list[str]) -> Step:
    return Step(node, ("sh", "-c", 'echo "$1" >"$0"', file, " ".join(arm)))
