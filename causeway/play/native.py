"""What nodes' own commands say of how they are set, and the commands that set them so again."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from causeway.lab.lab import Lab
from causeway.lab.probes.channels import read_channel
from causeway.model.site import Site
from causeway.model.topology import LINUX_POLICIES
from causeway.process import run_all

_ASKED = "ip -j link && echo && ip -j -4 addr && echo && ip -4 route"
_SYSCTL = ["sysctl", "-a", "-r", r"^net\.ipv4\."]
_OVS = ["ovs-vsctl", "-f", "csv", "--no-headings", "--columns=name,mtu_request", "list", "interface"]
#: Said of a route at the moment, and no part of it.
_OF_THE_MOMENT = {"linkdown", "dead", "offload", "onlink"}


@dataclass(frozen=True)
class Native:
    """How a node is set. `policies` and `members` are of its channels, `requested` the MTUs that its switch is told."""

    mtus: Mapping[str, int] = field(default_factory=dict)
    up: frozenset[str] = frozenset()
    addresses: Mapping[str, list[str]] = field(default_factory=dict)
    routes: tuple[str, ...] = ()
    policies: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, list[str]] = field(default_factory=dict)
    requested: Mapping[str, str] = field(default_factory=dict)
    tunables: Mapping[str, str] = field(default_factory=dict)

    def said(self) -> dict[str, str]:
        """What -> how, each as a word."""
        found = {f"{device}: MTU": str(mtu) for device, mtu in self.mtus.items()}
        found |= {f"{device}: is up": "yes" for device in self.up}
        found |= {f"{device}: addresses": ", ".join(own) for device, own in self.addresses.items() if own}
        found |= {f"route {route}": "yes" for route in self.routes}
        found |= {f"{bond}: sends by": policy for bond, policy in self.policies.items()}
        found |= {f"{bond}: members in order": ", ".join(own) for bond, own in self.members.items()}
        return found | {f"{port}: mtu_request": mtu for port, mtu in self.requested.items()} | dict(self.tunables)


def read(lab: Lab, nodes: Iterable[str]) -> dict[str, Native]:
    """How nodes are set now."""
    names = list(nodes)
    disked = [name for name in names if name not in lab.site.diskless()]
    switches = [name for name in names if lab.site.nodes[name].switch is not None]
    asked = [lab.plug(name, ["sh", "-c", _ASKED]) for name in names]
    asked += [lab.enter(name, _SYSCTL) for name in disked] + [lab.enter(name, _OVS) for name in switches]
    said = [result.stdout for result in run_all(asked, timeout_s=60)]
    network = dict(zip(names, said, strict=False))
    tunables = dict(zip(disked, said[len(names) :], strict=False))
    requested = dict(zip(switches, said[len(names) + len(disked) :], strict=False))
    found = {}
    for name in names:
        ends = [end for _, end, _ in lab.site.channel_ends() if end.node == name]
        states = {end.name: read_channel(lab, end) for end in ends}
        found[name] = parse(
            network[name],
            tunables.get(name, ""),
            requested.get(name, ""),
            {bond: state.hash_policy for bond, state in states.items()},
            {end.name: list(states[end.name].members) for end in ends if lab.site.is_linux_bond(end)},
        )
    return found


def parse(
    network: str, tunables: str, requested: str, policies: Mapping[str, str], members: Mapping[str, list[str]]
) -> Native:
    """Read what a node said: `ip -j link`, `ip -j -4 addr` and `ip -4 route`, `sysctl -a`, and Open vSwitch's CSV."""
    links, addresses, routes = [*network.split("\n\n"), "", ""][:3]
    rows = json.loads(links or "[]")
    return Native(
        {row["ifname"]: row["mtu"] for row in rows},
        frozenset(row["ifname"] for row in rows if "UP" in row["flags"]),
        {
            row["ifname"]: [f"{own['local']}/{own['prefixlen']}" for own in row["addr_info"]]
            for row in json.loads(addresses or "[]")
            if row.get("ifname")
        },
        tuple(
            " ".join(word for word in line.split() if word not in _OF_THE_MOMENT)
            for line in routes.splitlines()
            if line.strip() and " proto kernel " not in line
        ),
        dict(policies),
        dict(members),
        {row[0]: row[1] for row in csv.reader(requested.splitlines())},
        dict(line.split(" = ", 1) for line in tunables.splitlines() if " = " in line),
    )


def differences(before: Mapping[str, Native], now: Mapping[str, Native]) -> Iterator[tuple[str, str, str, str]]:
    """(node, what, how it was, how it is) of all that is set otherwise."""
    for node, native in before.items():
        was, is_ = native.said(), now[node].said()
        for what in sorted(was.keys() | is_.keys()):
            if was.get(what) != is_.get(what):
                yield node, what, was.get(what, "-"), is_.get(what, "-")


def commands_back(site: Site, node: str, before: Native, now: Native) -> list[str]:
    """What root types to have a node be set as before: members, links, addresses, policies, routes, tunables."""
    lines = list(_members(before, now))
    for device, mtu in before.mtus.items():
        if before.requested.get(device) != now.requested.get(device):
            asked = before.requested.get(device, "[]")
            how = f"clear interface {device} mtu_request" if asked == "[]" else None
            lines.append(f"ovs-vsctl {how or f'set interface {device} mtu_request={asked}'}")
        if now.mtus.get(device) != mtu:
            lines.append(f"ip link set {device} mtu {mtu}")
    lines += [f"ip link set {device} up" for device in sorted(before.up - now.up)]
    lines += [f"ip link set {device} down" for device in sorted(now.up - before.up)]
    for device in before.addresses.keys() | now.addresses.keys():
        was, has = before.addresses.get(device, []), now.addresses.get(device, [])
        lines += [f"ip address add {address} dev {device}" for address in was if address not in has]
        lines += [f"ip address del {address} dev {device}" for address in has if address not in was]
    switch = site.nodes[node].switch is not None
    for bond, policy in before.policies.items():
        if now.policies.get(bond) != policy:
            if bond not in before.members:
                lines.append(f"ovs-vsctl set port {bond} bond_mode={policy}")
            elif policy in LINUX_POLICIES and not switch:
                lines.append(f"echo {policy} > /sys/class/net/{bond}/bonding/xmit_hash_policy")
            else:
                lines.append(f'bond-policy {bond} "{policy}"')
    lines += [f"ip route del {route}" for route in now.routes if route not in before.routes]
    # of routes that went with a link or an address, those too that the kernel still shows now
    gone = bool(before.up - now.up) or before.addresses != now.addresses or list(_members(before, now))
    back = before.routes if gone else [route for route in before.routes if route not in now.routes]
    lines += [f"ip route {'replace' if gone else 'add'} {route}" for route in back]
    changed = {key: value for key, value in before.tunables.items() if now.tunables.get(key, value) != value}
    return [*lines, *(f'sysctl -q -w "{key}={value}"' for key, value in changed.items())]


def _members(before: Native, now: Native) -> Iterator[str]:
    """A bond counts its members in the order in which they came: from the first that is wrong on, all come anew."""
    for bond, members in before.members.items():
        has = now.members.get(bond, [])
        if has == members:
            continue
        same = next(
            (i for i, (a, b) in enumerate(zip(members, has, strict=False)) if a != b), min(len(members), len(has))
        )
        yield from (f"ip link set {member} nomaster" for member in has[same:])
        for member in members[same:]:
            yield f"ip link set {member} down"
            yield f"ip link set {member} master {bond}"
        yield from (f"ip link set {member} up" for member in members[same:])
