"""What a lab looks like now: nodes, links, channels."""

import socket
import struct
from contextlib import suppress
from fcntl import ioctl
from itertools import groupby
from operator import attrgetter
from typing import Any

from causeway.errors import LabBroken
from causeway.lab import clock, dirt, filesystems
from causeway.lab.lab import Lab
from causeway.lab.probes.channels import read_channel
from causeway.lab.probes.reach import network_of
from causeway.model.thing import Port

#: What a kernel is asked about an adapter (netdevice(7)), and what says that it is up and has a carrier.
_MTU, _FLAGS, _RUNNING = 0x8921, 0x8913, 0x40


def status(lab: Lab) -> dict[str, Any]:
    """The lab's state as other tools read it (docs/commands.md, "JSON")."""
    ports, mounted = _ports(lab), filesystems.mounted(lab)
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
                "mtu": ports[cable.a][0] if cable.a in ports else None,
                "up": all(end in ports and ports[end][1] for end in cable.ends),
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


def _ports(lab: Lab) -> dict[Port, tuple[int, bool]]:
    """MTU of each cable's ends, and whether it is up, as the kernel has them; also of a node that is switched off."""
    ends = sorted((end for cable in lab.site.cables for end in cable.ends), key=attrgetter("node"))
    found = {}
    for node, its in groupby(ends, attrgetter("node")):
        if lab.state(node) == "down":
            continue
        with network_of(lab.board(node)), socket.socket() as asked:
            for end in its:
                name = end.device.encode()
                with suppress(OSError):  # it is not there any more
                    mtu, flags = (ioctl(asked, what, struct.pack("16s24x", name)) for what in (_MTU, _FLAGS))
                    running = struct.unpack_from("=H", flags, 16)[0] & _RUNNING
                    found[end] = (struct.unpack_from("=i", mtu, 16)[0], bool(running))
    return found
