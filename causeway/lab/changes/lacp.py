"""Channels whose ends agree otherwise than the site has them: LACP's rate, or no LACP at all."""

from collections.abc import Iterator

from causeway.lab.changes.change import Change, Step
from causeway.lab.lab import Lab
from causeway.model.topology import ChannelEnd
from causeway.process import run

_LINES = "for words; do ip $words || exit; done"
#: Within ten seconds an end is out of all its members; the port's name is $0.
_NOBODY_LEFT = """
for _ in $(seq 100); do
    ovs-appctl bond/show "$0" | grep -q '^member .*: enabled' || exit 0
    sleep 0.1
done
exit 1
"""


def speaks(lab: Lab, host: ChannelEnd, switch: ChannelEnd, rate: str) -> Change:
    """Both ends of a channel ask for LACP's frames at a rate, slow or fast; they agree anew, which takes seconds."""
    title = f"{host.node}:{host.name} and {switch.node}:{switch.name} speak in {rate} rate"
    routes = _routes_by(lab, host)
    return Change(title, *(tuple(_at_rate(host, switch, r, routes)) for r in (rate, _rate_of(lab, host))))


def _at_rate(host: ChannelEnd, switch: ChannelEnd, rate: str, routes: list[str]) -> Iterator[Step]:
    """A bond takes another rate only when it is down, and the switch must have seen its cables go."""
    links = [host.name, *host.members]
    yield _ip(host.node, [f"link set {link} down" for link in links])
    yield Step(switch.node, ("sh", "-c", _NOBODY_LEFT, switch.name))
    yield _ip(host.node, [f"link set {host.name} type bond lacp_rate {rate}"])
    yield Step(switch.node, ("ovs-vsctl", "set", "port", switch.name, f"other_config:lacp-time={rate}"))
    yield _ip(host.node, [f"link set {link} up" for link in reversed(links)] + routes)


def without_lacp(switch: ChannelEnd) -> Change:
    """A switch's end is put together by hand. Open vSwitch's is then nearly such a channel, and no more: it takes
    broadcasts by one member alone, and ARP tries its luck."""
    port = ("ovs-vsctl", "set", "port", switch.name)
    there, back = (Step(switch.node, (*port, f"lacp={how}")) for how in ("off", "active"))
    return Change(f"{switch.node}:{switch.name} does without LACP", (there,), (back,))


def round_robin(lab: Lab, host: ChannelEnd) -> Change:
    """A host sends round-robin, which there is only without LACP (bonding.rst, mode)."""
    return _in_mode(lab, host, "mode balance-rr", "sends round-robin")


def static_host(lab: Lab, host: ChannelEnd) -> Change:
    """A host's bond agrees with nobody: all members carry that have a carrier, and it sends by its own policy."""
    static = f"mode balance-xor xmit_hash_policy {host.hash_policy} miimon 100"
    return _in_mode(lab, host, static, "is static")


def _in_mode(lab: Lab, host: ChannelEnd, options: str, how: str) -> Change:
    as_before = f"mode 802.3ad lacp_rate {_rate_of(lab, host)} xmit_hash_policy {host.hash_policy} miimon 100"
    routes = _routes_by(lab, host)
    there, back = (_remade(host, mode, routes) for mode in (options, as_before))
    return Change(f"{host.node}:{host.name} {how}", (there,), (back,))


def patched(lab: Lab, one: ChannelEnd, other: ChannelEnd) -> Change:
    """A switch hands what comes by a member of one channel to the same member of another, as a cable would."""
    switch, bridge = one.node, f"br-{lab.site.nodes[one.node].switch}"
    couples = [pair for a, b in zip(one.members, other.members, strict=True) for pair in ((a, b), (b, a))]
    flow = ("ovs-ofctl", "--names")
    there = [
        Step(switch, (*flow, "add-flow", bridge, f"priority=100,in_port={a},actions=output:{b}")) for a, b in couples
    ]
    back = [Step(switch, (*flow, "del-flows", bridge, f"in_port={a}")) for a, _ in couples]
    return Change(f"{switch} patches {one.name} through to {other.name}", tuple(there), tuple(back))


def _rate_of(lab: Lab, host: ChannelEnd) -> str:
    return next(channel.lacp_rate for channel, end, _ in lab.site.channel_ends() if end == host)


def _remade(host: ChannelEnd, options: str, routes: list[str]) -> Step:
    """A bond takes another mode only without members."""
    lines = [f"link set {host.name} down", *(f"link set {device} nomaster" for device in host.members)]
    lines.append(f"link set {host.name} type bond {options}")
    for device in host.members:
        lines += [f"link set {device} down", f"link set {device} master {host.name}"]
    return _ip(host.node, [*lines, f"link set {host.name} up", *routes])


def _routes_by(lab: Lab, host: ChannelEnd) -> list[str]:
    """What gives a host the routes by a bond again, which go when that goes down; its own network's comes by itself."""
    shown = run(lab.plug(host.node, ["ip", "route", "show", "dev", host.name])).must().splitlines()
    return [f"route replace {route} dev {host.name}" for route in shown if " proto kernel " not in route]


def _ip(node: str, lines: list[str]) -> Step:
    return Step(node, ("sh", "-c", _LINES, "sh", *lines))
