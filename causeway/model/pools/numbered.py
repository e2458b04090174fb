"""Pools whose nodes have numbers: names, addresses and cables by rule."""

import re
from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import Annotated

from pydantic import Field, StrictInt, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from causeway.model.findings import Finding, Where
from causeway.model.pools.around import Around
from causeway.model.thing import DEVICE_LENGTH, Device, Lid, Mtu, NodeName, Port, Rate, RateMbit, Sysctl, Thing, Word
from causeway.model.topology import Interface, Link, Network, Node, Route

#: `{}` is the node's own name.
HostPattern = Annotated[str, StringConstraints(pattern=r"^([A-Za-z]|\{\})([A-Za-z0-9-]|\{\})*$", max_length=63)]
#: `{}` or `{:02}` is the node's number, from 1 on, here with at least two digits.
NodePattern = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9-]*\{(:0?[1-9])?\}([A-Za-z0-9-]*[A-Za-z0-9])?$", max_length=63),
]
#: In a network of prefix /16.
_LAST_HOST = 2**16 - 2
_LONGEST_NAME = 63
#: The kind of error of a pool whose nodes cannot be counted.
NO_COUNT = "no_count"
#: No lab is larger.
_MOST = 4096


class Leg(Thing):
    """An interface of each node. `switch` is who it is cabled to, at a port that is named like the node.

    `lids` are the nodes' numbers in a fabric that forwards by tables made beforehand.
    """

    network: str
    names: list[HostPattern] = []
    mtu: Mtu | None = None
    switch: str | None = None
    rate_mbit: Rate | None = None
    lids: list[Lid] | None = None


class Numbered(Thing):
    """What all such pools have."""

    cluster: str | None = None
    role: Word
    names: Annotated[list[NodeName], Field(min_length=1)] | NodePattern
    count: Annotated[StrictInt, Field(ge=1, le=_MOST)] | None = None
    most: Annotated[StrictInt, Field(ge=1, le=_MOST)] | None = None
    hosts: list[Annotated[StrictInt, Field(ge=1, le=_LAST_HOST)]] | Annotated[StrictInt, Field(ge=1, le=_LAST_HOST)]
    interfaces: dict[Device, Leg]
    routes: list[Route] = []
    receive_mbit: RateMbit | None = None
    send_mbit: RateMbit | None = None
    sysctl: Sysctl = {}

    @model_validator(mode="after")
    def _counted(self) -> "Numbered":
        if isinstance(self.names, str) and self.count is None:
            raise PydanticCustomError(NO_COUNT, "a pattern for names, and no number of nodes")
        return self


def names(pool: Numbered) -> list[str]:
    """Its nodes."""
    if isinstance(pool.names, list):
        return list(dict.fromkeys(pool.names))[: pool.count]
    return [_numbered(pool.names, number) for number in range(1, (pool.count or 0) + 1)]


def all_names(pool: Numbered) -> list[str]:
    """All nodes that it could have."""
    if isinstance(pool.names, list):
        return pool.names
    return [_numbered(pool.names, number) for number in range(1, (pool.most or pool.count or 0) + 1)]


def _numbered(pattern: str, number: int) -> str:
    """Not str.format: a pattern from a stranger's file may only say how many digits."""
    return re.sub(r"\{(?::0?([1-9]))?\}", lambda match: str(number).zfill(int(match[1] or 1)), pattern)


def host_names(leg: Leg, node: str) -> list[str]:
    return [name.replace("{}", node) for name in leg.names]


