"""The I/O nodes of a Blue Gene: diskless, named by location, booted in blocks from a service node.

Source: Redpaper, "IP names and addresses of the Blue Gene I/O nodes" (Figure 2).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from ipaddress import IPv4Address
from typing import Annotated, Literal

from pydantic import Field, StrictInt, StringConstraints

from causeway.model.findings import Finding, Where, one_of, unknown, within
from causeway.model.pools.around import Around
from causeway.model.pools.boot import DEVICE, Boot, check_server
from causeway.model.thing import Port, Rate, RateMbit, Thing, Word
from causeway.model.topology import Interface, Link, Node, Route

Block = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,31}$")]
#: As a shell has it in `case`.
LocationPattern = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9*?!\[\]-]{1,64}$")]


class Location(Thing):
    """Where I/O nodes sit: every node card of these racks has one at each of these connectors."""

    racks: Annotated[list[Annotated[str, StringConstraints(pattern=r"^R[0-9A-F]{2}$")]], Field(max_length=256)]
    connectors: Annotated[list[Annotated[StrictInt, Field(ge=1, le=4)]], Field(max_length=4)]


class BlueGene(Thing):
    """`count` I/O nodes from location `first` on, in a ring; addresses go to all locations in their order.

    `blocks` are the sets that are booted together: name -> pattern of location codes as a shell has them;
    `booted` is the block that `causeway up` allocates. `receive_mbit` and `send_mbit` are each I/O node's.
    """

    platform: Literal["bluegene"]
    role: Word = "ion"
    count: Annotated[StrictInt, Field(ge=1)]
    first: str
    cluster: str
    network: str
    switch: str
    rate_mbit: Rate | None = None
    receive_mbit: RateMbit | None = None
    send_mbit: RateMbit | None = None
    addresses_from: IPv4Address
    locations: Annotated[list[Location], Field(max_length=16)]
    blocks: dict[Block, LocationPattern]
    booted: str
    routes: list[Route] = []
    boot: Boot


def names(pool: BlueGene) -> list[str]:
    """The `count` locations from `first` on, in a ring."""
    everywhere = all_names(pool)
    start = everywhere.index(pool.first) if pool.first in everywhere else 0
    return (everywhere[start:] + everywhere[:start])[: pool.count]


def booted(pool: BlueGene) -> list[str]:
    """The nodes that are up when the lab is."""
    return block_nodes(pool, pool.booted, names(pool))


def all_names(pool: BlueGene) -> list[str]:
    """Location codes in the order of the machine: rack, midplane, node card, Ethernet connector."""
    return [
        f"{rack}-M{midplane}-N{card:X}-{connector}"
        for group in pool.locations
        for rack in group.racks
        for midplane in range(2)
        for card in range(16)
        for connector in group.connectors
    ]


def addresses(pool: BlueGene, around: Around) -> dict[str, IPv4Address]:
    """The address of every location that gets one.

    Handed out in order from `addresses_from`, past the addresses of others and past .0 and .255, which
    are valid in a /22 and trouble at home, up to the network's broadcast address.
    """
    if pool.network not in around.networks:
        return {}
    taken = {i.address for n in around.nodes.values() for i in n.interfaces.values()}
    subnet = around.networks[pool.network].subnet
    given: dict[str, IPv4Address] = {}
    address = pool.addresses_from
    for location in all_names(pool):
        while address in subnet and (address in taken or int(address) & 0xFF in (0, 255)):
            address += 1
        if address not in subnet or address == subnet.broadcast_address:
            break
        given[location] = address
        address += 1
    return given


def nodes(pool: BlueGene, around: Around) -> dict[str, Node]:
    """The powered I/O nodes that have an address: one interface each, named by the location."""
    given = addresses(pool, around)
    return {
        name: Node(
            role=pool.role,
            cluster=pool.cluster,
            interfaces={DEVICE: Interface(network=pool.network, address=given[name], names=[name])},
            receive_mbit=pool.receive_mbit,
            send_mbit=pool.send_mbit,
            routes=pool.routes,
        )
        for name in names(pool)
        if name in given
    }


def links(pool: BlueGene) -> Iterator[tuple[str, Link]]:
    """Each node's cable to the pool's switch, whose port is named like the node."""
    for name in names(pool):
        yield pool.network, Link(ends=[Port(name, DEVICE), Port(pool.switch, name)], rate_mbit=pool.rate_mbit)


def block_nodes(pool: BlueGene, block: str, among: Iterable[str]) -> list[str]:
    """Those of the nodes that are in a block."""
    return [name for name in among if fnmatchcase(name, pool.blocks[block])]


def check(where: Where, pool: BlueGene, around: Around) -> Iterator[Finding]:
    """What must hold of a pool: places and addresses for its nodes, blocks with nodes, somebody to boot from."""
    everywhere = all_names(pool)
    if pool.cluster not in around.clusters:
        yield unknown((*where, "cluster"), "cluster", pool.cluster, around.clusters)
    if pool.network not in around.networks:
        yield unknown((*where, "network"), "network", pool.network, around.networks)
    if pool.switch not in around.nodes:
        yield unknown((*where, "switch"), "node", pool.switch, around.nodes)
    if pool.first not in everywhere:
        yield unknown((*where, "first"), "location", pool.first, everywhere)
    if len(set(everywhere)) < len(everywhere):
        twice = Counter(everywhere).most_common(1)[0][0]
        yield Finding((*where, "locations"), f"{twice} stands there twice", "name each location once")
    if pool.network in around.networks and around.networks[pool.network].subnet.prefixlen <= 30:
        yield from _check_network(where, pool, around)
    yield from _check_blocks(where, pool)
    server = (*where, "boot", "server")
    yield from check_server(server, pool.boot, pool.cluster, [pool.network], "the I/O nodes'", around)


def _check_network(where: Where, pool: BlueGene, around: Around) -> Iterator[Finding]:
    places, given = len(all_names(pool)), addresses(pool, around)
    addressed, subnet = len(given), around.networks[pool.network].subnet
    switch, count = around.nodes.get(pool.switch), (*where, "count")
    if switch is not None and switch.switch != pool.network:
        what = f"{pool.switch} is no switch of network {pool.network}"
        switches = [name for name, node in around.nodes.items() if node.switch == pool.network]
        yield Finding((*where, "switch"), what, one_of(pool.switch, switches))
    if pool.addresses_from not in subnet:
        what = f"{pool.addresses_from} is outside of network {pool.network}, {subnet}"
        yield Finding((*where, "addresses_from"), what, within(subnet))
    elif pool.count > places:
        yield Finding(count, f"{pool.count} I/O nodes, and locations for {places}", f"use 1 to {places}")
    elif addressed < places and pool.count > addressed:
        what = f"{pool.count} I/O nodes, and {addressed} addresses from {pool.addresses_from} in {subnet}"
        yield Finding(count, what, f"use 1 to {addressed}, or a larger network")
    elif without := [name for name in names(pool) if name not in given]:
        what = f"{addressed} addresses from {pool.addresses_from} in {subnet}, none of them for {without[0]}"
        yield Finding(count, what, "use fewer, an earlier `first`, or a larger network")


def _check_blocks(where: Where, pool: BlueGene) -> Iterator[Finding]:
    """A block needs nodes."""
    everywhere = all_names(pool)
    for name, pattern in pool.blocks.items():
        if pool.first in everywhere and not any(fnmatchcase(location, pattern) for location in everywhere):
            what = f"no location matches {pattern!r}"
            yield Finding((*where, "blocks", name), what, f"use a pattern like {pool.first[:-1]}?")
    if pool.booted not in pool.blocks:
        what = f"there is no block {pool.booted!r}"
        yield Finding((*where, "booted"), what, one_of(pool.booted, pool.blocks), (pool.booted,))
    elif pool.first in everywhere and not block_nodes(pool, pool.booted, names(pool)):
        what = f"none of the {pool.count} I/O nodes from {pool.first} on is in block {pool.booted}"
        yield Finding((*where, "booted"), what, "boot a block that has one")
