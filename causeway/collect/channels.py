"""Which bonds are the ends of one channel, and which member is wired to which: told, by LLDP, by LACP, or guessed."""

from collections.abc import Iterator
from dataclasses import dataclass

from causeway.collect.bonds import natural
from causeway.collect.plant import Plant
from causeway.model.thing import Port


@dataclass(frozen=True)
class Couple:
    """A channel: its two bonds, and its cables, each from a member of the first to one of the second.

    `question` is what nobody said of it.
    """

    a: Port
    b: Port
    cables: tuple[tuple[str, str], ...]
    question: str = ""

    @property
    def bonds(self) -> tuple[Port, Port]:
        return self.a, self.b


def couples(plant: Plant, findings: list[str]) -> list[Couple]:
    """The channels whose two ends are known."""
    seen: dict[frozenset[Port], set[tuple[Port, Port]]] = {}
    for here, far in [*_told(plant), *_by_lldp(plant), *_by_lacp(plant, findings)]:
        bonds = [plant.bond_of[here], plant.bond_of[far]]
        cable = sorted((here, far), key=lambda port: bonds.index(plant.bond_of[port]))
        ends = frozenset(bonds)
        first = min(ends, key=lambda port: _place(plant, port))
        seen.setdefault(ends, set()).add((cable[0], cable[1]) if bonds[0] == first else (cable[1], cable[0]))
    found: list[Couple] = []
    taken: dict[Port, Port] = {}
    for ends, cables in sorted(seen.items(), key=lambda item: -len(item[1])):
        a, b = sorted(ends, key=lambda port: _place(plant, port))
        clash = next((port for port in (a, b) if port in taken), None)
        if clash is not None:
            findings.append(f"{clash} has members at {taken[clash]} and at {b if clash == a else a}; the first counts")
            continue
        taken |= {a: b, b: a}
        found.append(_whole(plant, a, b, {here.device: far.device for here, far in cables}))
    found += [_whole(plant, a, b, {}) for a, b in _by_address(plant, taken)]
    return sorted(found, key=lambda couple: _place(plant, couple.a))


def _place(plant: Plant, bond: Port) -> tuple[bool, list[tuple[int, str]]]:
    """Hosts come before switches, and each by its name."""
    return bond not in plant.legs, natural(str(bond))


def _whole(plant: Plant, a: Port, b: Port, known: dict[str, str]) -> Couple:
    """A couple with those members wired, too, of which nobody says so: in the order of their names."""
    near = [m.device for m in plant.bonds[a].members if m.device not in known]
    far = [m.device for m in plant.bonds[b].members if m.device not in known.values()]
    guessed = dict(zip(near, far, strict=False))
    question = f"which of its members are wired to which? guessed: {', '.join(guessed)}" if guessed else ""
    if len(near) != len(far):
        left = ", ".join([f"{a.node}:{d}" for d in near[len(far) :]] + [f"{b.node}:{d}" for d in far[len(near) :]])
        question = "; ".join(filter(None, [question, f"left out, as their other ends are not known: {left}"]))
    return Couple(a, b, tuple(sorted((known | guessed).items(), key=lambda pair: natural(pair[0]))), question)


def _told(plant: Plant) -> Iterator[tuple[Port, Port]]:
    for name, switch in plant.switches.items():
        for device, far in switch.plugged.items():
            here = Port(name, device)
            if here in plant.bond_of and far in plant.bond_of:
                yield here, far


def _by_lldp(plant: Plant) -> Iterator[tuple[Port, Port]]:
    for name, machine in plant.machines.items():
        for device, (other, port) in machine.neighbours.items():
            here, far = Port(name, device), Port(other, port)
            if here in plant.bond_of and far in plant.bond_of:
                yield here, far


def _by_lacp(plant: Plant, findings: list[str]) -> Iterator[tuple[Port, Port]]:
    """Ports that name each other; who is named by one of whom it says something else is told."""
    members = {Port(p.node, m.device): m for p, bond in plant.bonds.items() for m in bond.members}
    by_actor = {member.actor: port for port, member in members.items() if member.actor}
    for here, member in members.items():
        far = by_actor.get(member.partner) if member.partner else None
        if far is None:
            continue
        if by_actor.get(members[far].partner) == here:  # type: ignore[arg-type]
            yield here, far
        else:
            findings.append(f"LACP: {here} says that it is wired to {far}, and {far} says something else")


def _by_address(plant: Plant, taken: dict[Port, Port]) -> Iterator[tuple[Port, Port]]:
    """Without LACP: a switch's bond by which a host's bond is reached."""
    for switch in plant.switches.values():
        for mac, port in switch.reached.items():
            here, far = plant.owner.get(mac), Port(switch.node, port)
            if here in plant.bonds and far in plant.bonds and here and here not in taken and far not in taken:
                taken |= {here: far, far: here}
                yield here, far
