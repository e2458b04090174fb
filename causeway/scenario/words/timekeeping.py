"""Whose time nodes have, for scenarios, as their chronyd says."""

from collections.abc import Sequence
from ipaddress import IPv4Address

from causeway.lab.changes.change import Change, together
from causeway.lab.changes.daemons import daemon_too, how_started, restart
from causeway.lab.changes.files import file_changed, replaced
from causeway.lab.lab import Lab
from causeway.lab.probes.counters import kernel_counters
from causeway.lab.probes.timekeeping import source, tracking
from causeway.scenario.stage import Stage

#: How many requests chronyd makes of a burst (iburst) at its start, 2 s apart.
BURST = 4
NO_TIME, TIME = "reach 0, stratum 0, Not synchronised", "answers come, stratum 11, Normal"
_DAEMON, _CONFIG, _OF_ITS_OWN = "chronyd", "/etc/chrony/chrony.conf", "/run/ntp.conf"


def serves_time(lab: Lab, node: str) -> Change:
    """A node that has no time from anybody gives its own to all who ask."""
    config = file_changed(lab, node, _OF_ITS_OWN, "local stratum 10\nallow\n")
    return together(f"{node} serves time", [config, daemon_too(node, _DAEMON, "-x", "-f", _OF_ITS_OWN)])


def takes_time_of(lab: Lab, node: str, server: IPv4Address) -> Change:
    """A node's chronyd asks another server than the site has for it; it is restarted, both ways."""
    command = how_started(lab, node, _DAEMON)
    config = command[command.index("-f") + 1] if "-f" in command else _CONFIG
    other, again = replaced(lab, node, config, r"^server \S+", f"server {server}"), restart(node, _DAEMON, command)
    return Change(f"{node} takes the time of {server}", (*other.there, *again), (*other.back, *again))


def asks_once(stage: Stage, node: str, server: IPv4Address) -> bool:
    """Whether a node that asks a server now gets the time."""
    return stage.lab.on(node, _DAEMON, "-x", "-Q", "-t", "10", f"server {server} iburst").rc == 0


def time_of(stage: Stage, node: str) -> str:
    """Whether a node has its time from somebody: what its chronyd hears, and what it says of itself."""
    clock, server = tracking(stage.lab, node), source(stage.lab, node)
    reach = "answers come" if server.reach else "reach 0"
    return f"{reach}, stratum {clock.stratum}, {clock.leap}"


def until_timed(stage: Stage, nodes: Sequence[str], server: IPv4Address) -> None:
    """Wait until nodes have a server's time."""

    def timed() -> list[str]:
        found = {node: source(stage.lab, node) for node in nodes}
        return [node for node, has in found.items() if has.address == str(server) and has.selected]

    stage.until(f"have the time of {server}", timed, is_=list(nodes), within_s=30, poll_s=1)


def until_asked(stage: Stage, nodes: Sequence[str]) -> None:
    """Wait until each node has sent a burst of requests for which it has no route."""

    def in_vain() -> list[str]:
        return [node for node in nodes if kernel_counters(stage.lab, node)["IpOutNoRoutes"] >= BURST]

    stage.until(f"have asked {BURST} times", in_vain, is_=list(nodes), within_s=60, poll_s=1)
