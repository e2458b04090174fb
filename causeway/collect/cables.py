"""Every cable of a site: those that somebody tells of, and for what is left the best guess."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from itertools import pairwise

from causeway.collect.bonds import natural
from causeway.collect.channels import couples
from causeway.collect.plant import Leg, Plant
from causeway.collect.tables import read_tables
from causeway.model.thing import DEVICE_LENGTH, Port


@dataclass(frozen=True)
class Wire:
    """A cable, or with `cables` a channel between two bonds; `question` is what nobody said of it."""

    a: Port
    b: Port
    question: str = ""
    cables: tuple[tuple[str, str], ...] = ()

    @property
    def ends(self) -> tuple[Port, Port]:
        return self.a, self.b

    @property
    def first(self) -> tuple[Port, Port]:
        """The ends of its cable, or of its first one."""
        if not self.cables:
            return self.a, self.b
        return Port(self.a.node, self.cables[0][0]), Port(self.b.node, self.cables[0][1])


@dataclass
class Cabling:
    """All wires, and the switches that must be there and were not collected, with their networks."""

    plant: Plant
    findings: list[str] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    guessed: dict[str, IPv4Network] = field(default_factory=dict)
    #: Port or bond -> what is at its other end.
    joined: dict[Port, Port] = field(default_factory=dict)

    def join(self, a: Port, b: Port, question: str = "", cables: tuple[tuple[str, str], ...] = ()) -> None:
        if a not in self.joined and b not in self.joined:
            self.wires.append(Wire(a, b, question, cables))
            self.joined |= {a: b, b: a}

    def free_port(self, switch: str, name: str) -> Port:
        """A port of a switch that nobody is plugged into, named like who is going to be."""
        number, port = 1, Port(switch, name[:DEVICE_LENGTH])
        while port in self.joined or any(port == Port(w.b.node, there) for w in self.wires for _, there in w.cables):
            number += 1
            port = Port(switch, f"{name[: DEVICE_LENGTH - 1 - len(str(number))]}-{number}")
        return port


def cabling(plant: Plant) -> Cabling:
    """The cables of all legs and between all switches."""
    found = Cabling(plant)
    for couple in couples(plant, found.findings):
        if len(couple.cables) > 1:
            found.join(couple.a, couple.b, couple.question, couple.cables)
        else:
            found.findings.append(f"{couple.a} and {couple.b}: a channel of one member is made a link")
            found.join(couple.a, couple.b, couple.question)
    for a, b in _told(plant):
        found.join(a, b)
    for subnet in plant.subnets:
        _by_tables(found, subnet)
        _at_each_other(found, subnet)
        _guess(found, subnet)
    _say_left_over(found)
    return found


def _told(plant: Plant) -> list[tuple[Port, Port]]:
    """What people and LLDP say of cables that are no channel's."""
    said = [(Port(name, port), far) for name, s in plant.switches.items() for port, far in s.plugged.items()]
    said += [
        (Port(name, device), Port(other, port))
        for name, machine in plant.machines.items()
        for device, (other, port) in machine.neighbours.items()
    ]

    def is_end(port: Port) -> bool:
        single = port not in plant.bond_of and port not in plant.bonds
        of_switch = port.node in plant.switches and port.device in plant.switches[port.node].ports
        return single and not plant.is_bridge(port) and (port in plant.legs or of_switch)

    return [(far, here) if far in plant.legs else (here, far) for here, far in said if is_end(here) and is_end(far)]


def _by_tables(found: Cabling, subnet: IPv4Network) -> None:
    read = read_tables(found.plant, subnet, found.joined)
    at_port: dict[Port, list[Port]] = {}
    for leg, port in sorted(read.at.items(), key=lambda item: natural(str(item[0]))):
        at_port.setdefault(port, []).append(leg)
    for port, legs in at_port.items():
        if len(legs) > 1:
            names = ", ".join(map(str, legs))
            found.findings.append(f"{port} leads to {names}: something is between that was not collected")
        if legs[0] not in found.plant.bonds and port not in found.plant.bonds and not found.plant.is_bridge(legs[0]):
            found.join(legs[0], port, "is only this one plugged in here?" if len(legs) > 1 else "")
    for (a, b), question in read.between.items():
        found.join(a, b, question)


def _at_each_other(found: Cabling, subnet: IPv4Network) -> None:
    """Two legs alone in a network without a switch are wired to each other."""
    legs = list(_waiting(found, subnet))
    alone = len(found.plant.legs_in(subnet)) == 2 and not found.plant.switches_of(subnet)
    if alone and len(legs) == 2 and not any(leg in found.plant.bonds for leg in legs):
        found.join(legs[0], legs[1])


def _waiting(found: Cabling, subnet: IPv4Network) -> Mapping[Port, Leg]:
    """The legs of a network of which nobody says what they are plugged into."""
    return {
        port: leg
        for port, leg in found.plant.legs_in(subnet).items()
        if port not in found.joined and not found.plant.is_bridge(port)
    }


def _guess(found: Cabling, subnet: IPv4Network) -> None:
    """What is left is plugged into the network's switch, or one that nobody collected."""
    switches = [switch.node for switch in found.plant.switches_of(subnet)]
    for leg in _waiting(found, subnet):
        if not switches:
            switches = [f"switch-{str(subnet.network_address).replace('.', '-')}"]
            found.guessed[switches[0]] = subnet
        named = [
            Port(name, port)
            for name in switches
            if name in found.plant.switches
            for port in found.plant.switches[name].ports
            if port == leg.node and Port(name, port) not in {*found.joined, *found.plant.bonds}
        ]
        bond = found.plant.bonds.get(leg)
        question = "where is this plugged in?"
        if bond is not None and len(bond.members) > 1:
            far = found.free_port(switches[0], leg.node)
            ports = [found.free_port(switches[0], f"{leg.node}-{i + 1}") for i in range(len(bond.members))]
            cables = tuple((m.device, port.device) for m, port in zip(bond.members, ports, strict=True))
            found.join(leg, far, question, cables)
        else:
            found.join(leg, named[0] if named else found.free_port(switches[0], leg.node), question)
    for one, other in pairwise(switches):
        if not _connected(found, one, other, switches):
            question = "how are these two switches wired?"
            found.join(found.free_port(one, other), found.free_port(other, one), question)


def _connected(found: Cabling, one: str, other: str, switches: list[str]) -> bool:
    """Whether wires lead from one switch to another, by these switches alone."""
    reached, waiting = {one}, [one]
    while waiting:
        here = waiting.pop()
        for near, far in found.joined.items():
            if near.node == here and far.node in switches and far.node not in reached:
                reached.add(far.node)
                waiting.append(far.node)
    return other in reached


def _say_left_over(found: Cabling) -> None:
    for name, switch in found.plant.switches.items():
        left = [port for port in switch.ports if Port(name, port) not in found.joined]
        left = [port for port in left if Port(name, port) not in found.plant.legs]
        if left:
            found.findings.append(f"{name}: nobody says what is plugged into {', '.join(left)}; they are left out")
