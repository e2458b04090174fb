"""Clocks that are wrong, as far as one kernel clock for all nodes allows."""

import re

from causeway.errors import BadInput
from causeway.lab.changes.change import Change
from causeway.lab.changes.daemons import how_started, restart
from causeway.lab.changes.files import put_back, write
from causeway.lab.faults.parameters import SignedSeconds, TimeClient
from causeway.lab.lab import Lab

_DAEMON = "chronyd"


def clock_wrong(lab: Lab, node: TimeClient, seconds: SignedSeconds) -> Change:
    """A node's clock differs from its time server's, as NTP measures it.

    Injected: the node's chronyd is given what it would measure at home: `offset` at the server's line in chrony.conf,
    with the sign turned, and a restart. `date` and file times stay right, for all nodes share the lab kernel's clock,
    and no chronyd may set it (`-x`).
    Triggers: `chronyc sources` shows the node ahead of its server by so much, for good; `chronyc tracking` has it as
    the last offset. The other nodes agree with the server.
    Look: ask each node's chronyd how far it is from its server, and whether that becomes less.
    """
    command = how_started(lab, node, _DAEMON)
    config = command[command.index("-f") + 1] if "-f" in command else "/etc/chrony/chrony.conf"
    text = lab.read(node, config)
    shifted = re.sub(r"^(server .*)$", rf"\1 offset {-seconds:g}", text, flags=re.MULTILINE)
    if shifted == text:
        raise BadInput(f"{node} has no server in {config}")
    again = restart(node, _DAEMON, command)
    title = f"chronyd of {node} is {seconds:g} s ahead of its server"
    return Change(title, (write(node, config, shifted), *again), (put_back(lab, node, config), *again))
