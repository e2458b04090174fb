"""Blue Gene's diskless nodes, for scenarios: what they take from their server when they boot, and how they boot.

Their server keeps two trees for them, the system's and the site's. The paths here are the site's, on the server.
"""

import re
from collections.abc import Callable, Sequence

from causeway.lab.changes.change import Change
from causeway.lab.changes.daemons import how_started, restart
from causeway.lab.changes.files import file_changed
from causeway.lab.lab import Lab
from causeway.lab.pools import bluegene
from causeway.scenario.stage import Stage

_SITE = "/bgl/dist"
#: Says whether a node renews the lease of its address (BOOTPROTO=dhcp) or keeps it (static).
NETWORK = f"{_SITE}/etc/sysconfig/network"
#: Whom the nodes' root knows, and the keys that all of their sshds have.
SYSTEM_KNOWN, ROOT_KNOWN = f"{_SITE}/etc/ssh/ssh_known_hosts", f"{_SITE}/root/.ssh/known_hosts"
HOST_KEY = f"{_SITE}/etc/ssh/ssh_host_ed25519_key"
#: What S16sshd looks for on a node, once, and who writes it.
TRIGGER, WRITES_TRIGGER = "/etc/sysconfig/ssh", "site_sysconfig"
#: How a boot ends that has nothing to complain of, as `how_booted` has it.
UP = "up"
_ENDED = "boot ended: "
_DHCP = "/etc/dnsmasq.conf"


def start_script(number: int, name: str) -> str:
    """A start script of the site's tree; nodes run them in the order of their numbers."""
    return f"{_SITE}/etc/rc.d/rc3.d/S{number:02}{name}"


def own_tree(stage: Stage, node: str) -> str:
    """Where the server keeps a node's /var, in a file system of that node's."""
    return f"/bgl/gpfsvar/{stage.site.known_by(node).address}/var"


def boot(stage: Stage, nodes: Sequence[str]) -> None:
    """Boot nodes again, or switch them on; `how_booted` tells how it went."""
    bluegene.restart(stage.lab, nodes)


def boots(stage: Stage, nodes: Sequence[str]) -> Callable[[], None]:
    """What has nodes boot again: the `then` of a change that they see when they do."""
    return lambda: boot(stage, nodes)


def switch_off(stage: Stage, node: str) -> None:
    bluegene.switch_off(stage.lab, node)


def how_booted(stage: Stage, nodes: Sequence[str]) -> list[str]:
    """How the latest boot of each ended, by its console: "up", or with what failed; "" where none has."""
    return [
        next((end for line in bluegene.console(stage.lab, node) if (end := line.text.partition(_ENDED)[2])), "")
        for node in nodes
    ]


def saying(stage: Stage, nodes: Sequence[str], words: str) -> list[str]:
    """The nodes whose consoles have said the words since they were last switched on."""
    silent = bluegene.silent(stage.lab, nodes, words)
    return [node for node in nodes if node not in silent]


def leases(lab: Lab, server: str, seconds: int) -> Change:
    """The server lends addresses for so long; its DHCP server is restarted, both ways."""
    lent = file_changed(lab, server, _DHCP, lent_for(lab.read(server, _DHCP), seconds))
    again = tuple(restart(server, "dnsmasq", how_started(lab, server, "dnsmasq")))
    return Change(f"{server} lends addresses for {seconds} s", (*lent.there, *again), (*lent.back, *again))


def lent_for(config: str, seconds: int) -> str:
    """A DHCP server's configuration with another time for which it lends."""
    return re.sub(r"^(dhcp-range=.*,)\d+$", rf"\g<1>{seconds}", config, flags=re.MULTILINE)
