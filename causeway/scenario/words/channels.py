"""A channel's ends, asked and set, for scenarios."""

import re
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.lab.changes import lacp
from causeway.lab.changes.change import Change
from causeway.lab.probes.channels import read_channel
from causeway.lab.probes.nuttcp import sockets
from causeway.lab.probes.reach import SSH_PORT, opened
from causeway.lab.probes.switching import deal_buckets
from causeway.model.thing import Port
from causeway.model.topology import ChannelEnd
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import slb_member
from causeway.plan.streams import StreamEnds, expect
from causeway.scenario.cast import Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import SOURCE_PORTS
from causeway.wait import until

#: Connections that are tried to each peer.
_TRIES = 4
#: Ports of which so many are tried that streams must not find them resting: for who tries often.
TRIED_PORTS = range(1200, 5000)
#: Looks, a tenth of a second apart, after which nothing is about to change.
_LOOKS = 6


def members_up(stage: Stage, end: ChannelEnd) -> list[str]:
    """The members by which an end sends now, in the order of the cables."""
    return [device for device, up in read_channel(stage.lab, end).members.items() if up]


def agreed(stage: Stage, *channels: Channel) -> None:
    """Wait until LACP has agreed at both ends, and have the switch send as it did when the lab came up."""
    ends = [end for channel in channels for end in (channel.host, channel.switch)]

    def lacking() -> str:
        return ", ".join(end.node for end in ends if not read_channel(stage.lab, end).negotiated)

    until("the channels are negotiated", lacking, deadline_s=120, poll_s=1)
    deal_buckets(stage.lab)


def speaks(stage: Stage, channel: Channel, rate: str) -> Change:
    """Both ends speak LACP in a rate, slow or fast."""
    return lacp.speaks(stage.lab, channel.host, channel.switch, rate)


def dealt_to(stage: Stage, sender: str, channel: Channel) -> str:
    """The member by which a switch with balance-slb hands on what comes from a host's port in its network."""
    legs = stage.site.nodes[sender].interfaces.items()
    device = next(device for device, leg in legs if leg.network == channel.network)
    return slb_member(mac_address(stage.site, Port(sender, device)), channel.switch.members)


def lights(stage: Stage, channel: Channel) -> list[str]:
    """The host's members that have a carrier, in the order of the cables."""
    return [member for member in channel.members if mii_status(stage, channel, member) == "up"]


def steady(stage: Stage, what: str, probe: Callable[[], list[str]], *, is_: list[str], within_s: float = 20) -> None:
    """Wait until a probe sees members, and no others for half a second: a bond looks at its carriers each tenth, and
    what is plugged elsewhere is without one for a moment."""
    seen: list[list[str]] = []

    def last() -> list[str]:
        seen.append(probe())
        return sorted({", ".join(members) for members in seen[-_LOOKS:]}) if len(seen) >= _LOOKS else []

    stage.until(what, last, is_=[", ".join(is_)], within_s=within_s)


def mii_status(stage: Stage, channel: Channel, member: str) -> str:
    """What the bonding driver says of a member's carrier: up or down."""
    text = stage.lab.on(channel.node, "cat", f"/proc/net/bonding/{channel.host.name}").must()
    found = re.search(rf"Slave Interface: {member}\nMII Status: (\w+)", text)
    return found[1] if found else "no such member"


def when_out(stage: Stage, channel: Channel, member: str, timeout_s: float) -> tuple[float, float]:
    """When host and switch have taken a member out, in seconds since 1970; looked at 100 times in a time-out."""
    places = {0: (channel.host, member), 1: (channel.switch, channel.opposite(member))}
    at: dict[int, float] = {}

    def out() -> int:
        for side, (end, device) in places.items():
            if side not in at and not read_channel(stage.lab, end).members[device]:
                at[side] = time.time()
        return len(at)

    what = "ends that have taken the member out"
    stage.until(what, out, is_=len(places), within_s=2 * timeout_s, poll_s=timeout_s / 100)
    return at[0], at[1]


@dataclass(frozen=True)
class Try:
    """A connection from a channel's host to a peer's sshd: its ends, and the host's members by which it must leave,
    and be answered."""

    label: str
    source: tuple[IPv4Address, int]
    target: IPv4Address
    there: str
    back: str


def tries(
    stage: Stage, channel: Channel, peers: Sequence[str], by: str = "", ports: Sequence[int] = SOURCE_PORTS
) -> list[Try]:
    """Four connections to each peer, from ports of the seed; `by` is what the switch sends by (default: as the site's,
    whose hash must be known)."""
    site, own = stage.site, stage.site.address(channel.node, channel.network)
    policies = {channel.at: by or channel.switch.hash_policy}
    busy = {here[1] for here, _, _ in sockets(stage.lab, channel.node)}
    found = []
    for peer in peers:
        for port in _free(stage, ports, busy):
            label, here, target = f"{port} > {peer}", (own, port), site.address(peer, channel.network)
            there = StreamEnds("there", channel.node, here, (target, SSH_PORT))
            back = StreamEnds("back", peer, (target, SSH_PORT), here)
            planned = expect(site, [there, back], policies=policies)
            answered = channel.members[channel.switch.members.index(planned.member("back", channel.at))]
            found.append(Try(label, here, target, planned.member("there", channel.node), answered))
    return found


def _free(stage: Stage, ports: Sequence[int], busy: Collection[int]) -> list[int]:
    """Ports for a peer's connections, without those that rest since another scenario (TIME_WAIT)."""
    drawn = stage.untaken(ports, _TRIES)
    while len(free := [port for port in drawn if port not in busy]) < _TRIES:
        drawn = free + stage.untaken(ports, _TRIES - len(free))
    return drawn


def lost(stage: Stage, channel: Channel, tried: Sequence[Try]) -> list[str]:
    """Those that cannot be opened now."""
    labels = {each.label: (each.source, each.target) for each in tried}
    return sorted(set(labels) - set(opened(stage.lab, channel.node, labels)))


def unopened(stage: Stage, channel: Channel, peers: Sequence[str], silent: str) -> tuple[list[str], list[str]]:
    """Connections that cannot be opened when a member carries nothing: those that hash to it, there or back, and those
    that are not opened now."""
    tried = tries(stage, channel, peers)
    due = sorted(each.label for each in tried if silent in (each.there, each.back))
    return due, lost(stage, channel, tried)


def handed_by_all(stage: Stage, sender: Channel, receiver: Channel) -> None:
    """Wait until a switch without LACP sends by all members of two channels, and their hosts hear each other."""
    ends = [sender.switch, receiver.switch]
    members = [member for end in ends for member in end.members]
    what = f"members by which {sender.at} sends"
    stage.until(what, lambda: [m for end in ends for m in members_up(stage, end)], is_=members, within_s=10)
    deal_buckets(stage.lab)
    target = str(stage.site.address(receiver.node, receiver.network))
    answered = ("ping", "-c", "1", "-W", "1", target)
    stage.until("ping's exit code", lambda: stage.lab.on(sender.node, *answered).rc, is_=0, within_s=60)
