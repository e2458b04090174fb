"""Builds a server's channel by hand, and finds which of its ends governs which direction."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv4Network

from causeway.errors import Unsupported
from causeway.lab.changes.change import Change, Step
from causeway.lab.changes.files import replaced
from causeway.lab.probes import nuttcp
from causeway.lab.probes.channels import read_channel
from causeway.lab.probes.counters import difference, sent_bytes
from causeway.lab.probes.drift import drift
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import AskLesson
from causeway.model.topology import LINUX_POLICIES, ChannelEnd
from causeway.scenario.cast import Channel

FILE = "/etc/network/interfaces"
#: LACP looks for a partner that it has lost no oftener than each 30 s.
AGREED_S = 35
#: Connections of one client, all at once: that all hash to one member of two by chance happens in 1 of 128 checks.
STREAMS, SECONDS = 8, 1
#: The part of the bytes that a member must carry to count: more than LACP and acknowledgements.
COUNTS = 0.02


@dataclass(frozen=True)
class Cast:
    """A server with a channel to a switch that deals by hardware address, and a client with a link there."""

    server: Channel
    client: str
    address: IPv4Address
    subnet: IPv4Network
    mtu: int
    lacp_rate: str
    ways: list[str]


def cast(ask: AskLesson) -> Cast:
    server = ask.channel(dealt=True)
    if server.host.hash_policy not in LINUX_POLICIES or server.host.protocol != "lacp":
        raise Unsupported(f"{ask.site.name} has no channel by LACP whose host sends by a policy of Linux's")
    site, network = ask.site, ask.site.topology.networks[server.network]
    leg = site.nodes[server.node].interfaces[server.host.name]
    ways = [
        f"{str(site.destination(route)).removesuffix('/32')} via {route.via[0]}"
        for route in site.nodes[server.node].routes
        if route.via[0] in network.subnet
    ]
    rate = next(channel.lacp_rate for channel, end, _ in site.channel_ends() if end == server.host)
    mtu = site.mtu(server.port(server.members[0]))
    return Cast(server, ask.peers(server, 1)[0], leg.address, network.subnet, mtu, rate, ways)


def begin(desk: Desk, cast: Cast) -> None:
    node, bond = cast.server.node, cast.server.host.name
    down = Step(node, ("ifdown", bond))
    desk.make(Change(f"{node} has no {bond}", (down,), (Step(node, ("ifup", bond)),)))
    stanza = rf"(# .*\n\n)?auto {bond}\niface {bond} .*\n( .*\n)*\n?"
    desk.make(replaced(desk.lab, node, FILE, stanza, ""))


def task_1(desk: Desk, cast: Cast) -> None:
    """The server has its channel, LACP has agreed on every member at both ends, and its files have all that."""
    server = cast.server

    def sending(end: ChannelEnd) -> list[str]:
        return [member for member, up in read_channel(desk.lab, end).members.items() if up]

    for end in (server.host, server.switch):
        desk.soon(f"members by which {end.node} sends", end.members, partial(sending, end), AGREED_S)
    desk.soon("its mode", "802.3ad", lambda: read_channel(desk.lab, server.host).mode, 0)
    answered = desk.lab.on(cast.client, "ping", "-c", "1", "-W", "2", str(cast.address)).rc == 0
    desk.holds(f"{cast.client} reaches {server.node} by {cast.address}", answered, "it does not")
    differing = [one.what for one in drift(desk.lab, [server.node])]
    desk.same(f"what a reboot of {server.node} would change", [], differing)


def task_2(desk: Desk, cast: Cast) -> None:
    """What one client fetches over many connections comes by several members."""
    _spread(desk, cast, cast.server.host, "-t", f"members by which {cast.client} fetches, many connections at once")


def task_3(desk: Desk, cast: Cast) -> None:
    """What one client sends over many connections comes by several members; the server's end is as it was."""
    _spread(desk, cast, cast.server.switch, "-r", f"members by which {cast.client} sends, many connections at once")


def _spread(desk: Desk, cast: Cast, end: ChannelEnd, way: str, what: str) -> None:
    carrying = _carrying(desk, cast, end, way)
    desk.holds(f"{what}: more than one", len(carrying) > 1, carrying)


def _carrying(desk: Desk, cast: Cast, end: ChannelEnd, way: str) -> Sequence[str]:
    """The members by which an end sends while the client has many connections."""
    to = str(desk.site.address(cast.client, cast.server.network))
    before = sent_bytes(desk.lab, end.node, end.members)
    with nuttcp.servers(desk.lab, [cast.client]):
        many = ("nuttcp", way, "-w1m", f"-N{STREAMS}", f"-T{SECONDS}", f"-P{nuttcp.CONTROL_PORT}", to)
        desk.lab.on(cast.server.node, *many).must()
    sent = difference(before, sent_bytes(desk.lab, end.node, end.members))
    return [member for member, count in sent.items() if count > COUNTS * sum(sent.values())]
