"""A node's Open vSwitch: its bridges, their ports, and by which port each hardware address is reached.

Source: ovs-vswitchd.conf.db(5); ovs-vswitchd(8), fdb/show; ovs-ofctl(8), dump-flows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from causeway.collect.bonds import Bond, Member, lacp_members, ovs_bond
from causeway.collect.output import Output

#: Kinds of interfaces that are no cable's end.
_INSIDE = {"internal", "patch"}


@dataclass(frozen=True)
class Bridge:
    """What switches: `ports` are adapters and bonds in it, `bonds` those that are Open vSwitch's own.

    `reached` is by which port frames go to a hardware address: learned, or (`by_table`) as tables say that were made
    beforehand. `numbers` are the numbers (LIDs) that such tables give addresses.
    """

    name: str
    ports: tuple[str, ...]
    bonds: Mapping[str, Bond]
    by_table: bool
    reached: Mapping[str, str]
    numbers: Mapping[str, int]


def bridges(output: Output) -> list[Bridge]:
    """The bridges of a node, none where it has no Open vSwitch; Unreadable where the tables are no tables."""
    tables = {name: _rows(output.json(f"ovs-{name}")) for name in ("bridge", "port", "interface")}
    interfaces = {row["_uuid"]: row for row in tables["interface"]}
    speaks = lacp_members(output.lines("ovs-lacp"))
    ports = {row["_uuid"]: row for row in tables["port"]}
    return [
        _bridge(output, row, [ports[uuid] for uuid in _listed(row["ports"]) if uuid in ports], interfaces, speaks)
        for row in tables["bridge"]
    ]


def _bridge(
    output: Output,
    row: Mapping[str, Any],
    ports: list[dict[str, Any]],
    interfaces: Mapping[str, Mapping[str, Any]],
    speaks: Mapping[str, Member],
) -> Bridge:
    name = str(row["name"])
    bonds: dict[str, Bond] = {}
    plain: list[str] = []
    numbered: dict[str, str] = {}
    for port in ports:
        inside = [interfaces[uuid] for uuid in _listed(port["interfaces"]) if uuid in interfaces]
        members = [str(interface["name"]) for interface in inside]
        numbered |= {str(interface["ofport"]): str(port["name"]) for interface in inside}
        if len(members) > 1:
            bonds[str(port["name"])] = ovs_bond(port, members, speaks)
        elif all(interface["type"] not in _INSIDE for interface in inside):
            plain.append(str(port["name"]))
    flows = output.lines(f"ovs-flows {name}")
    tabled = row["fail_mode"] == "secure" and not any("NORMAL" in flow for flow in flows)
    learned = {
        mac: numbered[number]
        for number, mac in re.findall(r"^\s*(\w+)\s+\d+\s+([0-9a-f:]{17})\b", output.text(f"ovs-fdb {name}"), re.M)
        if number in numbered
    }
    rules = [(_mac(flow), re.search(r"actions=output:\"?([^\s,\"]+)\"?$", flow), flow) for flow in flows]
    leads = {mac: out[1] for mac, out, _ in rules if mac and out} if tabled else {}
    cookies = {mac: re.search(r"cookie=0x([0-9a-f]+)", flow) for mac, _, flow in rules if mac}
    numbers = {mac: int(cookie[1], 16) for mac, cookie in cookies.items() if cookie and int(cookie[1], 16)}
    return Bridge(name, tuple(plain), bonds, tabled, leads if tabled else learned, numbers if tabled else {})


def _mac(flow: str) -> str | None:
    found = re.search(r"dl_dst=([0-9a-f:]{17})(?=[ ,])", flow)
    return found[1] if found else None


def _rows(table: Any) -> list[dict[str, Any]]:
    """The rows of a table of ovs-vsctl's, as JSON."""
    if table is None:
        return []
    return [dict(zip(table["headings"], map(_plain, row), strict=True)) for row in table["data"]]


def _plain(value: Any) -> Any:
    """RFC 7047, 5.1: a set of one is its member, of none is None; a map is a mapping."""
    match value:
        case ["set", []]:
            return None
        case ["set", [*members]]:
            return [_plain(member) for member in members]
        case ["map", [*pairs]]:
            return {_plain(key): _plain(its) for key, its in pairs}
        case ["uuid" | "named-uuid", str(uuid)]:
            return uuid
    return value


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
