"""A node as it describes itself: adapters, addresses, channels, routes, names, time, keys and tunables."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path
from typing import Any

from causeway.collect.bonds import Bond, linux_bond, natural
from causeway.collect.openvswitch import Bridge, bridges
from causeway.collect.output import Output, Unreadable

#: Kinds of devices that are no cable's end, and no part of a site: what they carry goes by other devices.
_INSIDE = {"bridge", "dummy", "tun", "gre", "ipip", "sit", "vxlan", "wireguard", "ifb", "vrf", "macvlan", "ipvlan"}
#: Sections that every node has.
_NEEDED = ("hostname", "ip-address", "ip-route")


@dataclass(frozen=True)
class Device:
    """An adapter, a bond or a bridge. `sends_mbit` is what may leave by it, None where the node does not know.

    `under` is the device that a VLAN's is on, or the adapter or bond in a Linux bridge.
    """

    name: str
    mac: str
    mtu: int
    kind: str
    under: str | None
    addresses: tuple[IPv4Interface, ...]
    sends_mbit: int | None


@dataclass(frozen=True)
class Machine:
    """All of a node that a site's file has a place for, and what tells who its neighbours are.

    `hosts` are its names for addresses, `trusts` the hash of the keys that root may log in by, `tunables` those that
    are set or not what the kernel begins with. `neighbours` are, by device, what LLDP says: the other's name and port.
    """

    name: str
    file: Path
    devices: Mapping[str, Device]
    bonds: Mapping[str, Bond]
    bridges: tuple[Bridge, ...]
    routes: tuple[Mapping[str, Any], ...]
    rules: int
    forwards: bool
    hosts: Mapping[IPv4Address, list[str]]
    name_servers: tuple[str, ...]
    domain: str | None
    time_servers: tuple[str, ...]
    gives_time: bool
    trusts: str
    tunables: Mapping[str, str]
    neighbours: Mapping[str, tuple[str, str]]
    mounts: tuple[str, ...]

    @property
    def legs(self) -> dict[str, Device]:
        """The devices with an address that other nodes could reach."""
        return {name: device for name, device in self.devices.items() if device.addresses and _is_outside(self, device)}


def _is_outside(machine: Machine, device: Device) -> bool:
    bridged = any(device.name == bridge.name for bridge in machine.bridges)
    return device.kind not in _INSIDE or device.under is not None or bridged


def machine(output: Output) -> Machine:
    """Raises Unreadable where an output lacks what every node has, or it is of another form."""
    if lacking := [name for name in _NEEDED if not output.lines(name)]:
        raise Unreadable(f"it has no {', '.join(lacking)}; collect as root, with an iproute2 that knows ip -j")
    try:
        return _machine(output)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"it has not the form of collect.sh's output ({error!r}); collect it again") from None


def _machine(output: Output) -> Machine:
    configured, now = _settings(output.lines("sysctl-set"), "="), _settings(output.lines("sysctl"), ":")
    found = configured | now  # a container does not show what is the kernel's, for all
    resolv = [line.split() for line in output.lines("resolv.conf") if line.strip()]
    time = [line.split() for name in ("chrony.conf", "ntp.conf") for line in output.lines(name)]
    search = [words[1] for words in resolv if words[0] in ("search", "domain") and len(words) > 1]
    return Machine(
        name=output.lines("hostname")[0].strip().split(".")[0],
        file=output.file,
        devices=_devices(output),
        bonds={name: linux_bond(name, lines) for name, lines in output.named("bonding").items()},
        bridges=tuple(bridges(output)),
        routes=tuple(route for route in output.json("ip-route") if _is_static(route)),
        rules=len([rule for rule in output.json("ip-rule") or [] if rule.get("priority") not in (0, 32766, 32767)]),
        forwards=found.pop("net.ipv4.ip_forward", "0") == "1",
        hosts=_hosts(output.lines("hosts")),
        name_servers=tuple(words[1] for words in resolv if words[0] == "nameserver" and len(words) > 1),
        domain=search[-1].rstrip(".") if search else _domain(output.lines("hosts")),
        time_servers=tuple(words[1] for words in time if len(words) > 1 and words[0] in ("server", "pool", "peer")),
        gives_time=any(words[:1] in (["allow"], ["local"]) for words in time),
        trusts=next((line for line in output.lines("authorized_keys") if line.startswith("sha256 ")), ""),
        tunables={key: value for key, value in found.items() if value and (key in configured or _is_tuned(key, value))},
        neighbours=_neighbours(output.json("lldp")),
        mounts=tuple(_mounts(output.lines("mounts"))),
    )


#: What Linux begins with, of this version or that, where it does not depend on the machine
#: (Documentation/networking/ip-sysctl.rst, Documentation/admin-guide/sysctl/net.rst).
DEFAULTS = {
    "net.core.rmem_max": ("212992", "4194304"),
    "net.core.wmem_max": ("212992", "4194304"),
    "net.core.rmem_default": ("212992",),
    "net.core.wmem_default": ("212992",),
    "net.core.netdev_max_backlog": ("1000",),
    "net.core.somaxconn": ("128", "4096"),
    "net.ipv4.conf.all.rp_filter": ("0",),
    "net.ipv4.conf.all.arp_ignore": ("0",),
    "net.ipv4.conf.all.arp_announce": ("0",),
    "net.ipv4.conf.all.arp_filter": ("0",),
    "net.ipv4.tcp_slow_start_after_idle": ("1",),
    "net.ipv4.tcp_timestamps": ("1",),
    "net.ipv4.tcp_sack": ("1",),
    "net.ipv4.tcp_window_scaling": ("1",),
    "net.ipv4.tcp_mtu_probing": ("0",),
    "net.ipv4.tcp_no_metrics_save": ("0",),
    "net.ipv4.tcp_congestion_control": ("cubic",),
    "net.ipv4.fib_multipath_hash_policy": ("0",),
}


def _is_tuned(key: str, value: str) -> bool:
    return key in DEFAULTS and value not in DEFAULTS[key]


def _settings(lines: list[str], sign: str) -> dict[str, str]:
    """Tunables by name, each with its value after a sign; blanks between numbers are one."""
    pairs = (line.removeprefix("/proc/sys/").partition(sign) for line in lines)
    return {key.strip().replace("/", "."): " ".join(value.split()) for key, found, value in pairs if found}


def _devices(output: Output) -> dict[str, Device]:
    speeds = {name: int(mbit) for name, mbit in (line.split() for line in output.lines("speed"))}
    for name, lines in output.named("ethtool").items():
        if said := re.search(r"Speed: (\d+)Mb/s", "\n".join(lines)):
            speeds[name] = int(said[1])
    shaped = {
        str(queue["dev"]): round(queue["options"]["rate"] * 8 / 1e6)
        for queue in output.json("tc-qdisc") or []
        if queue.get("kind") == "tbf" and queue.get("root")
    }
    found = {}
    entries = output.json("ip-address")
    for entry in entries:
        if entry.get("link_type") == "loopback" or "ifname" not in entry:
            continue
        name = str(entry["ifname"])
        rates = [rate for rate in (speeds.get(name), shaped.get(name)) if rate]
        addresses = [
            IPv4Interface(f"{own['local']}/{own['prefixlen']}")
            for own in entry.get("addr_info", [])
            if own.get("family") == "inet" and own.get("scope") == "global"
        ]
        kind = str(entry.get("linkinfo", {}).get("info_kind", ""))
        mac, under = str(entry.get("address", "")).lower(), _under(entry, kind, entries)
        found[name] = Device(name, mac, int(entry["mtu"]), kind, under, tuple(addresses), min(rates, default=None))
    return dict(sorted(found.items(), key=lambda item: natural(item[0])))


def _under(entry: Mapping[str, Any], kind: str, entries: list[Mapping[str, Any]]) -> str | None:
    """What carries a VLAN's or a bridge's packets: of a bridge the adapter or bond in it, where there is one."""
    if kind == "vlan":
        return entry.get("link")
    inside = [its for its in entries if kind == "bridge" and its.get("master") == entry["ifname"]]
    carrying = [str(its["ifname"]) for its in inside if its.get("linkinfo", {}).get("info_kind", "bond") == "bond"]
    return carrying[0] if carrying else None


def _is_static(route: Mapping[str, Any]) -> bool:
    """Whether somebody has set a route: the kernel's own follow from addresses."""
    return route.get("protocol") != "kernel" and route.get("table") != "local" and "dst" in route


