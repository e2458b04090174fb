"""Byte counters of ports, always compared by difference."""

import json
from collections.abc import Sequence

from causeway.lab.lab import Lab


def sent_bytes(lab: Lab, node: str, devices: Sequence[str]) -> dict[str, int]:
    """What each device has sent so far, in bytes of Ethernet frames without their check sequence."""
    found = json.loads(lab.on(node, "ip", "-s", "-j", "link").must())
    sent = {row["ifname"]: int(row["stats64"]["tx"]["bytes"]) for row in found}
    return {device: sent[device] for device in devices}


def difference(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What was sent between two readings."""
    return {device: after[device] - before[device] for device in before}