def nodes(pool: Numbered, around: Around, *, forwards: bool = False) -> dict[str, Node]:
    """The nodes written out. Those without a host number, and legs in unknown networks, are left out."""
    given = pool.hosts if isinstance(pool.hosts, list) else range(pool.hosts, pool.hosts + len(names(pool)))
    written = {}
    for place, (node, host) in enumerate(zip(names(pool), given, strict=False)):
        legs = {
            # its form has been checked as part of the pool
            device: Interface.model_construct(
                network=leg.network,
                address=_address(around.networks[leg.network], host),
                names=host_names(leg, node),
                mtu=leg.mtu,
                lid=leg.lids[place] if leg.lids and place < len(leg.lids) else None,
            )
            for device, leg in pool.interfaces.items()
            if leg.network in around.networks
        }
        written[node] = Node(
            role=pool.role,
            cluster=pool.cluster,
            forwards=forwards,
            receive_mbit=pool.receive_mbit,
            send_mbit=pool.send_mbit,
            routes=pool.routes,
            sysctl=pool.sysctl,
        ).model_copy(update={"interfaces": legs})
    return written


def _address(network: Network, host: int) -> IPv4Address:
    return IPv4Address(min(int(network.subnet.network_address) + host, 2**32 - 1))


def links(pool: Numbered) -> Iterator[tuple[str, Link]]:
    """Each node's cables to switches, one device of all nodes after the other, with their networks' names."""
    for device, leg in pool.interfaces.items():
        if leg.switch is not None:
            for node in names(pool):
                yield leg.network, Link(ends=[Port(node, device), Port(leg.switch, node)], rate_mbit=leg.rate_mbit)


def check(where: Where, pool: Numbered, around: Around) -> Iterator[Finding]:
    """What must hold of a pool by itself; of its nodes what must hold of any."""
    everywhere = all_names(pool)
    if len(set(everywhere)) < len(everywhere):
        twice = Counter(everywhere).most_common(1)[0][0]
        yield Finding((*where, "names"), f"{twice} stands there twice", "name each node once")
    room = len(everywhere) if isinstance(pool.names, list) else pool.most
    if pool.count is not None and room is not None and pool.count > room:
        what = f"{pool.count} nodes, and {'names' if isinstance(pool.names, list) else 'room'} for {room}"
        yield Finding((*where, "count"), what, f"use 1 to {room}")
    if isinstance(pool.hosts, list) and len(pool.hosts) != len(everywhere):
        what = f"{len(pool.hosts)} host numbers for {len(everywhere)} nodes"
        yield Finding((*where, "hosts"), what, "give each node one, or only the first one's")
    longest = max(everywhere, key=len, default="")
    if any(leg.switch for leg in pool.interfaces.values()):
        yield from as_port(where, longest)
    for device, leg in pool.interfaces.items():
        for index, name in enumerate(host_names(leg, longest)):
            if len(name) > _LONGEST_NAME or name.endswith("-"):
                what = f"{name} is no host name"
                yield Finding((*where, "interfaces", device, "names", index), what, "use a shorter one, of A-Z, 0-9, -")
        yield from at_switch((*where, "interfaces", device, "switch"), leg.switch, around)
        if leg.lids is not None and len(leg.lids) != len(everywhere):
            what = f"{len(leg.lids)} LIDs for {len(everywhere)} nodes"
            yield Finding((*where, "interfaces", device, "lids"), what, "give each node one")


def as_port(where: Where, port: str) -> Iterator[Finding]:
    """Names that are made of others must not be longer than their kind may be."""
    if len(port) > DEVICE_LENGTH:
        what = f"a switch's port cannot be called {port}: a port's name has at most {DEVICE_LENGTH} characters"
        yield Finding((*where, "names"), what, "use shorter names, or list the nodes under `nodes`")


def at_switch(where: Where, switch: str | None, around: Around) -> Iterator[Finding]:
    if switch is not None and switch in around.nodes and around.nodes[switch].switch is None:
        what = f"{switch} is no switch"
        yield Finding(where, what, "name one that is, or write the cable under `links`", ("switch",))


def meant(names: object, count: object) -> list[str]:
    """The nodes' names that a pool of bad form may have meant, as far as its file says; none: it does not say."""
    if isinstance(names, list):
        return [name for name in names if isinstance(name, str)]
    if not isinstance(names, str) or _numbered(names, 1) == names:
        return []
    last = count if isinstance(count, int) and 0 < count <= _MOST else _MOST
    return [_numbered(names, number) for number in range(1, last + 1)]
