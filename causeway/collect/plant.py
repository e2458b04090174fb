"""What there is in a production network, before it is a site: legs, bonds and switches of all nodes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface, IPv4Network

from causeway.collect.bonds import Bond, Member, natural
from causeway.collect.machine import Device, Machine
from causeway.collect.told import Told, device_name
from causeway.model.thing import Port


@dataclass(frozen=True)
class Leg:
    """An address of a node's at a port (an adapter, a bond, or a switch's own bridge)."""

    port: Port
    device: Device
    address: IPv4Interface


@dataclass(frozen=True)
class Switch:
    """What switches a network: a bridge of Open vSwitch's, or a switch that people tell of.

    `ports` are adapters and bonds; `reached` and `numbers` as in openvswitch.Bridge. `plugged` is who people say is at
    a port.
    """

    node: str
    bridge: str
    ports: tuple[str, ...]
    bonds: Mapping[str, Bond]
    by_table: bool
    reached: Mapping[str, str]
    numbers: Mapping[str, int]
    plugged: Mapping[str, Port]
    network: IPv4Network | None = None
    mtu: int | None = None


@dataclass(frozen=True)
class Plant:
    """All of it. `findings` are sentences on what the form of a site's file has no place for."""

    machines: Mapping[str, Machine]
    told: Told
    legs: Mapping[Port, Leg]
    switches: Mapping[str, Switch]
    findings: Sequence[str]

    @cached_property
    def bonds(self) -> dict[Port, Bond]:
        """Every end of a channel: those with a leg, and those of switches."""
        found = {Port(name, own.name): own for name, m in self.machines.items() for own in m.bonds.values()}
        known = {port: own for port, own in found.items() if port in self.legs or self._is_port(port)}
        return known | {Port(name, own.name): own for name, s in self.switches.items() for own in s.bonds.values()}

    def _is_port(self, port: Port) -> bool:
        return port.node in self.switches and port.device in self.switches[port.node].ports

    @cached_property
    def bond_of(self) -> dict[Port, Port]:
        """Member -> its bond."""
        return {Port(p.node, m.device): p for p, bond in self.bonds.items() for m in bond.members}

    @cached_property
    def owner(self) -> dict[str, Port]:
        """Hardware address -> the leg that sends from it."""
        return {leg.device.mac: port for port, leg in self.legs.items()}

    @cached_property
    def holder(self) -> dict[str, Port]:
        """Address -> the leg that has it."""
        return {str(leg.address.ip): port for port, leg in self.legs.items()}

    @cached_property
    def subnets(self) -> list[IPv4Network]:
        """The networks, by their addresses."""
        found = {leg.address.network for leg in self.legs.values()}
        return sorted(found | {switch.network for switch in self.told.switches.values()})

    @cached_property
    def network_of_switch(self) -> dict[str, IPv4Network]:
        """What each switch switches: as told, by its own leg there, else by whom it knows, else that of a switch next
        to it; some may be unknown."""
        found: dict[str, IPv4Network] = {}
        beside: dict[str, set[str]] = {name: set() for name in self.switches}
        for name, switch in self.switches.items():
            own = self.legs.get(Port(name, switch.bridge))
            near = [self.owner[mac] for mac in switch.reached if mac in self.owner]
            near += [*self._partners(switch), *(port for port in self.legs if self._neighbour(port) == name)]
            voices = Counter(self.legs[port].address.network for port in near if port in self.legs)
            if switch.network or own:
                found[name] = switch.network or self.legs[Port(name, switch.bridge)].address.network
            elif voices:
                found[name] = voices.most_common(1)[0][0]
            others = {port.node for port in self._partners(switch)}
            others |= {self._neighbour(Port(name, port)) for port in switch.ports}
            for other in others & beside.keys():
                beside[name].add(other)
                beside[other].add(name)
        waiting = list(found)
        while waiting:
            here = waiting.pop()
            new = [name for name in beside[here] if name not in found]
            found |= dict.fromkeys(new, found[here])
            waiting += new
        return found

    def _neighbour(self, port: Port) -> str:
        """The node that LLDP says is at a port, "" where it says nothing."""
        machine = self.machines.get(port.node)
        return machine.neighbours[port.device][0] if machine and port.device in machine.neighbours else ""

    def _partners(self, switch: Switch) -> Iterator[Port]:
        """The bonds that a switch's own bonds have as their partners."""
        by_actor = {m.actor: port for port, bond in self.bonds.items() for m in bond.members if m.actor}
        for port, bond in self.bonds.items():
            if port.node == switch.node:
                yield from (by_actor[m.partner] for m in bond.members if m.partner in by_actor and m.partner)

    def switches_of(self, subnet: IPv4Network) -> list[Switch]:
        return [switch for name, switch in self.switches.items() if self.network_of_switch.get(name) == subnet]

    def legs_in(self, subnet: IPv4Network) -> dict[Port, Leg]:
        return {port: leg for port, leg in self.legs.items() if leg.address.network == subnet}

    def device(self, port: Port) -> Device | None:
        """A node's device, None where nobody collected it."""
        machine = self.machines.get(port.node)
        return machine.devices.get(port.device) if machine else None

    def is_bridge(self, port: Port) -> bool:
        """Whether a leg is a switch's own."""
        return port.node in self.switches and self.switches[port.node].bridge == port.device


