"""Channels: members that are there once, policies that can be computed, ends that agree."""

from collections.abc import Iterator

from causeway.model.findings import Finding, unknown
from causeway.model.rules import places
from causeway.model.rules.cabling import agree
from causeway.model.rules.places import ChannelPlace
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import AIX_POLICIES, CISCO_POLICIES, INCOMPUTABLE_POLICIES, OVS_POLICIES

#: IBM's, "EtherChannel, IEEE 802.3ad Link Aggregation, Teaming"; Cisco's, document 12023.
_ETHERCHANNELS_MOST = 8


def channels(site: Site) -> Iterator[Finding]:
    """Every end of every channel, and both together."""
    member_of: dict[Port, str] = {}
    for place in places.channels(site):
        ends = place.channel.ends
        for side, end in enumerate(ends):
            for index, device in enumerate(end.members):
                port = Port(end.node, device)
                if port in member_of:
                    what = f"{device} is a member of {member_of[port]} already"
                    yield Finding(place.of(side, "members", index), what, "use each port in one channel, once")
                member_of.setdefault(port, f"{end.node}:{end.name}")
            yield from _end(site, place, side)
        if all(_is_there(site, end.node, end.name) for end in ends):
            a, b = (Port(end.node, end.members[0] if end.members else end.name) for end in ends)
            called = Port(ends[0].node, ends[0].name), Port(ends[1].node, ends[1].name)
            yield from agree(site, place.of(1), (a, b), called)
        if ends[0].protocol != ends[1].protocol:
            speaks, does_not = sorted(ends, key=lambda end: end.protocol)
            what = f"{speaks.node} speaks LACP, and {does_not.node} does not: such ends take up one member at most"
            yield Finding(place.of(1, "protocol"), what, "say the same of both ends")
        counts = [len(end.members) for end in ends]
        if min(counts) < 2:
            side = counts.index(min(counts))
            what = f"a channel of {counts[side]} member"
            yield Finding(place.of(side, "members"), what, "give it two or more, or make it a link")
        elif counts[0] != counts[1]:
            what = f"{counts[0]} members on one end and {counts[1]} on the other"
            yield Finding(place.of(1, "members"), what, "name as many ports on both ends")


def _is_there(site: Site, node: str, bond: str) -> bool:
    known = site.nodes.get(node)
    return known is not None and (known.switch is not None or bond in known.interfaces)


def _end(site: Site, place: ChannelPlace, side: int) -> Iterator[Finding]:
    end = place.channel.ends[side]
    node = site.nodes.get(end.node)
    if node is None:
        yield unknown(place.of(side, "node"), "node", end.node, site.nodes)
        return
    if place.pool and side == 1 and node.switch is None:
        return  # the pool says so
    kind = "a switch" if node.switch else "a host"
    policies = node.hash_policies
    if end.hash_policy in INCOMPUTABLE_POLICIES and not node.switch:
        what = f"nobody can compute which member {end.hash_policy!r} takes"
        yield Finding(place.of(side, "hash_policy"), what, f"use one of {', '.join(policies)}")
    elif end.hash_policy not in policies:
        what = f"{end.hash_policy!r} is no hash policy of {kind}"
        yield Finding(place.of(side, "hash_policy"), what, f"use one of {', '.join(policies)}")
    elif end.protocol == "static" and end.hash_policy in OVS_POLICIES:
        what = f"without LACP a switch that sends by {end.hash_policy} takes broadcasts by one member alone"
        yield Finding(place.of(side, "hash_policy"), what, f"use one of {', '.join(CISCO_POLICIES)}")
    if end.hash_policy in AIX_POLICIES + CISCO_POLICIES and len(end.members) > _ETHERCHANNELS_MOST:
        what = f"{len(end.members)} members, and an EtherChannel has at most {_ETHERCHANNELS_MOST}"
        yield Finding(place.of(side, "members"), what, "name fewer, or a hash policy of Linux's or Open vSwitch's")
    if not node.switch and end.name not in node.interfaces and not place.pool:
        what = f"{end.node} has no interface {end.name!r}"
        yield Finding(place.of(side, "name"), what, "give the bond an address there", (end.name,))
    for index, device in enumerate(end.members):
        if device in node.interfaces:
            what = f"{end.node}:{device} has an address of its own"
            yield Finding(place.of(side, "members", index), what, "give it to the bond; a member has none")
