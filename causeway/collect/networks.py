"""Networks by their subnets: what they are called, their packets' size, and the rate that most of their wires have."""

import re
from collections import Counter
from dataclasses import dataclass
from ipaddress import IPv4Network

from causeway.collect.cables import Cabling, Wire
from causeway.collect.draft import Draft
from causeway.collect.plant import Plant
from causeway.model.thing import Port

_NAME = re.compile(r"br-([A-Za-z][A-Za-z0-9_-]{0,11})")
#: What a wire is taken for of which nobody says its rate.
_USUAL_MBIT = 1000


@dataclass(frozen=True)
class Net:
    """A network of the site."""

    name: str
    subnet: IPv4Network
    mtu: int
    rate_mbit: int


def networks(plant: Plant, cabling: Cabling, draft: Draft) -> dict[IPv4Network, Net]:
    """All of them, and their section in the draft."""
    found: dict[IPv4Network, Net] = {}
    taken: set[str] = set()
    for subnet in plant.subnets:
        name, question = _name(plant, subnet, taken)
        taken.add(name)
        mtu = _mtu(plant, subnet, draft)
        rates = [rates_of(plant, wire) for wire in cabling.wires if of_wire(plant, cabling, wire) == subnet]
        if None in rates:
            question = "; ".join(filter(None, [question, "what is the rate of links without one?"]))
        same = Counter(rate[0] for rate in rates if rate and rate[0] == rate[1])
        rate = same.most_common(1)[0][0] if same else _USUAL_MBIT
        found[subnet] = Net(name, subnet, mtu, rate)
        draft.data["networks"][name] = {"subnet": str(subnet), "rate_mbit": rate, "mtu": mtu}
        if question:
            draft.ask(question, "networks", name)
    return found


def _name(plant: Plant, subnet: IPv4Network, taken: set[str]) -> tuple[str, str]:
    """What the bridge that switches it is called, br-NAME; and what to ask."""
    bridges = [switch.bridge for switch in plant.switches_of(subnet)]
    for bridge, _ in Counter(bridges).most_common():
        said = _NAME.fullmatch(bridge)
        if said and said[1] not in taken:
            return said[1], ""
    number = next(n for n in range(1, len(taken) + 2) if f"net{n}" not in taken)
    return f"net{number}", "what is it called?"


def _mtu(plant: Plant, subnet: IPv4Network, draft: Draft) -> int:
    """The largest that a port takes: who takes less says so at its interface."""
    legs = {port: leg.device.mtu for port, leg in plant.legs_in(subnet).items()}
    ports = {}
    for switch in plant.switches_of(subnet):
        members = {member.device for bond in switch.bonds.values() for member in bond.members}
        for name in [*(port for port in switch.ports if port not in switch.bonds), *members]:
            port = Port(switch.node, name)
            device = plant.device(port)
            if port not in plant.legs and (mtu := device.mtu if device else switch.mtu):
                ports[port] = mtu
    if ports and (larger := [port for port, mtu in legs.items() if mtu > max(ports.values())]):
        draft.tell(f"{subnet}: {', '.join(map(str, larger))} send larger packets than the switch takes")
    if len(set(ports.values())) > 1:
        draft.tell(f"{subnet}: the switches' ports differ in MTU, from {min(ports.values())} to {max(ports.values())}")
    return max([*legs.values(), *ports.values()])


def of_wire(plant: Plant, cabling: Cabling, wire: Wire) -> IPv4Network | None:
    """The network of a wire: that of a leg at its end, else its switch's."""
    for end in wire.ends:
        if end in plant.legs:
            return plant.legs[end].address.network
    for end in wire.ends:
        known = plant.network_of_switch.get(end.node) or cabling.guessed.get(end.node)
        if known:
            return known
    return None


def rates_of(plant: Plant, wire: Wire) -> tuple[int, int] | None:
    """What its (first) cable carries there and back; who does not know is taken to send like the other end."""
    sends = [device.sends_mbit if device else None for device in map(plant.device, wire.first)]
    there, back = sends[0] or sends[1], sends[1] or sends[0]
    return (there, back) if there and back else None
