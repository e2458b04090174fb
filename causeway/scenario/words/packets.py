"""The size of packets on a way, for scenarios: set, found out, and what becomes of one write."""

from collections.abc import Iterable
from ipaddress import IPv4Address

from causeway.errors import LabBroken
from causeway.lab.changes.change import Change, Step, together
from causeway.lab.lab import Lab
from causeway.lab.probes.counters import kernel_counters
from causeway.model.thing import Port
from causeway.plan.bounds import leaves_mbit
from causeway.plan.paths import Path, path
from causeway.scenario.stage import Stage

#: IP and ICMP headers of a ping; IP and TCP headers, with timestamps, of a segment.
_PING, SEGMENT = 28, 52
#: When a transfer that takes milliseconds counts as stalled: TCP has then sent the packet five times or more.
PATIENCE_S = 10
ARRIVES, STALLS = "arrives", f"not there after {PATIENCE_S} s"


def interface_mtu(lab: Lab, node: str, device: str, mtu: int) -> Change:
    """An interface takes packets of another size: also a bond with its members, and a switch's own bridge, which
    nobody but Open vSwitch may set."""
    before = Step(node, ("cat", f"/sys/class/net/{device}/mtu")).take(lab).strip()
    there, back = (_mtu(node, device, size) for size in (str(mtu), before))
    return Change(f"{node}:{device} takes {mtu} bytes", (there,), (back,))


def _mtu(node: str, device: str, size: str) -> Step:
    if device.startswith("br-"):
        return Step(node, ("ovs-vsctl", "set", "interface", device, f"mtu_request={size}"))
    return Step(node, ("ip", "link", "set", device, "mtu", size))


def all_take(stage: Stage, ways: Iterable[Path], mtu: int) -> Change:
    """Every port on these ways takes packets of a size: both ends of every link, bonds and bridges."""
    ports: dict[Port, None] = {}
    for way in ways:
        for hop in way.hops:
            for segment in hop.segments:
                for cable in segment.cables:
                    ports |= dict.fromkeys((_own(stage, cable.sender), _own(stage, cable.receiver)))
            ports |= dict.fromkeys((hop.sender, hop.receiver))
    changes = (interface_mtu(stage.lab, port.node, port.device, mtu) for port in ports)
    return together(f"packets of {mtu} bytes pass", changes)


def _own(stage: Stage, port: Port) -> Port:
    """A host's bond sets its members, and refuses that anybody else does; a switch's ports are set one by one."""
    end = stage.site.channel_of(port)
    return Port(port.node, end.name) if end and stage.site.nodes[port.node].switch is None else port


def slowest_mbit(stage: Stage, node: str, to: IPv4Address) -> float:
    """What passes a way, in Mbit/s of wire: the least that a link on it carries, or a node sends or receives."""
    hops = path(stage.site, node, to).hops
    return min(leaves_mbit(stage.site, segment.cables[0].sender) for hop in hops for segment in hop.segments)


def largest_packet(stage: Stage, node: str, to: IPv4Address, *, most: int) -> int:
    """The largest IP packet in bytes, up to `most`, that comes back from an address, found by halving."""
    low, high = 576, most + 1
    while high - low > 1:
        size = (low + high) // 2
        argv = ("ping", "-c", "1", "-W", "1", "-M", "do", "-s", str(size - _PING), str(to))
        low, high = (size, high) if stage.lab.on(node, *argv).rc == 0 else (low, size)
    return low


def one_write(stage: Stage, node: str, to: IPv4Address, size: int) -> str:
    """What becomes of one write of so many bytes to a nuttcp server."""
    done = stage.lab.on(node, "timeout", str(PATIENCE_S), "nuttcp", "-w1m", f"-l{size}", "-n1", str(to))
    if done.rc not in (0, 124):
        raise LabBroken(f"nuttcp from {node} to {to} ended with {done.rc}: {done.stderr}")
    return STALLS if done.rc else ARRIVES


def told(stage: Stage, *nodes: str) -> int:
    """ICMP messages of packets that did not get through, that nodes have had so far."""
    return sum(kernel_counters(stage.lab, node)["IcmpInDestUnreachs"] for node in nodes)
