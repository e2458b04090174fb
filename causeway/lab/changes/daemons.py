"""Daemons that do not run, or otherwise than the site has them. (The programs of the steps: nodes/base/bin.)"""

import re
from collections.abc import Sequence

from causeway.errors import BadInput
from causeway.lab.changes.change import Change, Step
from causeway.lab.lab import Lab


def daemon_with(lab: Lab, node: str, daemon: str, *options: str) -> Change:
    """A daemon runs with more options than it was started with (sshd -h KEY); both ways it is restarted."""
    command = how_started(lab, node, daemon)
    there, back = restart(node, daemon, [*command, *options]), restart(node, daemon, command)
    return Change(f"{daemon} of {node} runs with {' '.join(options)}", tuple(there), tuple(back))


def daemon_too(node: str, *command: str) -> Change:
    """A node runs a daemon that it does not run by itself; the undo ends all of that name."""
    daemon = command[0].rpartition("/")[2]
    return Change(f"{node} runs {daemon}", (Step(node, command),), (stop(node, daemon),))


def hangs(node: str, daemon: str) -> Change:
    """A daemon is there, and answers nobody; what it is asked meanwhile it answers when it goes on."""
    there, back = (Step(node, ("pkill", f"-{signal}", "-x", daemon)) for signal in ("STOP", "CONT"))
    return Change(f"{daemon} of {node} hangs", (there,), (back,))


def restart(node: str, daemon: str, command: Sequence[str]) -> list[Step]:
    """End a daemon, and start it anew."""
    return [stop(node, daemon), start(node, daemon, command)]


def stop(node: str, daemon: str) -> Step:
    """End a daemon, and wait until it is gone."""
    return Step(node, ("stop-daemon", daemon))


def start(node: str, daemon: str, command: Sequence[str]) -> Step:
    """Start a daemon where it does not run."""
    return Step(node, ("start-daemon", daemon, *command))


def start_late(node: str, daemon: str, seconds: float, command: Sequence[str]) -> Step:
    """Have a daemon start when so many seconds are over."""
    return Step(node, ("start-late", daemon, f"{seconds:g}", *command))


def how_started(lab: Lab, node: str, daemon: str) -> list[str]:
    """The command that a daemon was started with. BadInput when it does not run."""
    pid = lab.on(node, "pgrep", "-o", "-x", daemon).stdout.strip()
    if not pid:
        raise BadInput(f"{daemon} does not run on {node}; `causeway exec {node} -- ps ax` shows what does")
    words = lab.on(node, "cat", f"/proc/{pid}/cmdline").must().split("\0")
    # sshd's listener shows what it does in place of its arguments
    if title := re.match(r"sshd: (.*) \[listener\]", words[0]):
        return title[1].split()
    return [word for word in words if word]
