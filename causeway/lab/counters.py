"""Byte counters of ports, always compared by difference."""

import json
from collections.abc import Sequence

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
