"""One look at all of a lab without starting a process: nodes, channels, counters, mounts, faults.

What it costs is a file or two of each node, read through /proc, and a question to each switch.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from causeway.errors import LabBroken
from causeway.lab import clock, dirt, filesystems
from causeway.lab.faults import ledger
from causeway.lab.lab import Lab
from causeway.lab.probes import unixctl
from causeway.lab.probes.channels import parse_bonding, parse_ovs_bond, parse_ovs_bonds
from causeway.lab.probes.load import Meter

#: Least seconds on the wall between two looks, and how many times what a look took: so it costs less than 2 %.
_EVERY_S, _TIMES = 1.0, 60
#: Where ovs-vswitchd listens; not by /var/run, a link that would lead to the files of who looks.
_SWITCHES_SOCKETS = "/run/openvswitch"
#: How long it sleeps at a time, on the lab's clock: idle virtual time runs ahead of the wall by far.
_NAP_S = (0.05, 4.0)
#: How many looks one watcher takes: the files in which they wait to be read do not grow for ever, nor does one stay
#: that nobody reads.
_LOOKS = 600


def glances(lab: Lab) -> Iterator[dict[str, Any]]:
    """One look after the other, as JSON can hold them (docs/commands.md, `watch --json`)."""
    meter, nap_s = Meter(lab), _NAP_S[0]
    for _ in range(_LOOKS):
        begun = clock.wall_s()
        look = _glance(lab, meter)
        yield look | {"took_s": round(clock.wall_s() - begun, 6)}
        now = clock.wall_s()
        until = now + max(_EVERY_S, _TIMES * (now - begun))
        while now < until:
            time.sleep(nap_s)
            passed, now = clock.wall_s() - now, clock.wall_s()
            if passed < 0.1:
                nap_s = min(2 * nap_s, _NAP_S[1])
            elif passed > 0.4:
                nap_s = max(nap_s / 2, _NAP_S[0])


def _glance(lab: Lab, meter: Meter) -> dict[str, Any]:
    return {
        "lab": lab.site.name,
        "clock": clock.name(),
        "at_s": round(time.monotonic(), 6),
        "sent_bytes": meter.look(),
        "nodes": {node: lab.state(node) for node in lab.site.nodes},
        "channels": list(_channels(lab)),
        "mounts": filesystems.mounted(lab),
        "faults": [{"id": entry.id, "name": entry.name} for entry in ledger.entries(lab) if entry.steps],
        "not_restored": dirt.left(lab),
    }


def _channels(lab: Lab) -> Iterator[dict[str, Any]]:
    """Each end as its kernel or switch has it; of one that says nothing (its node is off, say) nothing is known."""
    asked: dict[str, dict[str, str]] = {}
    for _, end, other in lab.site.channel_ends():
        found = None
        with suppress(LabBroken, OSError):
            if lab.site.is_linux_bond(end):
                text = Path(f"/proc/{lab.board(end.node)}/net/bonding/{end.name}").read_text()
                found = parse_bonding(end, text)
            else:
                if end.node not in asked:
                    asked[end.node] = {}
                    asked[end.node] = _bonds(lab, end.node)
                if end.name in asked[end.node]:
                    found = parse_ovs_bond(end, asked[end.node][end.name])
        yield {
            "node": end.node,
            "name": end.name,
            "peer": f"{other.node}:{other.name}",
            "negotiated": found and found.negotiated,
            "members": {member: found and found.members.get(member, False) for member in end.members},
        }


def _bonds(lab: Lab, node: str) -> dict[str, str]:
    return parse_ovs_bonds(unixctl.ask(lab.file(node, _SWITCHES_SOCKETS), "bond/show"))
