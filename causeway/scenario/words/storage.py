"""Files of clients behind servers that forward to a disk, for scenarios: all at once, each beside what is due."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import ceil

from causeway.lab import disks
from causeway.lab.changes.change import Change
from causeway.lab.probes.fio import Job
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.files import Share, disk_share, each_mb
from causeway.plan.filesystems.spread import Direction
from causeway.plan.storage import dealt
from causeway.plan.streams import StreamEnds
from causeway.report.result import Table
from causeway.scenario.cast import Forwarded
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import TOLERANCE, WHY, Both, both_ways, work
from causeway.scenario.words.routes import rerouted
from causeway.scenario.words.streams import coupled, transmitting

#: Seconds for which one client alone writes its file, and how many on a client read that at once, each a part.
_SECONDS, _READERS = 1.2, 2
#: For how long messages pass (seconds): for longer than clients read half of a file each beside them.
_MESSAGES_S = 14.0


def client_port(stage: Stage, forwarded: Forwarded, node: str) -> Port:
    """Where a client, or a node that forwards, is plugged into the network that clients are known by."""
    network = stage.site.known_by(forwarded.clients[0]).network
    (port,) = (p for cable in stage.site.cables if cable.network == network for p in cable.ends if p.node == node)
    return port


def link_mb(stage: Stage, forwarded: Forwarded, node: str) -> float:
    """What that wire carries of files, in MB/s."""
    port = client_port(stage, forwarded, node)
    return tcp_goodput_mbit(stage.site.sends_mbit(port), stage.site.mtu(port)) / 8


def array_mb(stage: Stage, forwarded: Forwarded) -> Mapping[str, float]:
    """What the filesystem's disk writes and reads, in MB/s."""
    (server,) = stage.site.servers(forwarded.filesystem)
    ways: tuple[Direction, ...] = ("write", "read")
    shares = {way: disk_share(stage.site, forwarded.filesystem, server, way) for way in ways}
    return {way: share.mb for way, share in shares.items() if share}


def clear(stage: Stage, forwarded: Forwarded) -> None:
    """Each client takes its own file away: another would go on writing to what it knows, a stale handle."""
    at = stage.site.topology.filesystems[forwarded.filesystem].mount_point
    for client in forwarded.clients:
        stage.lab.on(client, "rm", "-f", f"{at}/io.{client}").must()


def files(stage: Stage, forwarded: Forwarded, clients: Sequence[str]) -> Both:
    """Clients write and read, all at once, a file each."""
    size_mib = _size_mib(stage, forwarded)
    return both_ways(stage, forwarded.filesystem, clients, size_mib=size_mib, shared=False, readers=_READERS)


def _size_mib(stage: Stage, forwarded: Forwarded) -> int:
    """Of each client's file."""
    mib = _SECONDS * link_mb(stage, forwarded, forwarded.clients[0]) * 1e6 / 2**20
    return _READERS * ceil(mib / _READERS)


def shared_out(stage: Stage, forwarded: Forwarded, gateways: Sequence[str]) -> tuple[Change, Site]:
    """All clients go by some of those who forward, dealt out in turn; and the site as it is then."""
    (server,) = stage.site.servers(forwarded.filesystem)
    by = {client: {server: gateways[place % len(gateways)]} for place, client in enumerate(forwarded.clients)}
    site = dealt(stage.site, by)
    return rerouted(stage, site, f"all clients go by {' '.join(gateways)}"), site


def judge_ratio(stage: Stage, title: str, due: float, seen_mb: float, one_mb: float, of: str) -> None:
    """What was measured, in rates of something else, beside what is claimed."""
    stage.near(f"{title}: in rates of {of}", round(due, 2), round(seen_mb / one_mb, 2), "", within=TOLERANCE, why=WHY)


def show(stage: Stage, title: str, head: str, rows: Mapping[str, Both]) -> None:
    """A row for each of some measurements: what all clients had, computed and measured."""
    lines = []
    for name, seen in rows.items():
        pairs = ((f"{outcome.bound_mb:.1f}", f"{outcome.measured_mb:.1f}") for outcome in seen.ways.values())
        lines.append([name, *(value for pair in pairs for value in pair)])
    columns = [head, "write, computed", "measured", "read, computed", "measured"]
    stage.show(Table(f"MB/s of all clients, {title}", columns, lines))


@dataclass(frozen=True)
class Beside:
    """Clients' files that were read while messages passed: MB/s of all, due and seen; and what the messages had."""

    due_mb: float
    seen_mb: float
    messages_mb: float

    @property
    def row(self) -> list[str]:
        return [f"{mb:.1f}" for mb in (self.due_mb, self.seen_mb, self.messages_mb)]


def read_beside(stage: Stage, forwarded: Forwarded, couples: Sequence[tuple[str, str]]) -> Beside:
    """Clients read what `files` wrote, all at once, while streams pass between couples, one for each."""
    site, network = stage.site, stage.site.known_by(forwarded.clients[0]).network
    streams = [
        replace(stream, label=f"{stream.label}-{place}")
        for place, stream in enumerate(coupled(stage, couples, network))
    ]
    at = site.topology.filesystems[forwarded.filesystem].mount_point
    part = _size_mib(stage, forwarded) // 2 // _READERS
    readers = [(client, n * part) for client in forwarded.clients for n in range(_READERS)]
    jobs = [Job(client, f"{at}/io.{client}", place, part) for client, place in readers]
    disks.forget(site)
    with transmitting(stage, streams, _MESSAGES_S) if streams else nullcontext() as running:
        did = work(stage, forwarded.filesystem, jobs, "read")
        measured = running.results() if running else []
    ends = (StreamEnds(m.stream.label, m.stream.sender, m.source, m.destination) for m in measured)
    due = each_mb(site, did.shares | {end.label: [Share(end, 1.0)] for end in ends})
    slowest = min(due[client] for client in forwarded.clients)
    return Beside(slowest * len(forwarded.clients), did.done.rate_mb, sum(m.rate_mbit for m in measured) / 8)


def judge_beside(stage: Stage, title: str, seen: Beside) -> None:
    """What all clients read together, beside what is computed of their connections and of the streams."""
    due, got = round(seen.due_mb, 2), round(seen.seen_mb, 2)
    stage.near(f"{title}: read", due, got, "MB/s", within=TOLERANCE, why=WHY)
