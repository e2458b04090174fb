"""What switches' tables tell of the cables: who is at which port, and which ports lead to other switches.

A switch that learns knows by which port it last heard each hardware address. In a tree of such switches two ports face
each other where what the one leads to and what the other leads to is everybody, and nobody twice. A fabric's tables
that were made beforehand lead by a host's own port to that host alone, and from a spine to all hosts of a line chip.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from itertools import combinations

from causeway.collect.bonds import natural
from causeway.collect.plant import Plant, Switch
from causeway.model.thing import Port


@dataclass
class Read:
    """Legs by the switch's port that they are at, and pairs of switches' ports, each with a question or ""."""

    at: dict[Port, Port] = field(default_factory=dict)
    between: dict[tuple[Port, Port], str] = field(default_factory=dict)


def read_tables(plant: Plant, subnet: IPv4Network, joined: Mapping[Port, Port]) -> Read:
    """What the tables of a network's switches say; `joined` are switches' ports of which it is known already."""
    switches = plant.switches_of(subnet)
    known = {mac: port for mac, port in plant.owner.items() if port in plant.legs_in(subnet)}
    found = Read()
    learning = [switch for switch in switches if not switch.by_table]
    trunks = _trunks(plant, learning, {s.node: _sides(s, known) for s in learning}, joined, found)
    for switch in learning:
        for mac, port in switch.reached.items():
            if mac in known and Port(switch.node, port) not in trunks:
                found.at.setdefault(known[mac], Port(switch.node, port))
    fabric = [switch for switch in switches if switch.by_table]
    if fabric:
        _read_fabric(fabric, known, found)
    return found


def _sides(switch: Switch, known: Mapping[str, Port]) -> dict[str, set[str]]:
    """The hardware addresses that each port leads to."""
    sides: dict[str, set[str]] = {}
    for mac, port in switch.reached.items():
        if mac in known:
            sides.setdefault(port, set()).add(mac)
    return sides


def _trunks(
    plant: Plant,
    switches: list[Switch],
    sides: Mapping[str, dict[str, set[str]]],
    joined: Mapping[Port, Port],
    found: Read,
) -> set[Port]:
    """The ports of learning switches that lead to others; adds those that face each other directly."""
    facing: dict[str, dict[str, str]] = {switch.node: {} for switch in switches}
    unsure: set[frozenset[str]] = set()
    for here, far in joined.items():
        if here.node in facing and far.node in facing:
            facing[here.node][far.node] = here.device
    silent = {switch.node: _silent(switch, sides[switch.node], joined) for switch in switches}
    for one, other in combinations(facing, 2):
        if other in facing[one]:
            continue
        pairs = _opposite(plant, sides[one], sides[other])
        # where everybody is at one switch, its port to the other has heard of nobody
        pairs = pairs or _opposite(plant, sides[one] | silent[one], sides[other] | silent[other])
        if pairs:
            facing[one][other], facing[other][one] = pairs[0]
            if len(pairs) > 1:
                unsure.add(frozenset((one, other)))
    for one, other in combinations(facing, 2):
        if other not in facing[one]:
            continue
        a, b = Port(one, facing[one][other]), Port(other, facing[other][one])
        between = any(
            facing[one].get(third) == a.device and facing[other].get(third) == b.device
            for third in facing
            if third not in (one, other)
        )
        if not between and joined.get(a) != b:
            found.between[a, b] = "are these two wired to each other?" if frozenset((one, other)) in unsure else ""
    return {Port(node, port) for node, ports in facing.items() for port in ports.values()}


def _silent(switch: Switch, sides: Mapping[str, set[str]], joined: Mapping[Port, Port]) -> dict[str, set[str]]:
    """The ports of a switch that lead to nobody, as far as it knows."""
    free = (port for port in switch.ports if port not in sides and Port(switch.node, port) not in joined)
    return {port: set() for port in free}


def _opposite(plant: Plant, ours: Mapping[str, set[str]], theirs: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """The ports of two switches that may face each other, first those that no host's name stands at."""
    everybody = set().union(*ours.values()) & set().union(*theirs.values())
    pairs = [
        (a, b)
        for a, left in ours.items()
        for b, right in theirs.items()
        if everybody and not left & right & everybody and everybody <= left | right
    ]

    def named(pair: tuple[str, str]) -> int:
        hosts = [{plant.owner[mac].node for mac in side} for side in (ours[pair[0]], theirs[pair[1]])]
        return sum(port in names for port, names in zip(pair, hosts, strict=True))

    least = min(map(named, pairs), default=0)
    return [pair for pair in pairs if named(pair) == least]


def _read_fabric(fabric: list[Switch], known: Mapping[str, Port], found: Read) -> None:
    sides = {switch.node: _sides(switch, known) for switch in fabric}
    alone: dict[str, list[Port]] = {}
    for node, ports in sides.items():
        for port, macs in ports.items():
            if len(macs) == 1:
                alone.setdefault(next(iter(macs)), []).append(Port(node, port))
    for mac, places in sorted(alone.items(), key=lambda item: len(item[1])):
        named = [place for place in places if place.device == known[mac].node]
        # who shares a port with it elsewhere is at the same chip
        beside = Counter(
            found.at[known[other]].node
            for ports in sides.values()
            for macs in ports.values()
            if mac in macs
            for other in macs
            if known[other] in found.at
        )
        found.at[known[mac]] = max(named or places, key=lambda place: beside[place.node])
    hosts: dict[str, set[str]] = {}
    for mac, leg in known.items():
        if leg in found.at:
            hosts.setdefault(found.at[leg].node, set()).add(mac)
    taken = set(found.at.values())
    for leaf, macs in sorted(hosts.items()):
        above = [
            Port(node, port)
            for node, ports in sorted(sides.items(), key=lambda item: natural(item[0]))
            for port, reached in ports.items()
            if node != leaf and reached == macs and Port(node, port) not in taken
        ]
        own = [Port(leaf, port) for port in sorted(sides[leaf], key=natural) if Port(leaf, port) not in taken]
        question = "which of these is wired to which? guessed by the order of their names"
        for up, down in zip(own, above, strict=False):
            found.between[up, down] = question if len(above) > 1 else ""