def _hosts(lines: list[str]) -> dict[IPv4Address, list[str]]:
    """Short names by address, in the order of the file."""
    found: dict[IPv4Address, list[str]] = {}
    for line in lines:
        first, *names = line.split("#")[0].split() or [""]
        try:
            address = IPv4Address(first)
        except ValueError:
            continue
        if not address.is_loopback:
            short = [name for name in names if "." not in name] or [name.split(".")[0] for name in names]
            known = found.setdefault(address, [])
            known += [name for name in dict.fromkeys(short) if name not in known]
    return found


def _domain(hosts: list[str]) -> str | None:
    """What most of the long names end in."""
    words = (word for line in hosts for word in line.split("#")[0].split()[1:])
    ends = Counter(domain for word in words for _, dot, domain in [word.partition(".")] if dot)
    return ends.most_common(1)[0][0] if ends else None


def _neighbours(lldp: Any) -> dict[str, tuple[str, str]]:
    """Device -> the other's name and port, by `lldpctl -f json`: one interface as it is, several as a list."""
    interfaces = (lldp or {}).get("lldp", {}).get("interface", [])
    found = {}
    for entry in interfaces if isinstance(interfaces, list) else [interfaces]:
        for device, about in entry.items():
            chassis, port = about.get("chassis", {}), about.get("port", {})
            names = [name for name in chassis if name != "id"]
            identity = port.get("id", {})
            if names and identity:
                label = port.get("descr") if identity.get("type") == "mac" else identity.get("value")
                found[device] = names[0].split(".")[0], str(label)
    return found


def _mounts(lines: list[str]) -> Iterator[str]:
    """Where filesystems are mounted that come over the network, of what kind they are, and who has them."""
    for source, place, kind in (line.split()[:3] for line in lines if len(line.split()) > 2):
        if kind in ("nfs", "nfs4", "cifs", "lustre", "gpfs", "ceph", "beegfs") or kind.startswith("fuse."):
            yield f"{place}, {kind} of {source.split(':')[0]}"
