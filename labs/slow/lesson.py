"""A filesystem that is slow from one client: one hop on the way is not what the site's sheet says. Which is drawn."""

from dataclasses import dataclass

from causeway.errors import Unsupported
from causeway.lab.changes.bonds import sends_by
from causeway.lab.changes.change import Change, Step
from causeway.lab.faults import route_missing
from causeway.lab.probes.channels import read_channel
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import AskLesson
from causeway.scenario.cast import Channel, Detour
from causeway.scenario.words.routes import next_hop

#: What may be wrong: the client's way, the server's cables, how the server deals them out.
ROUTE, CABLES, POLICY = "route", "cables", "policy"
WRONG = (ROUTE, CABLES, POLICY)
ONE_BY_MAC = "layer2"


@dataclass(frozen=True)
class Cast:
    """A client of a filesystem, the server whose way to it is wrong, its channel, and what is wrong."""

    way: Detour
    channel: Channel
    filesystem: str
    at: str
    wrong: str
    pulled: list[str]
    wire_mbit: int


def cast(ask: AskLesson) -> Cast:
    site, (way,) = ask.site, ask.detours(1)
    mounts = site.mounts(site.nodes[way.client].cluster or "")
    serving = [name for name in mounts if way.server in site.servers(name)]
    if not serving:
        raise Unsupported(f"{site.name} has no client with a host route to a server of a filesystem that it mounts")
    channel = ask.channel_of(way.server)
    if channel.host.hash_policy == ONE_BY_MAC:
        raise Unsupported(f"{way.server}'s channel deals by {ONE_BY_MAC} anyway")
    wire = site.sends_mbit(channel.port(channel.members[0]))
    wrong = ask.random.choice(WRONG)
    return Cast(way, channel, serving[0], mounts[serving[0]].mount_point, wrong, channel.members[1:], wire)


def begin(desk: Desk, cast: Cast) -> None:
    lab, host = desk.lab, cast.channel.host
    if cast.wrong == ROUTE:
        desk.make(route_missing(lab, cast.way.client, str(cast.way.address)))
    elif cast.wrong == CABLES:
        there, back = (
            tuple(Step(host.node, ("ip", "link", "set", member, state)) for member in cast.pulled)
            for state in ("down", "up")
        )
        desk.make(Change(f"{host.node} sends by one cable", there, back))
    else:
        desk.make(sends_by(lab, host, ONE_BY_MAC))


def task_1(desk: Desk, cast: Cast) -> None:
    """Every hop between the client and the server is what the sheet says."""
    lab, channel = desk.lab, cast.channel
    direct = next_hop(desk, cast.way.client, cast.way.address)
    leg = desk.site.address(cast.way.server, channel.network)
    state = read_channel(lab, channel.host)
    sending = [member for member, up in state.members.items() if up]
    kept = [direct == str(leg), sending == channel.members, state.hash_policy == channel.host.hash_policy]
    desk.same("of the three things that the sheet promises, so many are kept", len(kept), sum(kept))