def build_plant(machines: Mapping[str, Machine], told: Told) -> Plant:
    """Put together what every node says of itself."""
    ordered = {name: machines[name] for name in sorted(machines, key=natural)}
    findings: list[str] = []
    legs: dict[Port, Leg] = {}
    switches: dict[str, Switch] = {}
    for name, machine in ordered.items():
        legs |= {leg.port: leg for leg in _legs(machine, findings)}
        if machine.bridges:
            switches[name] = _switch(machine, findings)
        if machine.rules:
            findings.append(f"{name}: {machine.rules} rules choose among tables of routes; a site has one table")
    for name, about in told.switches.items():
        bonds = {
            device_name(bond): Bond(
                device_name(bond),
                tuple(Member(device_name(member)) for member in channel.members),
                channel.protocol,
                channel.hash_policy,
                channel.protocol,
                "slow",
            )
            for bond, channel in about.channels.items()
        }
        members = {member for channel in about.channels.values() for member in channel.members}
        ports = (*bonds, *(device_name(port) for port in about.ports if port not in members))
        plugged = {
            device_name(port): Port(far.node, device_name(far.device) if far.node in told.switches else far.device)
            for port, far in about.ports.items()
        }
        switches[name] = Switch(name, "", ports, bonds, False, {}, {}, plugged, about.network, about.mtu)
    return Plant(ordered, told, legs, switches, findings)


def _legs(machine: Machine, findings: list[str]) -> Iterator[Leg]:
    """A node's legs: one address a device, and one VLAN an adapter."""
    seen: dict[str, str] = {}
    for name, device in machine.devices.items():
        if device.addresses and name not in machine.legs:
            findings.append(f"{machine.name}:{name} is left out; it is of kind {device.kind}, and no cable's end")
    for name, device in machine.legs.items():
        usable = [address for address in device.addresses if address.network.prefixlen < 31]
        for address in device.addresses:
            if address not in usable[:1]:
                findings.append(f"{machine.name}:{name}: {address} is left out; a site has one address an interface")
        carrier = device.under or name
        if not usable:
            continue
        if carrier in seen:
            findings.append(
                f"{machine.name}:{name}: {usable[0]} is left out; {carrier} has an address by {seen[carrier]}"
            )
            continue
        if device.under:
            findings.append(f"{machine.name}:{name}: a {device.kind}; its address is given to {carrier} itself")
        seen[carrier] = name
        yield Leg(Port(machine.name, carrier), device, usable[0])


def _switch(machine: Machine, findings: list[str]) -> Switch:
    """A node's bridge; of several that with the most ports."""
    bridge, *others = sorted(machine.bridges, key=lambda bridge: -len(bridge.ports) - len(bridge.bonds))
    if others:
        names = ", ".join(other.name for other in others)
        findings.append(f"{machine.name}: {names} is left out; a node switches one network in a site, by {bridge.name}")
    ports = tuple(sorted({*bridge.ports, *bridge.bonds}, key=natural))
    return Switch(machine.name, bridge.name, ports, bridge.bonds, bridge.by_table, bridge.reached, bridge.numbers, {})
