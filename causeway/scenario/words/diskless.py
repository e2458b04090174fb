"""Diskless nodes, for scenarios: how they boot, what their consoles say, and for how long they are lent addresses."""

import re
from collections.abc import Callable, Sequence

from causeway.lab import pools
from causeway.lab.changes.change import Change
from causeway.lab.changes.daemons import how_started, restart
from causeway.lab.changes.files import file_changed
from causeway.lab.lab import Lab
from causeway.lab.pools import boards
from causeway.scenario.stage import Stage

#: How a boot ends that has nothing to complain of, as `how_booted` has it.
UP = "up"
_DHCP = "/etc/dnsmasq.conf"


def boot(stage: Stage, nodes: Sequence[str]) -> None:
    """Boot nodes again, or switch them on; `how_booted` tells how it went."""
    pools.restart(stage.lab, nodes)


def boots(stage: Stage, nodes: Sequence[str]) -> Callable[[], None]:
    """What has nodes boot again: the `then` of a change that they see when they do."""
    return lambda: boot(stage, nodes)


def switch_off(stage: Stage, node: str) -> None:
    pools.switch_off(stage.lab, node)


def how_booted(stage: Stage, nodes: Sequence[str]) -> list[str]:
    """How the latest boot of each ended, by its console: "up", or with what failed; "" where none has."""
    ended = boards.how_booted(stage.lab, nodes)
    return [ended.get(node, "") for node in nodes]


def saying(stage: Stage, nodes: Sequence[str], words: str) -> list[str]:
    """The nodes whose consoles have said the words since they were last switched on."""
    silent = boards.silent(stage.lab, nodes, words)
    return [node for node in nodes if node not in silent]


def leases(lab: Lab, server: str, seconds: int) -> Change:
    """The server lends addresses for so long; its DHCP server is restarted, both ways."""
    lent = file_changed(lab, server, _DHCP, lent_for(lab.read(server, _DHCP), seconds))
    again = tuple(restart(server, "dnsmasq", how_started(lab, server, "dnsmasq")))
    return Change(f"{server} lends addresses for {seconds} s", (*lent.there, *again), (*lent.back, *again))


def lent_for(config: str, seconds: int) -> str:
    """A DHCP server's configuration with another time for which it lends."""
    return re.sub(r"^(dhcp-range=.*,)\d+$", rf"\g<1>{seconds}", config, flags=re.MULTILINE)


def addresses(stage: Stage, nodes: Sequence[str]) -> list[str]:
    return [str(stage.site.known_by(node).address) for node in nodes]
