"""Files of clients behind servers that forward to a disk, for scenarios: all at once, each beside what is due."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import ceil

from causeway.lab import disks
from causeway.lab.changes.change import Change
from causeway.lab.probes.fio import Job
from causeway.lab.probes.nuttcp import Stream
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.files import Share, disk_share, each_mb, spread
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.storage import dealt
from causeway.plan.streams import StreamEnds
from causeway.report.result import Table
from causeway.scenario.cast import Archive, Arrays, Forwarded, Gateways, Platforms, Striped
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import TOLERANCE, WHY, Both, both_ways, work
from causeway.scenario.words.routes import rerouted
from causeway.scenario.words.streams import coupled, transmitting

#: Clients, by whom they reach a filesystem's disks, and which that is.
Storage = Forwarded | Arrays | Gateways
#: Seconds for which one client alone writes its file, and how many on a client read that at once, each a part.
_SECONDS, _READERS = 1.2, 2
#: For how long messages pass (seconds): for longer than clients read half of a file each beside them.
_MESSAGES_S = 14.0


def front_ports(stage: Stage, cast: Storage, nodes: Iterable[str]) -> list[Port]:
    """Where clients, or nodes that forward, are plugged into the network that clients are known by."""
    network, wanted = stage.site.known_by(cast.clients[0]).network, list(nodes)
    cables = [cable for cable in stage.site.cables if cable.network == network]
    return [end for node in wanted for cable in cables for end in cable.ends if end.node == node]


def port_in(stage: Stage, node: str, network: str) -> Port:
    """Where a node is plugged into a network."""
    return next(end for c in stage.site.cables if c.network == network for end in c.ends if end.node == node)


def port_mb(stage: Stage, cast: Storage, node: str) -> float:
    """What such a port carries of files, in MB/s."""
    (port,) = front_ports(stage, cast, [node])
    part = spread(stage.site, cast.filesystem, "write").part
    return tcp_goodput_mbit(stage.site.sends_mbit(port), stage.site.mtu(port)) / 8 / part


def array_mb(stage: Stage, cast: Storage | Platforms | Archive) -> dict[Direction, float]:
    """What one server's disk writes and reads, in MB/s, as the site has it."""
    server = stage.site.servers(cast.filesystem)[0]
    shares = {way: disk_share(stage.site, cast.filesystem, server, way) for way in DIRECTIONS}
    return {way: share.mb for way, share in shares.items() if share}


def by_others(stage: Stage, cast: Storage, gateways: Mapping[str, Sequence[str]]) -> tuple[Change, Site]:
    """Clients go to each of these servers by these of its nodes, dealt out in turn; and the site as it is then."""
    by = {
        client: {server: those[place % len(those)] for server, those in gateways.items()}
        for place, client in enumerate(cast.clients)
    }
    site = dealt(stage.site, by)
    return rerouted(stage, site, f"clients go by {' '.join(g for those in gateways.values() for g in those)}"), site


def judge_ratio(stage: Stage, title: str, due: float, seen_mb: float, one_mb: float, of: str) -> None:
    """What was seen, in rates of something else, beside what is claimed."""
    ratio = round(seen_mb / one_mb, 3)
    stage.near(f"{title}: in rates of {of}", round(due, 3), ratio, "", within=TOLERANCE, why=WHY)


def clear(stage: Stage, forwarded: Storage | Striped) -> None:
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
    mib = _SECONDS * port_mb(stage, forwarded, forwarded.clients[0]) * 1e6 / 2**20
    return _READERS * ceil(mib / _READERS)


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
    """Files that were read while messages passed, and these: MB/s of all, due and seen."""

    due_mb: float
    seen_mb: float
    messages_mb: float
    messages_due_mb: float

    @property
    def row(self) -> list[str]:
        return [f"{mb:.1f}" for mb in (self.due_mb, self.seen_mb, self.messages_mb)]


def read_beside(stage: Stage, forwarded: Forwarded, couples: Sequence[tuple[str, str]]) -> Beside:
    """Clients read what `files` wrote, all at once, while streams pass between couples, one for each."""
    site, network = stage.site, stage.site.known_by(forwarded.clients[0]).network
    at = site.topology.filesystems[forwarded.filesystem].mount_point
    part = _size_mib(stage, forwarded) // 2 // _READERS
    jobs = [Job(client, f"{at}/io.{client}", n * part, part) for client in forwarded.clients for n in range(_READERS)]
    disks.forget(site)
    return beside(stage, forwarded.filesystem, jobs, messages(stage, couples, network), _MESSAGES_S)


def messages(stage: Stage, couples: Sequence[tuple[str, str]], network: str) -> list[Stream]:
    """A stream for each couple by a network; a couple may come several times."""
    streams = enumerate(coupled(stage, couples, network))
    return [replace(stream, label=f"{stream.label}-{place}") for place, stream in streams]


def beside(stage: Stage, filesystem: str, jobs: Sequence[Job], streams: Sequence[Stream], seconds: float) -> Beside:
    """Clients read, all at once, while streams pass for so long. Of the two what ends first was beside the other."""
    with transmitting(stage, streams, seconds) if streams else nullcontext() as running:
        did = work(stage, filesystem, jobs, "read")
        measured = running.results() if running else []
    ends = {m.stream.label: StreamEnds(m.stream.label, m.stream.sender, m.source, m.destination) for m in measured}
    due = each_mb(stage.site, did.shares | {label: [Share(end, 1.0)] for label, end in ends.items()})
    slowest = min(due[client] for client in did.shares)
    sent_mb, sent_due_mb = sum(m.rate_mbit for m in measured) / 8, sum(due[label] for label in ends)
    return Beside(slowest * len(did.shares), did.done.rate_mb, sent_mb, sent_due_mb)


def judge_beside(stage: Stage, title: str, seen: Beside) -> None:
    """What all clients read together, beside what is computed of their connections and of the streams."""
    due, got = round(seen.due_mb, 2), round(seen.seen_mb, 2)
    stage.near(f"{title}: read", due, got, "MB/s", within=TOLERANCE, why=WHY)
