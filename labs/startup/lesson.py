"""A start script that waits for a file says of daemons that run that they do not; the daemon itself can be asked."""

import re
from dataclasses import dataclass

from causeway.lab.changes.files import replaced
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import AskLesson
from causeway.scenario.words.bluegene import WRITES_TRIGGER, start_script
from causeway.scenario.words.diskless import boot, saying
from causeway.scenario.words.membership import state
from causeway.scenario.words.mounts import due_mounts, mounted

SCRIPT = start_script(10, WRITES_TRIGGER)
#: What the script says in place of asking the daemon: wait for the file, and for a minute, not for the system's ten.
#: All who begin the lesson wait, too.
ASKS, WAITS = 'CHECK=mcgetstate"', 'CHECK=touchfile"\n\techo "FS_STARTUP_LOOKS=30"'
FAILED = "did not come up on I/O node"
PATIENCE_S = 600


@dataclass(frozen=True)
class Cast:
    """Diskless nodes, whom they boot from, and the node that is their cluster's quorum."""

    nodes: list[str]
    server: str
    quorum: str
    script: str = SCRIPT


def cast(ask: AskLesson) -> Cast:
    found = ask.diskless(2, platform="bluegene")
    return Cast(found.nodes, found.server, ask.member(found.nodes[0]).administrator)


def begin(desk: Desk, cast: Cast) -> None:
    desk.make(replaced(desk.lab, cast.server, SCRIPT, ASKS, WAITS))
    desk.lab.on(cast.quorum, "mcshutdown", timeout_s=PATIENCE_S).must()
    boot(desk, cast.nodes)


def task_1(desk: Desk, cast: Cast) -> None:
    """A boot of the nodes reports nobody, and the script asks what it wants to know, of whom knows it."""
    desk.same("nodes that their latest boot reported as failed", [], saying(desk, cast.nodes, FAILED))
    said = re.findall(r"FS_STARTUP_CHECK=(\w+)", desk.lab.read(cast.server, SCRIPT))
    desk.holds("the start script asks the daemon for its state", said == ["mcgetstate"], "it waits for somebody's word")


def task_2(desk: Desk, cast: Cast) -> None:
    """The nodes' daemons are active, and all is mounted."""
    for node in cast.nodes:
        desk.same(f"the daemon of {node}", "active", state(desk, node))
        desk.same(f"servers of what {node} has mounted", due_mounts(desk, node), mounted(desk, node))
