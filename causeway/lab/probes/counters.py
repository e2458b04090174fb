"""Counters of ports and of nodes, always compared by difference."""

import json
from collections.abc import Sequence
from pathlib import Path

from causeway.lab.lab import Lab


def sent_bytes(lab: Lab, node: str, devices: Sequence[str]) -> dict[str, int]:
    """What each adapter has sent so far, in bytes of Ethernet frames without their check sequence.

    Read from the adapter's queue (tc), not from the device: a veth counts what it sends without the
    14 bytes of the Ethernet header when its peer coalesces, and with them when it does not.
    """
    found = json.loads(lab.on(node, "tc", "-s", "-j", "qdisc", "show").must())
    sent = {row["dev"]: int(row["bytes"]) for row in found if row.get("root")}
    return {device: sent[device] for device in devices}


def difference(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What was sent between two readings."""
    return {device: after[device] - before[device] for device in before}


def kernel_counters(lab: Lab, node: str) -> dict[str, int]:
    """What a node's network stack has counted so far, by the names of nstat(8): TcpExtIPReversePathFilter."""
    files = (Path(f"/proc/{lab.board(node)}/net/{name}") for name in ("snmp", "netstat"))
    return parse_counters("".join(file.read_text() for file in files))


def parse_counters(text: str) -> dict[str, int]:
    """Read /proc/net/snmp or /proc/net/netstat: a line of names, then a line of values, with the same first word."""
    lines = text.splitlines()
    found: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        prefix, *keys = names.replace(":", "").split()
        found |= {f"{prefix}{key}": int(value) for key, value in zip(keys, values.split()[1:], strict=True)}
    return found
