"""What a lab looks like now: nodes, links, channels."""

import json
from typing import Any

from causeway.errors import LabBroken
from causeway.lab import clock, dirt, filesystems
from causeway.lab.lab import Lab
from causeway.lab.probes.channels import read_channel
from causeway.process import run_all


def status(lab: Lab) -> dict[str, Any]:
    """The lab's state as other tools read it (docs/commands.md, "JSON")."""
    devices, mounted = _devices(lab), filesystems.mounted(lab)
    return {
        "lab": lab.site.name,
        "lab_host": "uml" if clock.is_uml() else "native",
        "clock": clock.name(),
        "not_restored": dirt.left(lab),
        "nodes": [
            {"name": name, "cluster": node.cluster, "role": node.role, "state": lab.state(name)}
            for name, node in lab.site.nodes.items()
        ],
        "links": [
            {
                "a": str(cable.a),
                "b": str(cable.b),
                "network": cable.network,
                "rate_mbit": cable.both_ways,
                "delay_ms": cable.delay_ms,
                "mtu": devices.get(str(cable.a), {}).get("mtu"),
                "up": all(_carrier(devices.get(str(end))) for end in cable.ends),
            }
            for cable in lab.site.cables
        ],
        "channels": [_channel(lab, end, other) for _, end, other in lab.site.channel_ends()],
        "filesystems": [
            {
                "name": name,
                "owner": filesystem.owner,
                "servers": lab.site.servers(name),
                "mount_point": filesystem.mount_point,
                "mounted_on": mounted[name],
            }
            for name, filesystem in lab.site.topology.filesystems.items()
        ],
    }


def _channel(lab: Lab, end: Any, other: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "node": end.node,
        "name": end.name,
        "mode": "802.3ad",
        "hash_policy": "",
        "negotiated": False,
        "members": [{"name": device, "up": False} for device in end.members],
        "peer": f"{other.node}:{other.name}",
    }
    try:
        state = read_channel(lab, end)
    except LabBroken:
        return row
    row |= {"mode": state.mode, "hash_policy": state.hash_policy, "negotiated": state.negotiated}
    row["members"] = [{"name": device, "up": up} for device, up in state.members.items()]
    return row


def _devices(lab: Lab) -> dict[str, dict[str, Any]]:
    """`ip -j link` of every node, also of one that is switched off, by NODE:DEVICE."""
    nodes = [node for node in lab.site.nodes if lab.state(node) != "down"]
    commands = [lab.plug(node, ["ip", "-j", "link"]) for node in nodes]
    found = {}
    for node, result in zip(nodes, run_all(commands, timeout_s=60), strict=True):
        for device in json.loads(result.stdout or "[]"):
            found[f"{node}:{device['ifname']}"] = device
    return found


def _carrier(device: dict[str, Any] | None) -> bool:
    return device is not None and "LOWER_UP" in device["flags"]
