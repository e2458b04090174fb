"""Measure what a lab costs: bring-up, boot of all I/O nodes, tear-down, memory, wall time of the eight streams."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from causeway.lab import blocks, deploy, nuttcp
from causeway.lab.clock import Watch
from causeway.lab.counters import difference, sent_bytes
from causeway.lab.deploy import Deployment
from causeway.lab.lab import Lab
from causeway.lab.nuttcp import Stream
from causeway.model import site
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
    say("booting every I/O node")
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
    up_s = sum(parts.values()) - sum(parts[part] for part in ("filesystems", "boot", "mounts"))
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
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return int(lines["MemAvailable"].split()[0]) / 1024


def _boot_all(lab: Lab) -> dict[str, float]:
    """Free the block that is booted and boot the largest one: what it takes beside what it must take.

    The bound is the time that the boot server's busiest link needs for what went through it, with 24 bytes
    of preamble, check sequence and gap around each frame of 1514.
    """
    pool, server = lab.site.topology.io_nodes, blocks.service_node(lab)
    assert pool is not None
    members = {name: site.block_nodes(pool, name, lab.nodes_of_role("ion")) for name in pool.blocks}
    block = max(members, key=lambda name: len(members[name]))
    ports = [p.device for cable in lab.site.cables for p in cable.ends if p.node == server]
    blocks.deallocate(lab, blocks.booted(lab))
    before, watch = sent_bytes(lab, server, ports), Watch()
    blocks.allocate(lab, block).must()
    wall_s, virtual_s = watch.wall_s, watch.virtual_s
    sent = difference(before, sent_bytes(lab, server, ports))
    rate_mbit = lab.site.topology.networks[pool.network].rate_mbit
    return {
        "nodes": len(members[block]),
        "wall_s": wall_s,
        "virtual_s": virtual_s,
        "first_node_s": min(_booted_at_s(lab, node) for node in members[block]),
        "last_node_s": max(_booted_at_s(lab, node) for node in members[block]),
        "sent_mb": sum(sent.values()) / 1e6,
        "busiest_link_mb": max(sent.values()) / 1e6,
        "bound_s": max(sent.values()) * (1538 / 1514) * 8 / (rate_mbit * 1e6),
    }


def _booted_at_s(lab: Lab, node: str) -> float:
    """Seconds from a node's power-on to the end of its start scripts."""
    return next(line.at_s for line in blocks.console(lab, node) if line.text.startswith("boot ended"))


def _eight_streams(lab: Lab) -> dict[str, float]:
    """Wall seconds per virtual second while eight streams run from the first server to eight I/O nodes."""
    server = lab.nodes_of_role("server")[0]
    peers = lab.booted_io_nodes()[:8]
    streams = [
        Stream(server, peer, lab.site.first_leg(peer).address, peer, "t", 40000 + 100 * i, 5011 + 2 * i)
        for i, peer in enumerate(peers)
    ]
    with nuttcp.servers(lab, peers), nuttcp.running(lab, streams, _SECONDS) as transmitting:
        watch = Watch()
        results = transmitting.results()
        wall_s, virtual_s = watch.wall_s, watch.virtual_s
    total = sum(result.rate_mbit for result in results)
    return {"mbit": total, "wall_s": wall_s, "virtual_s": virtual_s, "wall_over_virtual": wall_s / virtual_s}
