"""Many nodes alike that start by themselves; they may have channels."""

from collections.abc import Iterator
from typing import Literal

from causeway.model.findings import Finding, Where
from causeway.model.pools import numbered
from causeway.model.pools.around import Around
from causeway.model.pools.numbered import Numbered, all_names, as_port, at_switch, names
from causeway.model.thing import Device, Port, Rate, Thing
from causeway.model.topology import Channel, ChannelEnd, Link, Node, Protocol

__all__ = ["all_names", "names"]


class Uplink(Thing):
    """A channel of each node to a switch, whose bond is named like the node and its members NODE-1, NODE-2, ...

    `protocol` is that of both ends; the policies are as those of a channel's ends.
    """

    members: list[Device]
    switch: str
    hash_policy: str
    switch_policy: str
    protocol: Protocol = "lacp"
    lacp_rate: Literal["slow", "fast"] = "fast"
    rate_mbit: Rate | None = None


class Plain(Numbered):
    """Nodes that start by themselves.

    `names` lists them, or is a pattern for `count` of them; `most` is how many the cabling has room for. `hosts` are
    their host numbers in each of their networks, or the first one's, from which the others go on. `receive_mbit` and
    `send_mbit` are each node's.
    """

    platform: Literal["plain"] = "plain"
    channels: dict[Device, Uplink] = {}
    forwards: bool = False


def nodes(pool: Plain, around: Around) -> dict[str, Node]:
    """The nodes written out."""
    return numbered.nodes(pool, around, forwards=pool.forwards)


def links(pool: Plain) -> Iterator[tuple[str, Link]]:
    """Each node's cables but for those of channels."""
    members = [Port(node, bond) for node in names(pool) for bond in pool.channels]
    return ((network, link) for network, link in numbered.links(pool) if link.ends[0] not in members)


def channels(pool: Plain) -> Iterator[Channel]:
    """Each node's channels, written out."""
    for node in names(pool):
        for bond, up in pool.channels.items():
            own = ChannelEnd(node=node, name=bond, members=up.members, hash_policy=up.hash_policy, protocol=up.protocol)
            ports = [f"{node}-{number}" for number in range(1, len(up.members) + 1)]
            other = ChannelEnd.model_construct(
                node=up.switch, name=node, members=ports, hash_policy=up.switch_policy, protocol=up.protocol
            )
            yield Channel.model_construct(ends=[own, other], lacp_rate=up.lacp_rate, rate_mbit=up.rate_mbit)


def check(where: Where, pool: Plain, around: Around) -> Iterator[Finding]:
    """What must hold of a pool by itself; of its nodes what must hold of any."""
    yield from numbered.check(where, pool, around)
    longest = max(all_names(pool), key=len, default="")
    if pool.channels:
        yield from as_port(where, f"{longest}-{max(len(up.members) for up in pool.channels.values())}")
    for device, leg in pool.interfaces.items():
        if leg.switch is not None and device in pool.channels:
            what = f"{device} is a channel, and is cabled by its members"
            yield Finding((*where, "interfaces", device, "switch"), what, "name the switch at the channel alone")
    for bond, up in pool.channels.items():
        yield from at_switch((*where, "channels", bond, "switch"), up.switch, around)
        if bond not in pool.interfaces:
            what = f"there is no interface {bond!r}"
            yield Finding((*where, "channels", bond), what, "give the channel an address there", (bond,))
