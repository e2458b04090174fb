"""Jumbo frames on a way that is in use, in the order in which nobody loses anything."""

from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.errors import Unsupported
from causeway.lab.changes.change import Change, Step
from causeway.lab.probes.drift import drift
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import AskLesson
from causeway.model.thing import Port
from causeway.plan.paths import Ways
from causeway.rehearse.interfaces import stanzas
from causeway.scenario.cast import Channel
from causeway.scenario.words.packets import largest_packet

FILE = "/etc/network/interfaces"
JUMBO = 9000
#: Who copies blocks of this size, again and again; one that takes longer than this has stalled.
BLOCK, STALLED_S = 262144, 3
#: What becomes of the copies: numbers of lines.
DONE, LOST, COPIER = "/var/log/copied", "/var/log/stalled", "/usr/local/sbin/copier"
#: Copies from the node that is asked, a block each second, and notes what became of it.
_COPIER = f"""#!/bin/sh
while :; do
    if timeout {STALLED_S} nuttcp -w1m -l{BLOCK} -n1 "$1" >/dev/null 2>&1; then date >>{DONE}; else date >>{LOST}; fi
    sleep 1
done
"""


@dataclass(frozen=True)
class Cast:
    """A server with a channel, its partner at the same network, and the switches' ports between them."""

    server: Channel
    partner: str
    device: str
    address: IPv4Address
    ports: list[Port]
    mtu: int


def cast(ask: AskLesson) -> Cast:
    site, server = ask.site, ask.channel()
    partner = ask.partner(server)
    address = site.address(partner, server.network)
    there = Ways(site).path(server.node, address).hops[0]
    ends = [end for segment in there.segments for cable in segment.cables for end in (cable.sender, cable.receiver)]
    ports = [port for port in dict.fromkeys(ends) if site.nodes[port.node].switch]
    own = site.mtu(server.port(server.members[0]))
    if own >= JUMBO:
        raise Unsupported(f"{site.name} has jumbo frames on that channel already")
    return Cast(server, partner, there.receiver.device, address, ports, own)


def begin(desk: Desk, cast: Cast) -> None:
    lab, server, partner = desk.lab, cast.server.node, cast.partner
    serve = Step(partner, ("sh", "-c", "pgrep -x nuttcp >/dev/null || nuttcp -S"))
    desk.make(Change(f"{partner} takes what is copied", (serve,), ()))
    write = Step(server, ("sh", "-c", 'cat >"$0" && chmod 755 "$0"', COPIER), stdin=_COPIER)
    start = Step(
        server, ("sh", "-c", f"rm -f {DONE} {LOST}; setsid {COPIER} {cast.address} >/dev/null 2>&1 </dev/null &")
    )
    desk.make(Change(f"{server} copies", (write, start), ()))
    desk.until("something is copied", lambda: _count(desk, cast, DONE) > 0, is_=True, within_s=20)
    lab.on(server, "rm", "-f", LOST)


def task_1(desk: Desk, cast: Cast) -> None:
    """Every port of the switches on the way takes jumbo frames."""
    small = []
    for port in cast.ports:
        mtu = int(desk.lab.on(port.node, "cat", f"/sys/class/net/{port.device}/mtu").must())
        small += [str(port)] if mtu < JUMBO else []
    desk.same("ports between the two that take no jumbo frames", [], small)


def task_2(desk: Desk, cast: Cast) -> None:
    """The largest packet that comes back is a jumbo one, in both directions."""
    own = desk.site.address(cast.server.node, cast.server.network)
    for one, address in ((cast.server.node, cast.address), (cast.partner, own)):
        desk.same(f"largest packet from {one}", JUMBO, largest_packet(desk, one, address, most=JUMBO))


def task_3(desk: Desk, cast: Cast) -> None:
    """Nothing that was copied meanwhile has stalled, and the hosts' files say what runs."""
    for node, device in ((cast.server.node, cast.server.host.name), (cast.partner, cast.device)):
        wanted, _ = stanzas(desk.lab.read(node, FILE))
        said = next((stanza.option("mtu") for stanza in wanted if stanza.device == device), None)
        desk.same(f"the size that {node}'s file has for {device}", str(JUMBO), said)
        desk.same(f"what a reboot of {node} would change", [], [one.what for one in drift(desk.lab, [node])])
    running = desk.lab.on(cast.server.node, "pgrep", "-f", COPIER).rc == 0 and _count(desk, cast, DONE) > 0
    desk.holds("copying goes on", running, "it does not")
    desk.same("blocks that have stalled since the beginning", 0, _count(desk, cast, LOST))


def _count(desk: Desk, cast: Cast, file: str) -> int:
    return len(desk.lab.on(cast.server.node, "cat", file).stdout.splitlines())
