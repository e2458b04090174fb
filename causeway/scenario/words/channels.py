"""A channel's ends, asked and set, for scenarios."""

import re
import time
from collections.abc import Sequence

from causeway.lab.changes import lacp
from causeway.lab.changes.change import Change
from causeway.lab.probes.channels import read_channel
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


def unopened(stage: Stage, channel: Channel, peers: Sequence[str], silent: str) -> tuple[list[str], list[str]]:
    """Connections from a channel's host to peers' sshd that cannot be opened when a member carries nothing: those
    that hash to it, there or back, and those that are not opened now. Four to each peer, from ports of the seed."""
    site, own = stage.site, stage.site.address(channel.node, channel.network)
    tries, lost = {}, []
    for peer in peers:
        for port in stage.untaken(SOURCE_PORTS, _TRIES):
            label, target = f"{port} > {peer}", site.address(peer, channel.network)
            tries[label] = ((own, port), target)
            planned = expect(site, [StreamEnds(label, channel.node, (own, port), (target, SSH_PORT))])
            back = channel.members[channel.switch.members.index(dealt_to(stage, peer, channel))]
            if silent in (planned.member(label, channel.node), back):
                lost.append(label)
    return sorted(lost), sorted(set(tries) - set(opened(stage.lab, channel.node, tries)))


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
