"""A node's adapters, interfaces and routes, and what it switches and forwards."""

from causeway.model.site import EVERYWHERE, Site
from causeway.model.thing import Port
from causeway.model.topology import AIX_POLICIES, CISCO_POLICIES, LINUX_POLICIES, ChannelEnd, Node, Route
from causeway.plan.bounds import leaves_mbit, mbit
from causeway.plan.forwarding import is_static
from causeway.plan.hardware import mac_address
from causeway.render import fabric
from causeway.render.text import NODES, File, Files, fill

#: What has a bond send by another maker's policy.
BOND_POLICY = NODES / "bonding" / "bond_policy.py"


def ports(site: Site, name: str) -> str:
    """The node's adapters, a line each: device, its wire's Mbit/s, MTU, host or switch, what it sends,
    how long its cable is (ms), and to whom.
    """
    kind = "switch" if site.nodes[name].switch else "host"
    lines = []
    for cable in site.cables:
        for here, there in (cable.ends, cable.ends[::-1]):
            if here.node == name:
                side = "host" if here.device in site.nodes[name].interfaces else kind
                wire, sends = site.sends_mbit(here), mbit(leaves_mbit(site, here))
                lines.append(f"{here.device} {wire} {site.mtu(here)} {side} {sends} {cable.delay_ms:g} {there}\n")
    return "".join(lines)


def files(site: Site, name: str) -> Files:
    """What configures them."""
    node = site.nodes[name]
    bonds = {end.name: (channel, end) for channel, end, _ in site.channel_ends() if end.node == name}
    found: Files = {}
    if node.interfaces:
        found["etc/network/interfaces"] = File(
            fill(
                "templates/interfaces.j2",
                name=name,
                node=node,
                networks=site.topology.networks,
                bonds=bonds,
                routes=_routes_by_interface(site, node),
                mtu=lambda device: site.mtu(_cabled(site, name, device)),
                linux_policies=LINUX_POLICIES,
            )
        )
    if node.switch is not None:
        switched = [pair for pair in bonds.values() if pair[1].name not in node.interfaces]
        switch = fill(
            "templates/switch.j2",
            bridge=f"br-{node.switch}",
            mac=mac_address(site, Port(name, f"br-{node.switch}")),
            mtu=site.topology.networks[node.switch].mtu,
            static=is_static(site, name),
            bonds=[pair for pair in switched if not site.is_linux_bond(pair[1])],
            linux_bonds=[pair for pair in switched if site.is_linux_bond(pair[1])],
            ports=_plain_ports(site, name, [end for _, end in bonds.values()]),
        )
        found["etc/openvswitch/switch"] = File(switch, 0o755)
        found |= fabric.files(site, name)
    if any(end.hash_policy in AIX_POLICIES + CISCO_POLICIES for _, end in bonds.values()):
        found["usr/local/sbin/bond-policy"] = File(BOND_POLICY.read_text(), 0o755)
    # said either way: a container may inherit forwarding from its Docker host
    found["etc/sysctl.d/60-forwarding.conf"] = File(f"net.ipv4.ip_forward = {int(node.forwards)}\n")
    return found


def _cabled(site: Site, name: str, device: str) -> Port:
    """The port of an interface that a cable is plugged into: its own, or a bond's first member."""
    for _, end, _ in site.channel_ends():
        if (end.node, end.name) == (name, device):
            return Port(name, end.members[0])
    return Port(name, device)


def _plain_ports(site: Site, name: str, bonds: list[ChannelEnd]) -> list[str]:
    members = {device for end in bonds for device in end.members}
    mine = [p.device for cable in site.cables for p in cable.ends if p.node == name]
    return [d for d in mine if d not in members and d not in site.nodes[name].interfaces]


def _routes_by_interface(site: Site, node: Node) -> dict[str, list[str]]:
    """Static routes as `ip route add` takes them, at the interface that they need last to be there."""
    routes: dict[str, list[str]] = {device: [] for device in node.interfaces}
    devices = list(node.interfaces)
    for route in node.routes:
        out = [_towards(site, node, gateway) for gateway in route.via]
        routes[max(out, key=devices.index)].append(route_words(site, route))
    return routes


def _towards(site: Site, node: Node, gateway: object) -> str:
    legs = node.interfaces.items()
    return next(device for device, leg in legs if gateway in site.topology.networks[leg.network].subnet)


def route_words(site: Site, route: Route) -> str:
    """A route as `ip route add` takes it."""
    to = site.destination(route)
    words = ["default" if to == EVERYWHERE else str(to)]
    single = len(route.via) == 1
    words += ["via", str(route.via[0])] if single else []
    for key, value in (("metric", route.metric), ("mtu", route.mtu), ("src", route.src)):
        words += [key, str(value)] if value else []
    words += [] if single else [word for gateway in route.via for word in ("nexthop", "via", str(gateway))]
    return " ".join(words)
