"""What runs on nodes and is in none of their files, or the other way round: what a reboot would change.

Compared are addresses, MTUs, static routes, and channels' members, modes and hash policies with
/etc/network/interfaces, and tunables with /etc/sysctl.d.

Source: Redpaper, "Routing setup for cross-cluster connectivity" ("the route add command will not be persistent").
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network
from itertools import pairwise
from typing import Any

from causeway.lab.lab import Lab
from causeway.process import run_all
from causeway.rehearse.interfaces import Stanza, stanzas

#: Everything of a node in one go: a line of JSON or a file's text after each line that names it.
_LOOK = r"""
echo '== addresses'; ip -j -4 address
echo '== routes'; ip -j -4 route show table main
echo '== interfaces'; cat /etc/network/interfaces
echo '== channels'
for bond in /sys/class/net/*/bonding; do
	[ -e "$bond" ] || continue
	echo "${bond%/bonding}" "$(cat "$bond/mode")" "$(cat "$bond/xmit_hash_policy")" $(cat "$bond/slaves")
done
echo '== tunables'; cat /etc/sysctl.d/*.conf 2>/dev/null
echo '== running'; cat /etc/sysctl.d/*.conf 2>/dev/null | sed -n 's/^\([^#= ][^= ]*\) *=.*/\1/p' | xargs -r sysctl -e
"""
_NOTHING = "-"


@dataclass(frozen=True)
class Drift:
    """One thing of a node that is not as its files say: `files` and `runs` have "-" where it is not there."""

    node: str
    what: str
    files: str
    runs: str


def drift(lab: Lab, nodes: Iterable[str]) -> list[Drift]:
    """What differs on nodes with disks, in the order of the nodes. LabBroken where one cannot be asked."""
    chosen = [node for node in nodes if lab.site.nodes[node].cluster and node not in lab.site.diskless()]
    commands = [lab.enter(node, ["sh", "-c", _LOOK]) for node in chosen]
    found = zip(chosen, run_all(commands, timeout_s=60), strict=True)
    return [one for node, result in found for one in differences(node, result.must())]


def differences(node: str, printed: str) -> Iterator[Drift]:
    """What differs, from what `_LOOK` printed on a node."""
    parts = _parts(printed)
    wanted, _ = stanzas(parts["interfaces"])
    tunables = _values(parts["running"])  # net.core.*, which the kernel has once for all nodes, is not among them
    filed = _filed(wanted) | {k: v for k, v in _values(parts["tunables"]).items() if k in tunables}
    running = _running(wanted, parts) | tunables
    for what in dict.fromkeys([*filed, *running]):
        files, runs = filed.get(what, _NOTHING), running.get(what, _NOTHING)
        if files != runs:
            yield Drift(node, what, files, runs)


def _parts(printed: str) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in printed.splitlines(keepends=True):
        if line.startswith("== "):
            name = line[3:].strip()
            found[name] = ""
        else:
            found[name] += line
    return found


def _values(text: str) -> dict[str, str]:
    """Tunables and their values, blanks made one, as sysctl(8) prints them and files have them."""
    lines = (line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith(("#", ";")))
    return {f"sysctl {key.strip()}": " ".join(value.split()) for key, _, value in lines}


def _filed(wanted: Iterable[Stanza]) -> dict[str, str]:
    """What /etc/network/interfaces says, each thing by its name."""
    found: dict[str, str] = {}
    for stanza in wanted:
        if stanza.method != "static":
            continue
        netmask = stanza.option("netmask")
        address = f"{stanza.option('address')}/{netmask}" if netmask else str(stanza.option("address"))
        found[f"{stanza.device} address"] = str(IPv4Interface(address))
        if mtu := stanza.option("mtu"):
            found[f"{stanza.device} mtu"] = mtu
        if members := stanza.option("bond-slaves"):
            found[f"{stanza.device} members"] = " ".join(sorted(members.split()))
            found[f"{stanza.device} mode"] = stanza.option("bond-mode") or "balance-rr"
            if policy := stanza.option("bond-xmit-hash-policy"):
                found[f"{stanza.device} hash policy"] = policy
        if gateway := stanza.option("gateway"):
            found["route default"] = f"via {gateway}"
        for name, value in stanza.options:
            words = value.split()
            if name in ("up", "post-up") and words[:2] == ["ip", "route"] and len(words) > 3:
                found |= _route_of(words[3:])
    return found


def _route_of(words: list[str]) -> dict[str, str]:
    """A route as `ip route add` takes it: to where, and by whom; with several ways, by all of them."""
    pairs = list(pairwise(words))
    return _route(words[0], [after for word, after in pairs if word == "via"], dict(pairs).get("metric", "0"))


def _route(to: str, ways: Iterable[str], metric: str) -> dict[str, str]:
    network = to if to == "default" else str(IPv4Network(to)).removesuffix("/32")
    name = f"route {network}" + (f" metric {metric}" if metric != "0" else "")
    return {name: " ".join(f"via {way}" for way in sorted(ways))}


def _running(wanted: Iterable[Stanza], parts: Mapping[str, str]) -> dict[str, str]:
    """What the kernel has, under the same names; of what files may leave to it, only what they say."""
    filed = {f"{s.device} {name}" for s in wanted for name in ("mtu", "hash policy") if s.option(_OPTION[name])}
    found: dict[str, str] = {}
    for device in json.loads(parts["addresses"]):
        name = device["ifname"]
        addresses = [f"{a['local']}/{a['prefixlen']}" for a in device["addr_info"] if a["scope"] == "global"]
        if addresses:
            found[f"{name} address"] = " ".join(addresses)
        if f"{name} mtu" in filed:
            found[f"{name} mtu"] = str(device["mtu"])
    for line in parts["channels"].splitlines():
        path, mode, _, policy, _, *members = line.split()
        bond = path.rpartition("/")[2]
        found |= {f"{bond} members": " ".join(sorted(members)), f"{bond} mode": mode}
        if f"{bond} hash policy" in filed:
            found[f"{bond} hash policy"] = policy
    for route in json.loads(parts["routes"]):
        if route.get("protocol") != "kernel":
            found |= _route(route["dst"], _ways(route), str(route.get("metric", 0)))
    return found


def _ways(route: Mapping[str, Any]) -> list[str]:
    hops = route.get("nexthops") or [route]
    return [hop["gateway"] for hop in hops if "gateway" in hop]


_OPTION = {"mtu": "mtu", "hash policy": "bond-xmit-hash-policy"}
