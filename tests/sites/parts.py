"""The parts that a drawn site is made of, and how each is written into the data of a site's file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import Any

#: What may stand in a link or channel that has a rate of its own: {"rate_mbit": ...} or nothing.
OwnRate = Callable[[], dict[str, Any]]


@dataclass(eq=False)
class Net:
    """A network and its switches; those that are no routers are plain."""

    name: str
    subnet: IPv4Network
    rate_mbit: int
    mtu: int
    switches: list[str] = field(default_factory=list)
    plain_switches: list[str] = field(default_factory=list)

    def address(self, number: int) -> IPv4Address:
        return self.subnet[number]

    def data(self) -> dict[str, Any]:
        return {"subnet": str(self.subnet), "rate_mbit": self.rate_mbit, "mtu": self.mtu}


@dataclass(eq=False)
class Leg:
    """A node's interface in a network: a link to a switch's port, or with members a channel; none of a switch's own.

    `names` are patterns of its host names, {} is the node's name.
    """

    net: Net
    device: str
    switch: str
    names: list[str] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    hash_policy: str = ""
    switch_policy: str = ""
    lacp_rate: str = "fast"


@dataclass(eq=False)
class Group:
    """Nodes that are alike, of one cluster; with a `pool`, they are written as one, by names or by a pattern.

    `bounds` are what each of them receives and sends at most.
    """

    cluster: str | None
    role: str
    names: list[str]
    numbers: list[int]
    legs: list[Leg]
    pool: str = ""
    stem: str = ""
    routes: list[dict[str, Any]] = field(default_factory=list)
    bounds: dict[str, int] = field(default_factory=dict)

    @property
    def in_a_row(self) -> bool:
        """Whether the nodes' host numbers follow each other, so that the first one says them all."""
        return self.numbers == list(range(self.numbers[0], self.numbers[0] + len(self.numbers)))


@dataclass(eq=False)
class Router:
    """A node of no cluster that forwards; it may switch the network of its first leg."""

    name: str
    number: int
    legs: list[Leg]
    switch: str | None = None

    @property
    def nets(self) -> list[Net]:
        return [leg.net for leg in self.legs]


def gateways(
    legs: Sequence[Leg], nets: Sequence[Net], routers: Sequence[Router], but: Router | None = None
) -> list[tuple[Net, IPv4Address]]:
    """For each network that these legs are not in, whom to ask there: the router with the fewest others behind it."""
    own = [leg.net for leg in legs]
    others = [router for router in routers if router is not but]
    found = []
    for net in nets:
        if net not in own:
            far = _far(net, others)
            near = [(min(far.get(n, len(nets)) for n in r.nets), i, r) for r in others for i in _common(own, r.nets)]
            _, here, router = min(near, key=lambda choice: choice[:2])
            found.append((net, own[here].address(router.number)))
    return found


def _common(own: Sequence[Net], others: Sequence[Net]) -> list[int]:
    return [i for i, net in enumerate(own) if net in others]


def _far(net: Net, routers: Sequence[Router]) -> dict[Net, int]:
    """How many routers lie between a network and each other that is reached."""
    far = {net: 0}
    for steps in range(1, len(routers) + 1):
        edge = [r for r in routers if any(n in far for n in r.nets)]
        far = {n: steps for r in edge for n in r.nets} | far
    return far


def written(group: Group, data: dict[str, Any], own_rate: OwnRate) -> None:
    """Write a group into a site's data: as a pool, or each node with its links and channels."""
    if group.pool:
        data["pools"][group.pool] = _pool(group, own_rate)
        return
    for name, number in zip(group.names, group.numbers, strict=True):
        data["nodes"][name] = {
            "cluster": group.cluster,
            "role": group.role,
            "interfaces": _interfaces(name, number, group.legs),
            **group.bounds,
            **({"routes": group.routes} if group.routes else {}),
        }
        _cables(name, group.legs, data, own_rate)


def written_router(router: Router, data: dict[str, Any], routes: list[tuple[Net, IPv4Address]], rate: OwnRate) -> None:
    data["nodes"][router.name] = {
        "role": "router",
        "forwards": True,
        **({"switch": router.switch} if router.switch else {}),
        "interfaces": _interfaces(router.name, router.number, router.legs),
        **({"routes": [{"to": net.name, "via": str(via)} for net, via in routes]} if routes else {}),
    }
    _cables(router.name, router.legs, data, rate)


def _interfaces(name: str, number: int, legs: Sequence[Leg]) -> dict[str, Any]:
    return {
        leg.device: {
            "network": leg.net.name,
            "address": str(leg.net.address(number)),
            "names": [pattern.format(name) for pattern in leg.names],
        }
        for leg in legs
    }


def _cables(name: str, legs: Sequence[Leg], data: dict[str, Any], own_rate: OwnRate) -> None:
    for leg in legs:
        if leg.members:
            ports = [f"{name}-{i}" for i in range(1, len(leg.members) + 1)]
            near = {"node": name, "name": leg.device, "members": leg.members, "hash_policy": leg.hash_policy}
            far = {"node": leg.switch, "name": name, "members": ports, "hash_policy": leg.switch_policy}
            slow = {"lacp_rate": leg.lacp_rate} if leg.lacp_rate != "fast" else {}
            data["channels"].append({"ends": [near, far], **slow, **own_rate()})
        elif leg.switch:
            data["links"].append({"ends": [f"{name}:{leg.device}", f"{leg.switch}:{name}"], **own_rate()})


def _pool(group: Group, own_rate: OwnRate) -> dict[str, Any]:
    interfaces: dict[str, Any] = {}
    channels: dict[str, Any] = {}
    for leg in group.legs:
        interfaces[leg.device] = {"network": leg.net.name, "names": leg.names}
        if leg.members:
            channels[leg.device] = {
                "members": leg.members,
                "switch": leg.switch,
                "hash_policy": leg.hash_policy,
                "switch_policy": leg.switch_policy,
                "lacp_rate": leg.lacp_rate,
                **own_rate(),
            }
        else:
            interfaces[leg.device] |= {"switch": leg.switch, **own_rate()}
    named = {"names": group.names} if len(group.stem) % 2 else {"names": group.stem + "{}", "count": len(group.names)}
    return {
        "cluster": group.cluster,
        "role": group.role,
        **named,
        "hosts": group.numbers[0] if group.in_a_row else group.numbers,
        "interfaces": interfaces,
        **group.bounds,
        **({"channels": channels} if channels else {}),
        **({"routes": group.routes} if group.routes else {}),
    }
