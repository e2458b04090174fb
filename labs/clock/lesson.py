"""A node whose clock is off, and one that nobody gives the time any more: nothing complains until it matters."""

import re
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address

from causeway.errors import LabBroken, Unsupported
from causeway.lab.faults import clock_wrong, service_stopped
from causeway.lab.probes.timekeeping import parse_offset
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import AskLesson

DAEMON, FILE = "chronyd", "/etc/chrony/chrony.conf"
#: By how much a node's clock may differ from its server's, in seconds: NTP does better by far in a machine room.
ALLOWED_S = 0.05
#: A daemon that was just started asks its server four times, two seconds apart, before it says anything.
FIRST_S = 15
#: How long one may take that has seen the date leap, as a lab wakes: it is told to measure anew then, and one that does
#: not hear that asks once in 64 s, until it has three answers.
SOUND_S = 300
#: How far the clock is off.
MOST_S = 900


@dataclass(frozen=True)
class Cast:
    """Who gives the time, all who take it, the one whose clock is off, and one whose daemon does not run, if any."""

    server: str
    address: IPv4Address
    clients: list[str]
    off: str
    seconds: float
    silent: str | None


def cast(ask: AskLesson) -> Cast:
    site = ask.site
    for cluster in site.topology.clusters.values():
        server = cluster.ntp
        clients = [h for h in ask.hosts() if server and site.time_server(h) == server and h not in site.diskless()]
        if server and clients:
            off, *others = ask.random.sample(clients, len(clients))
            seconds = float(ask.random.randrange(60, MOST_S))
            address = site.address(server, site.known_by(off).network)
            return Cast(server, address, clients, off, seconds, others[0] if others else None)
    raise Unsupported(f"{site.name} has no node with a disk that takes its time from another")


def begin(desk: Desk, cast: Cast) -> None:
    for node in cast.clients:
        agrees = partial(_agrees, desk, node)
        desk.until(f"{node} agrees with {cast.server}", agrees, is_=True, within_s=SOUND_S, poll_s=1)
    desk.make(clock_wrong(desk.lab, cast.off, cast.seconds))
    if cast.silent:
        desk.make(service_stopped(desk.lab, cast.silent, DAEMON))


def task_1(desk: Desk, cast: Cast) -> None:
    """Every node that takes the time from the server is answered, and as far from it as clocks may be."""
    for node in cast.clients:
        desk.soon(
            f"{node} takes its time from {cast.server}, and agrees with it",
            True,
            partial(_agrees, desk, node),
            FIRST_S,
        )


def task_2(desk: Desk, cast: Cast) -> None:
    """Nothing in a node's files or processes will bring the difference back."""
    for node in cast.clients:
        lines = re.findall(r"^server .*$", desk.lab.read(node, FILE), re.MULTILINE)
        desk.holds(
            f"{node}'s file names its server, and says nothing that moves what it measures",
            len(lines) == 1 and "offset" not in lines[0],
            "it does not",
        )
        desk.same(
            f"daemons on {node} that keep the time", 1, len(desk.lab.on(node, "pgrep", "-x", DAEMON).stdout.split())
        )


def _agrees(desk: Desk, node: str) -> bool:
    """Whether a node's daemon has chosen its server, and is near it."""
    said = desk.lab.on(node, "chronyc", "-n", "-c", "sources")
    if said.rc:
        raise LabBroken(f"nobody on {node} keeps the time")
    off_s = parse_offset(said.stdout)
    return off_s is not None and abs(off_s) < ALLOWED_S
