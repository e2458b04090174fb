"""Channels as one node has them: a Linux bond's file in /proc, Open vSwitch's tables. And who is at the other end.

Source: bonding.rst; ovs-vswitchd.conf.db(5), ovs-vswitchd(8), LACP COMMANDS.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from causeway.model.topology import Protocol

#: A port as LACP names it: its system's address, and its number there.
LacpPort = tuple[str, int]
_NOBODY = "00:00:00:00:00:00"


@dataclass(frozen=True)
class Member:
    """A bond's member, as it names itself and as it names its partner; None where there is no LACP."""

    device: str
    actor: LacpPort | None = None
    partner: LacpPort | None = None


@dataclass(frozen=True)
class Bond:
    """One end of a channel. `mode` is Linux's or Open vSwitch's word."""

    name: str
    members: tuple[Member, ...]
    mode: str
    hash_policy: str
    protocol: Protocol
    lacp_rate: Literal["slow", "fast"]


def linux_bond(name: str, lines: Sequence[str]) -> Bond:
    """A bond by its /proc/net/bonding/NAME, as root sees it."""
    head, *parts = "\n".join(lines).split("\nSlave Interface: ")
    mode = _field(head, "Bonding Mode")
    lacp = "802.3ad" in mode
    members = []
    for part in parts:
        device, _, rest = part.partition("\n")
        own, _, partners = rest.partition("details partner lacp pdu")
        _, _, actors = own.partition("details actor lacp pdu")
        members.append(Member(device.strip(), _lacp_port(actors), _lacp_port(partners)))
    members.sort(key=lambda member: natural(member.device))
    rate: Literal["slow", "fast"] = "fast" if _field(head, "LACP rate") == "fast" else "slow"
    policy = _field(head, "Transmit Hash Policy").split(" ")[0]
    return Bond(name, tuple(members), mode, policy, "lacp" if lacp else "static", rate)


def _lacp_port(text: str) -> LacpPort | None:
    system, number = _field(text, "system mac address"), _field(text, "port number")
    return (system.lower(), int(number)) if system not in ("", _NOBODY) and number.isdecimal() else None


def _field(text: str, name: str) -> str:
    found = re.search(rf"^\s*{re.escape(name)}(?: \(\d\))?:\s*(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def ovs_bond(port: Mapping[str, Any], members: Sequence[str], speaks: Mapping[str, Member]) -> Bond:
    """A bond of Open vSwitch's by its row in the table Port; `speaks` is what lacp/show says of each member."""
    rate: Literal["slow", "fast"] = "fast" if port["other_config"].get("lacp-time") == "fast" else "slow"
    lacp = port["lacp"] in ("active", "passive")
    mode = str(port["bond_mode"] or "active-backup")
    ordered = sorted(members, key=natural)
    found = tuple(speaks.get(device, Member(device)) for device in ordered)
    return Bond(str(port["name"]), found, mode, mode, "lacp" if lacp else "static", rate)


def lacp_members(lines: Sequence[str]) -> dict[str, Member]:
    """What `ovs-appctl lacp/show` says of each member."""
    found = {}
    for part in re.split(r"^(?:member|slave): ", "\n".join(lines), flags=re.MULTILINE)[1:]:
        device = part.split(":", 1)[0].strip()
        ports = [
            (system.lower(), int(number)) if system != _NOBODY and number else None
            for side in ("actor", "partner")
            for system, number in [(_field(part, f"{side} sys_id"), _field(part, f"{side} port_id"))]
        ]
        found[device] = Member(device, ports[0], ports[1])
    return found


def natural(name: str) -> list[tuple[int, str]]:
    """A key for sorting names: the numbers in them count as numbers."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", name)]
