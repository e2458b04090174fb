"""A site as its nodes' own commands change it: addresses, routes, MTUs, channels, tunables."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from causeway.model.site import EVERYWHERE, Site
from causeway.model.thing import Port
from causeway.model.topology import (
    INCOMPUTABLE_POLICIES,
    LINUX_POLICIES,
    OVS_POLICIES,
    ChannelEnd,
    Interface,
    Node,
    Protocol,
    Route,
)
from causeway.plan.paths import without_member

_FORWARDING = ("net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding")
_MTUS = range(68, 65536)


class Fails(Exception):
    """What is asked for would be refused on the node; says how."""


class NotPredicted(Exception):
    """What this does to the site is not computed; says why."""


class State:
    """What commands do, one after the other; `site` is what came of it so far."""

    def __init__(self, site: Site) -> None:
        self._whole = site
        self._out: frozenset[Port] = frozenset()
        self._order = {name: list(node.interfaces) for name, node in site.nodes.items()}
        self._taken: dict[Port, Interface] = {}  # interfaces whose address was removed

    @property
    def site(self) -> Site:
        found = self._whole
        for port in sorted(self._out, key=str):
            if found.channel_of(port):
                found = without_member(found, port)
        return found

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """What is not done to its end leaves no trace."""
        before = vars(self).copy()
        try:
            yield
        except (Fails, NotPredicted):
            vars(self).update(before)
            raise

    # interfaces

    def devices(self, node: str) -> set[str]:
        """Adapters, bonds and bridges of a node."""
        found = {end.device for cable in self._whole.cables for end in cable.ends if end.node == node}
        found |= {end.name for _, end, _ in self._whole.channel_ends() if end.node == node}
        switch = self._whole.nodes[node].switch
        return found | set(self._whole.nodes[node].interfaces) | ({f"br-{switch}"} if switch else set())

    def set_mtu(self, node: str, device: str, mtu: int) -> None:
        self._needs(node, device)
        if mtu not in _MTUS:
            raise Fails("mtu less than device minimum" if mtu < _MTUS.start else "mtu greater than device maximum")
        mtus = {port: own for port, own in self._whole.mtus.items() if port not in self._members(node, device)}
        self._whole = replace(self._whole, mtus=mtus | {Port(node, device): mtu})

    def switch_off(self, node: str, device: str) -> None:
        """`ip link set down`: a member leaves its channel; of an interface, routes by its network go, too."""
        self._needs(node, device)
        port = Port(node, device)
        if self._whole.channel_of(port):
            self._out |= {port}
            return
        self._whole = replace(self._whole, down=self._whole.down | {port})
        self._drop_routes_without_a_way(node)

    def switch_on(self, node: str, device: str) -> None:
        self._needs(node, device)
        self._out -= {Port(node, device)}
        self._whole = replace(self._whole, down=self._whole.down - {Port(node, device)})

    def add_address(self, node: str, device: str, address: IPv4Interface) -> None:
        self._needs(node, device)
        about = self._whole.nodes[node]
        if device in about.interfaces:
            if about.interfaces[device].address == address.ip:
                raise Fails("RTNETLINK answers: File exists")
            raise NotPredicted("a second address of an interface")
        networks = self._whole.topology.networks
        near = next((name for name, network in networks.items() if network.subnet == address.network), None)
        if near is None or near != self._cabled(node, device):
            raise NotPredicted(f"{address} is not as the network at {node}:{device} has addresses")
        old = self._taken.get(Port(node, device), Interface(network=near, address=address.ip))
        legs = about.interfaces | {device: old.model_copy(update={"network": near, "address": address.ip})}
        order = [d for d in self._order[node] if d in legs]  # a node is known by its first one
        self._change(node, interfaces={d: legs[d] for d in dict.fromkeys([*order, *legs])})

    def remove_address(self, node: str, device: str, address: IPv4Address) -> None:
        self._needs(node, device)
        about = self._whole.nodes[node]
        if device not in about.interfaces or about.interfaces[device].address != address:
            raise Fails("RTNETLINK answers: Cannot assign requested address")
        self._taken = self._taken | {Port(node, device): about.interfaces[device]}
        self._change(node, interfaces={d: leg for d, leg in about.interfaces.items() if d != device})
        self._drop_routes_without_a_way(node)

    # routes

    def add_route(self, node: str, route: Route, *, instead: bool = False) -> None:
        """`instead` of one to the same destination with the same metric, if there is one."""
        routes = self._whole.nodes[node].routes
        for via in route.via:
            if not any(via in subnet for subnet in self._near(node)):
                raise Fails("Error: Nexthop has invalid gateway.")
        if any(via in self._addresses(node) for via in route.via):
            raise Fails("Error: Nexthop has invalid gateway.")
        if route.src is not None and route.src not in self._addresses(node):
            raise Fails("Error: Invalid source address.")
        same = [old for old in routes if self._key(old) == self._key(route)]
        connected = not route.metric and self._whole.destination(route) in self._near(node)
        if (same and not instead) or connected:
            raise Fails("RTNETLINK answers: File exists")
        self._change(node, routes=[*(old for old in routes if old not in same), route])

    def remove_route(self, node: str, to: IPv4Network, via: IPv4Address | None, metric: int | None) -> None:
        """The first that fits, as the kernel does it: of several the one with the smallest metric."""
        routes = self._whole.nodes[node].routes
        fits = [
            route
            for route in sorted(routes, key=lambda route: route.metric)
            if self._whole.destination(route) == to and via in (None, *route.via) and metric in (None, route.metric)
        ]
        if not fits:
            raise Fails("RTNETLINK answers: No such process")
        self._change(node, routes=[route for route in routes if route is not fits[0]])

    def clear_routes(self, node: str) -> None:
        self._change(node, routes=[])

    # channels

    def set_policy(self, node: str, bond: str, policy: str, others: Collection[str] = ()) -> None:
        """The hash policy by which an end of a channel sends, a Linux bond's or a switch's; of other makers' these."""
        known = (
            OVS_POLICIES if self._whole.nodes[node].switch and bond not in self._interfaces(node) else LINUX_POLICIES
        )
        known = (*known, *others)
        if policy in INCOMPUTABLE_POLICIES:
            raise NotPredicted(f"nobody can compute which member {policy} takes")
        if policy not in known:
            raise Fails(f"{policy} is none of {', '.join(known)}")
        self._change_end(node, bond, hash_policy=policy)

    def take_out(self, node: str, bond: str, member: str) -> None:
        if member not in self._end(node, bond).members:
            raise Fails("write error: Invalid argument")
        self._out |= {Port(node, member)}

    def put_back(self, node: str, bond: str, member: str) -> None:
        if member not in self._end(node, bond).members:
            raise NotPredicted(f"{member} is wired to no port of {bond}'s channel")
        self._out -= {Port(node, member)}

    def protocol(self, node: str, bond: str) -> Protocol:
        """How a channel's ends agree."""
        return self._end(node, bond).protocol

    def members(self, node: str, bond: str) -> list[str]:
        """A bond's members as the site has them."""
        return list(self._end(node, bond).members)

    # tunables

    def set_tunable(self, node: str, key: str, value: str) -> None:
        if key in _FORWARDING:
            self._change(node, forwards=value != "0")
        else:
            self._change(node, sysctl=self._whole.nodes[node].sysctl | {key: value})

    # ---

    def _change(self, node: str, **update: object) -> None:
        changed: Node = self._whole.nodes[node].model_copy(update=update)
        self._whole = replace(self._whole, nodes=self._whole.nodes | {node: changed})

    def _change_end(self, node: str, bond: str, **update: object) -> None:
        old = self._end(node, bond)

        def changed(end: ChannelEnd) -> ChannelEnd:
            return end.model_copy(update=update) if end is old else end

        channels = (c.model_copy(update={"ends": [changed(end) for end in c.ends]}) for c in self._whole.channels)
        self._whole = replace(self._whole, channels=tuple(channels))

    def _end(self, node: str, bond: str) -> ChannelEnd:
        for _, end, _ in self._whole.channel_ends():
            if (end.node, end.name) == (node, bond):
                return end
        raise Fails(f"{node} has no bond {bond}")

    def _members(self, node: str, device: str) -> set[Port]:
        ends = (end for _, end, _ in self._whole.channel_ends() if (end.node, end.name) == (node, device))
        return {Port(node, member) for end in ends for member in end.members}

    def _interfaces(self, node: str) -> set[str]:
        return set(self._whole.nodes[node].interfaces)

    def _addresses(self, node: str) -> set[IPv4Address]:
        return {leg.address for leg in self._whole.nodes[node].interfaces.values()}

    def _near(self, node: str) -> list[IPv4Network]:
        """The networks that a node has an interface in that is up."""
        legs = self._whole.nodes[node].interfaces.items()
        networks = self._whole.topology.networks
        return [networks[leg.network].subnet for device, leg in legs if Port(node, device) not in self._whole.down]

    def _key(self, route: Route) -> tuple[IPv4Network, int]:
        return self._whole.destination(route), route.metric

    def _drop_routes_without_a_way(self, node: str) -> None:
        near = self._near(node)
        ways = [(r, [via for via in r.via if any(via in net for net in near)]) for r in self._whole.nodes[node].routes]
        self._change(node, routes=[r.model_copy(update={"via": left}) for r, left in ways if left])

    def _cabled(self, node: str, device: str) -> str:
        """The network of what a device, or its first member, is plugged into; "" where it is not."""
        if (switch := self._whole.nodes[node].switch) is not None and device == f"br-{switch}":
            return switch
        wired = {Port(node, device), *self._members(node, device)}
        return next((cable.network for cable in self._whole.cables if wired & set(cable.ends)), "")

    def _needs(self, node: str, device: str) -> None:
        if device not in self.devices(node):
            raise Fails(f'Cannot find device "{device}"')


def destination(text: str) -> IPv4Network:
    """What a route leads to, as ip-route(8) has it: `default`, a prefix or a host."""
    try:
        return EVERYWHERE if text == "default" else IPv4Network(text)
    except ValueError:
        raise Fails(f'Error: any valid prefix is expected rather than "{text}".') from None
