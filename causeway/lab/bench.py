"""Measure what a lab costs: bring-up, boot of all diskless nodes, tear-down, memory, wall time of eight streams."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from causeway.lab import deploy, pools
from causeway.lab.clock import Watch
from causeway.lab.deploy import Deployment
from causeway.lab.lab import Lab
from causeway.lab.probes import nuttcp
from causeway.lab.probes.counters import difference, sent_bytes
from causeway.lab.probes.nuttcp import Stream
from causeway.meminfo import kib_of
from causeway.model.thing import Port
from causeway.model.topology import ChannelEnd
from causeway.process import run

_SECONDS = 5.0
T = TypeVar("T")


def measure(wanted: Deployment, say: Callable[[str], None]) -> dict[str, Any]:
    """One site size on this lab host: our bring-up beside `containerlab deploy` of the same file by hand.

    The first bring-up reads everything from the image for the first time; it is reported (`first_up_s`)
    and not compared, nor are boot and filesystems, which containerlab does not do. Seconds are of wall time, memory
    in MiB.
    """
    free_before = _available_mib()
    first, first_s = _timed(lambda: deploy.up(wanted, say))
    used_mib = free_before - _available_mib()
    say("eight streams")
    streams = _eight_streams(first)
    boot = None
    if first.site.boot_pool():
        say("booting every diskless node")
        boot = _boot_all(first) | {"memory_mib": free_before - _available_mib()}
    files = first.folder
    nodes, links = len(first.site.nodes), len(first.site.cables)

    keep = Path("/run/causeway/by-hand")
    run(["cp", "-r", str(files), str(keep)]).must()
    _, down_s = _timed(lambda: deploy.down(first))

    by_hand = Lab(first.site, keep)
    say("containerlab deploy by hand")
    _, hand_up_s = _timed(lambda: deploy.containerlab(by_hand, "deploy", say))
    _, hand_down_s = _timed(lambda: deploy.containerlab(by_hand, "destroy", say))

    again = deploy.up(wanted, say)
    parts = again.bring_up_s
    up_s = sum(s for part, s in parts.items() if part not in ("filesystems", "boot", "mounts"))
    deploy.down(again)
    return {
        "nodes": nodes,
        "links": links,
        "first_up_s": first_s,
        "up_s": up_s,
        "up_parts_s": parts,
        "down_s": down_s,
        "up_s_per_node": up_s / nodes,
        "by_hand_up_s": hand_up_s,
        "by_hand_down_s": hand_down_s,
        "up_over_by_hand": up_s / hand_up_s,
        "memory_mib": used_mib,
        "memory_mib_per_node": used_mib / nodes,
        "eight_streams": streams,
        "boot": boot,
    }


def _timed(action: Callable[[], T]) -> tuple[T, float]:
    watch = Watch()
    result = action()
    return result, watch.wall_s


def _available_mib() -> float:
    """Memory that is not in use, page cache not counted as used."""
    return kib_of("MemAvailable") / 1024


def _boot_all(lab: Lab) -> dict[str, float]:
    """Switch diskless nodes off and boot as many as can be together: what it takes beside what it must take.

    The bound is the time that the boot server's busiest link needs for what went through it, with 24 bytes
    of preamble, check sequence and gap around each frame of 1514.
    """
    server = pools.boot_server(lab)
    ports = [p.device for cable in lab.site.cables for p in cable.ends if p.node == server]
    nodes, boot = pools.boot_largest(lab)
    before, watch = sent_bytes(lab, server, ports), Watch()
    boot()
    wall_s, virtual_s = watch.wall_s, watch.virtual_s
    sent = difference(before, sent_bytes(lab, server, ports))
    rates = {port: lab.site.sends_mbit(Port(server, port)) for port in ports}
    return {
        "nodes": len(nodes),
        "wall_s": wall_s,
        "virtual_s": virtual_s,
        "first_node_s": min(pools.up_at_s(lab, node) for node in nodes),
        "last_node_s": max(pools.up_at_s(lab, node) for node in nodes),
        "sent_mb": sum(sent.values()) / 1e6,
        "busiest_link_mb": max(sent.values()) / 1e6,
        "bound_s": max(sent[port] * (1538 / 1514) * 8 / (rates[port] * 1e6) for port in ports),
    }


def _eight_streams(lab: Lab) -> dict[str, float] | None:
    """Wall seconds per virtual second while eight streams run from a host with a channel; None where there is none."""
    end = _widest_channel(lab)
    if end is None:
        return None
    server, network = end.node, lab.site.nodes[end.node].interfaces[end.name].network
    near = [
        name for name, node in lab.site.nodes.items() if any(i.network == network for i in node.interfaces.values())
    ]
    up = [name for name in near if name != server and lab.state(name).startswith("up")]
    peers = sorted(up, key=lambda name: name not in lab.site.diskless())[:8]
    streams = [
        Stream(server, peer, lab.site.address(peer, network), peer, "t", 40000 + 100 * i, 5011 + 2 * i)
        for i, peer in enumerate(peers)
    ]
    with nuttcp.servers(lab, peers), nuttcp.running(lab, streams, _SECONDS) as transmitting:
        watch = Watch()
        results = transmitting.results()
        wall_s, virtual_s = watch.wall_s, watch.virtual_s
    total = sum(result.rate_mbit for result in results)
    return {"mbit": total, "wall_s": wall_s, "virtual_s": virtual_s, "wall_over_virtual": wall_s / virtual_s}


def _widest_channel(lab: Lab) -> ChannelEnd | None:
    """The first host's end of a channel that has the most members."""
    ends = [end for _, end, _ in lab.site.channel_ends() if end.name in lab.site.nodes[end.node].interfaces]
    return max(ends, key=lambda end: len(end.members), default=None)
