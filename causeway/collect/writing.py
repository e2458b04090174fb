"""A plant as the data of a site's file."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from causeway.collect.bonds import Bond, natural
from causeway.collect.cables import Cabling, Wire, cabling
from causeway.collect.draft import Draft
from causeway.collect.networks import Net, networks, of_wire, rates_of
from causeway.collect.people import clusters, disagreeing, host_names, legs_in_order, tunables
from causeway.collect.plant import Plant
from causeway.collect.routes import Routes
from causeway.collect.told import device_name
from causeway.model.thing import Port
from causeway.model.topology import LINUX_POLICIES, OVS_POLICIES, SWITCH_POLICIES

_HOST = re.compile(r"[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
#: What a switch's end of Linux's sends by, in the words of a switch that does the like.
_LIKE = {"layer2": "mac both", "layer2+3": "ip both", "layer3+4": "session both"}


def written(plant: Plant, name: str) -> Draft:
    """The whole site."""
    draft = Draft({"lab": name, "domain": "", "networks": {}, "clusters": {}, "nodes": {}, "links": [], "channels": []})
    found = cabling(plant)
    for finding in (*plant.findings, *found.findings):
        draft.tell(finding)
    _domain(plant, draft)
    nets = networks(plant, found, draft)
    of = clusters(plant, nets, draft)
    writer = _Writer(plant, found, nets, of, draft)
    writer.nodes(tunables(plant, of, draft))
    writer.wires()
    _tell_names(plant, draft)
    return draft


def _domain(plant: Plant, draft: Draft) -> None:
    voices = Counter(machine.domain for machine in plant.machines.values() if machine.domain and "." in machine.domain)
    draft.data["domain"] = voices.most_common(1)[0][0] if voices else "unknown.example"
    if not voices:
        draft.ask("what is its domain? no node searches one", "domain")
    elif len(voices) > 1:
        draft.tell(f"the nodes search the domains {', '.join(voices)}; the one of most is taken")


def _tell_names(plant: Plant, draft: Draft) -> None:
    """Where hosts files differ, and who stands in them and was not collected."""
    for address, said in disagreeing(plant.machines.values()).items():
        words = " / ".join(" ".join(names) for names in sorted(said))
        draft.tell(f"{address} has different names in the nodes' hosts files: {words}")
    known = {leg.address.ip for leg in plant.legs.values()}
    for address in sorted({address for machine in plant.machines.values() for address in machine.hosts} - known):
        if any(address in subnet for subnet in plant.subnets):
            names = " ".join(host_names(plant, "", address))
            draft.tell(f"{address} ({names}) stands in hosts files, and nobody who has it was collected")


@dataclass
class _Writer:
    plant: Plant
    cabling: Cabling
    nets: Mapping[IPv4Network, Net]
    of: Mapping[str, str]
    draft: Draft
    named: set[str] = field(default_factory=set)

    def nodes(self, own: Mapping[str, Mapping[str, int | str]]) -> None:
        """All nodes: those collected, the switches told of or guessed, and gateways that nobody has."""
        routes = Routes(self.plant, self.nets, self.draft)
        section = self.draft.data["nodes"]
        for name, machine in self.plant.machines.items():
            data: dict[str, Any] = {"role": "router" if machine.forwards else "host"}
            if name in self.of:
                data["cluster"] = self.of[name]
            data |= self._switch(name)
            if machine.forwards:
                data["forwards"] = True
            if interfaces := self._interfaces(name):
                data["interfaces"] = interfaces
            if its := routes.of(machine):
                data["routes"] = its
            if name in own:
                data["sysctl"] = dict(own[name])
            section[name] = data
        for name in self.plant.told.switches:
            section[name] = {"role": "switch"} | self._switch(name)
        for name, subnet in self.cabling.guessed.items():
            section[name] = {"role": "switch", "switch": self.nets[subnet].name}
            self.draft.ask("what switches this network? nobody collected it", "nodes", name)
        for gateway, subnet in routes.unknown.items():
            self._gateway(gateway, subnet)

    def _switch(self, name: str) -> dict[str, Any]:
        if name not in self.plant.switches:
            return {}
        subnet = self.plant.network_of_switch.get(name)
        if subnet is None:
            self.draft.tell(f"{name}: nobody says which network it switches; it is left without one")
            return {}
        role = {} if any(port.node == name for port in self.plant.legs) else {"role": "switch"}
        tables = {"forwarding": "static"} if self.plant.switches[name].by_table else {}
        return role | {"switch": self.nets[subnet].name} | tables

    def _interfaces(self, name: str) -> dict[str, Any]:
        found = {}
        for port in legs_in_order(self.plant, name):
            leg = self.plant.legs[port]
            net = self.nets[leg.address.network]
            device = f"br-{net.name}" if self.plant.is_bridge(port) else device_name(port.device)
            data: dict[str, Any] = {"network": net.name, "address": str(leg.address.ip)}
            if names := self._names(name, leg.address.ip):
                data["names"] = names
            if leg.device.mtu != net.mtu and not self.plant.is_bridge(port):
                data["mtu"] = leg.device.mtu
            data |= self._lid(port, name, device)
            found[device] = data
        return found

    def _names(self, node: str, address: IPv4Address) -> list[str]:
        found = []
        for name in host_names(self.plant, node, address):
            if not _HOST.fullmatch(name):
                self.draft.tell(f"{name} ({address}) is left out; a name in a site is of letters, digits and -")
            elif name.lower() in self.named:
                self.draft.tell(f"{name} ({address}) is left out; another address has that name, too")
            else:
                self.named.add(name.lower())
                found.append(name)
        return found

    def _lid(self, port: Port, node: str, device: str) -> dict[str, int]:
        """The number of an interface in a fabric with tables."""
        fabric = [s for s in self.plant.switches_of(self.plant.legs[port].address.network) if s.by_table]
        if not fabric:
            return {}
        mac = self.plant.legs[port].device.mac
        numbers = {switch.numbers[mac] for switch in fabric if mac in switch.numbers}
        taken = {number for switch in fabric for number in switch.numbers.values()}
        if len(numbers) == 1:
            return {"lid": numbers.pop()}
        place = ("nodes", node, "interfaces", device)
        self.draft.ask("what is its LID?", *place)
        given = {
            leg["lid"]
            for about in self.draft.data["nodes"].values()
            for leg in about.get("interfaces", {}).values()
            if "lid" in leg
        }
        return {"lid": next(n for n in range(1, 0xC000) if n not in taken | given)}

    def _gateway(self, gateway: IPv4Address, subnet: IPv4Network) -> None:
        """A node that is others' gateway and was not collected."""
        switches = [s.node for s in self.plant.switches_of(subnet)]
        switches += [name for name, its in self.cabling.guessed.items() if its == subnet]
        section = self.draft.data["nodes"]
        if not switches:
            self.draft.tell(f"{gateway} is a gateway that nobody has; routes by it are left out")
            for about in section.values():
                if "routes" in about:
                    about["routes"] = [r for r in about["routes"] if str(gateway) not in r["via"]]
            return
        names = [name for name in host_names(self.plant, "", gateway) if _HOST.fullmatch(name)]
        free = [name for name in names if name not in section and name.lower() not in self.named]
        name = free[0] if free else f"gateway-{str(gateway).replace('.', '-')}"
        self.named.add(name.lower())
        leg = {"network": self.nets[subnet].name, "address": str(gateway), "names": [name]}
        section[name] = {"role": "router", "forwards": True, "interfaces": {"eth0": leg}}
        self.draft.ask("this gateway was not collected; what else is it connected to?", "nodes", name)
        question = "where is this plugged in?"
        self.cabling.join(Port(name, "eth0"), self.cabling.free_port(switches[0], name), question)

    def wires(self) -> None:
        """Links and channels, in the order of their nodes."""
        for wire in sorted(self.cabling.wires, key=lambda wire: natural(str(wire.a))):
            if wire.cables:
                self._channel(wire)
            else:
                self._link(wire)

    def _rate(self, wire: Wire) -> dict[str, Any]:
        subnet, rate = of_wire(self.plant, self.cabling, wire), rates_of(self.plant, wire)
        if rate is None or subnet is None or rate == (self.nets[subnet].rate_mbit,) * 2:
            return {}
        return {"rate_mbit": rate[0] if rate[0] == rate[1] else list(rate)}

    def _link(self, wire: Wire) -> None:
        section = self.draft.data["links"]
        ends = [f"{end.node}:{device_name(end.device)}" for end in wire.ends]
        section.append({"ends": ends} | self._rate(wire))
        questions = [wire.question]
        if rates_of(self.plant, wire) is None:
            questions.append("what is its rate?")
        if any(questions):
            self.draft.ask("; ".join(filter(None, questions)), "links", len(section) - 1)

    def _channel(self, wire: Wire) -> None:
        section = self.draft.data["channels"]
        bonds = [self.plant.bonds.get(end) for end in wire.ends]
        questions = [wire.question]
        ends: list[dict[str, Any]] = []
        for side, port in enumerate(wire.ends):
            members = [device_name(cable[side]) for cable in wire.cables]
            policy, question = self._policy(port, bonds[side])
            questions.append(question)
            ends.append({"node": port.node, "name": device_name(port.device)})
            ends[-1] |= {"members": members, "hash_policy": policy}
        known = [bond for bond in bonds if bond is not None]
        static = all((bond.protocol == "static" and "xor" in bond.mode) or bond.mode == "static" for bond in known)
        if static:
            ends = [end | {"protocol": "static"} for end in ends]
            for end in ends:
                if end["hash_policy"] in OVS_POLICIES:
                    end["hash_policy"] = "mac source"
                    questions.append(f"by what does {end['node']} send?")
        elif any(bond.protocol == "static" for bond in known):
            modes = ", ".join(bond.mode for bond in known)
            questions.append(f"its ends are of modes {modes}, which a lab has not together; LACP is taken")
        data: dict[str, Any] = {"ends": ends}
        if known and all(bond.lacp_rate == "slow" for bond in known if bond.protocol == "lacp") and not static:
            data["lacp_rate"] = "slow"
        section.append(data | self._rate(wire))
        if any(questions):
            self.draft.ask("; ".join(filter(None, questions)), "channels", len(section) - 1)

    def _policy(self, end: Port, bond: Bond | None) -> tuple[str, str]:
        """What an end sends by, and what to ask."""
        switch = end.node in self.plant.switches or end.node in self.cabling.guessed
        policy = bond.hash_policy if bond else ""
        if policy in (SWITCH_POLICIES if switch else LINUX_POLICIES):
            return policy, ""
        question = f"by what does {end.node} send?" + (f" it says {policy}" if policy else "")
        if not switch:
            return "layer3+4" if policy else "layer2", question
        return _LIKE.get(policy, "mac source" if policy else "balance-slb"), question
