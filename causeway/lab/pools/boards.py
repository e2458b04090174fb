"""What every diskless node's board has, whatever the platform: a power line, and a console.

Both are files that nodes share with whom they boot from.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.wait import until

#: What a console says last of a boot, and then how it ended (rc.sysinit).
ENDED = "boot ended: "
_CONSOLE_LINE = re.compile(r"^\[ *(?P<at_s>[\d.]+)\] (?P<text>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Said:
    """A line of a console, and the seconds since power-on."""

    at_s: float
    text: str


def console_log(lab: Lab, node: str) -> Path:
    """What a node's board has written of its console since it was last switched on."""
    return lab.folder / "service" / "logs" / f"{node}.log"


def console(lab: Lab, node: str) -> list[Said]:
    """What a node's console has shown since it was last switched on."""
    log = console_log(lab, node)
    text = log.read_text(errors="replace") if log.exists() else ""
    return [Said(float(line["at_s"]), line["text"]) for line in _CONSOLE_LINE.finditer(text)]


def silent(lab: Lab, nodes: Iterable[str], words: str) -> list[str]:
    """Those of the nodes whose consoles have not said the words since they were last switched on."""
    return [node for node in nodes if not any(words in line.text for line in console(lab, node))]


def up_at_s(lab: Lab, node: str) -> float:
    """Seconds from a node's power-on to the end of its boot."""
    return next(line.at_s for line in console(lab, node) if line.text.startswith(ENDED))


def how_booted(lab: Lab, nodes: Sequence[str]) -> dict[str, str]:
    """How the latest boot of each ended that has: "up", or with what failed."""
    return {node: said for node in nodes for line in console(lab, node) if (said := line.text.partition(ENDED)[2])}


def forget(lab: Lab, nodes: Sequence[str]) -> None:
    """Clear consoles, before a boot: the last one's words must not be taken for the next one's."""
    for node in nodes:
        console_log(lab, node).unlink(missing_ok=True)


def order(lab: Lab, node: str, word: str) -> None:
    """Give a node's power line an order."""
    line = os.open(lab.folder / "service" / "power" / node, os.O_RDWR)  # both ways: it needs no reader
    os.write(line, f"{word}\n".encode())
    os.close(line)


def power_off(lab: Lab, nodes: Sequence[str]) -> None:
    """Switch nodes off by their power lines, without the node that they boot from."""
    booted = [node for node in nodes if lab.state(node) not in ("down", "off", "starting")]
    for node in booted:
        order(lab, node, "off")
    with suppress(LabBroken):  # what is stuck is for containerlab to complain of
        until("diskless nodes are off", lambda: " ".join(n for n in booted if lab.state(n) != "off"), deadline_s=30)


def wait_off(lab: Lab, node: str) -> None:
    """Wait until a node is off."""
    until(f"{node} is off", lambda: "" if lab.state(node) == "off" else lab.state(node), deadline_s=10)


def wait_booted(
    lab: Lab, nodes: Sequence[str], limit_s: float, progress: Callable[[str], None] = lambda _: None
) -> dict[str, str]:
    """Wait until the boots of all have ended; how each did: "up", or what failed."""

    def booting() -> str:
        ended = how_booted(lab, nodes)
        progress(f"{len(ended)} of {len(nodes)} booted")
        return " ".join(node for node in nodes if node not in ended)

    until("the nodes have booted", booting, deadline_s=limit_s)
    return how_booted(lab, nodes)
