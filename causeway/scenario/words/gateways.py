"""A striped filesystem that clients reach through gateways, for scenarios: what these pass on, beside what is due."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil

from causeway.lab.probes.counters import difference, sent_bytes
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.files import spread
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.paths import Segment, path
from causeway.scenario.cast import Gateways
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import Both, both_ways

#: Seconds for which files are written, and how many on a client read its files at once.
_SECONDS, _READERS = 1.2, 2


def gateway_mb(site: Site, cast: Gateways, client: str) -> dict[Direction, float]:
    """MB/s of files that a client's gateway passes on: by the slower one of the cables at its two sides."""
    first, second, *_ = path(site, client, site.known_by(site.servers(cast.filesystem)[0]).address).hops
    return _least_mb(site, cast.filesystem, [first.segments[-1], second.segments[0]])


def narrow_mb(site: Site, cast: Gateways) -> dict[Direction, float]:
    """MB/s of files that the cable carries which is everybody's."""
    mbit = tcp_goodput_mbit(site.sends_mbit(cast.narrow), site.mtu(cast.narrow))
    return {way: mbit / 8 / spread(site, cast.filesystem, way).carried for way in DIRECTIONS}


def _least_mb(site: Site, filesystem: str, segments: Sequence[Segment]) -> dict[Direction, float]:
    senders = [segment.cables[0].sender for segment in segments]
    mbit = min(tcp_goodput_mbit(site.sends_mbit(port), site.mtu(port)) for port in senders)
    return {way: mbit / 8 / spread(site, filesystem, way).carried for way in DIRECTIONS}


def files(stage: Stage, cast: Gateways, clients: Sequence[str], due_mb: float, tasks: int = 1) -> Both:
    """Clients write and read, all at once, for about a second of what is due of all together; so many tasks on each."""
    each = tasks * _READERS * ceil(_SECONDS * due_mb * 1e6 / 2**20 / len(clients) / tasks / _READERS)
    stage.defer(lambda: clear(stage, cast, clients), "the files are gone")
    readers = _READERS if tasks == 1 else 1
    return both_ways(stage, cast.filesystem, clients, size_mib=each, shared=False, readers=readers, tasks=tasks)


def clear(stage: Stage, cast: Gateways, clients: Sequence[str]) -> None:
    """Each client takes its own files away."""
    at = stage.site.topology.filesystems[cast.filesystem].mount_point
    for client in clients:
        stage.lab.on(client, "sh", "-c", f"rm -f {at}/io.{client}*").must()


def client_files(stage: Stage, filesystem: str, client: str, seconds: float = _SECONDS) -> Both:
    """One client writes and reads a file, for about so long as writing it takes by its cables."""
    site, server = stage.site, stage.site.servers(filesystem)[0]
    first = path(site, client, site.known_by(server).address).hops[0].sender.device
    due_mb = wire_mb(stage, filesystem, client, first)["write"]
    size_mib = _READERS * ceil(seconds * due_mb * 1e6 / 2**20 / _READERS)
    at = site.topology.filesystems[filesystem].mount_point
    stage.defer(lambda: stage.lab.on(client, "rm", "-f", f"{at}/io.{client}").must(), "the file is gone")
    return both_ways(stage, filesystem, [client], size_mib=size_mib, shared=False, readers=_READERS)


def wire_mb(stage: Stage, filesystem: str, node: str, device: str) -> dict[Direction, float]:
    """MB/s of files that one port of a node carries."""
    port = Port(node, device)
    mbit = tcp_goodput_mbit(stage.site.sends_mbit(port), stage.site.mtu(port))
    return {way: mbit / 8 / spread(stage.site, filesystem, way).carried for way in DIRECTIONS}


@contextmanager
def carried_by(stage: Stage, node: str, devices: Sequence[str]) -> Iterator[Callable[[], dict[str, int]]]:
    """Gives what tells how many bytes each of a node's devices has sent since."""
    before = sent_bytes(stage.lab, node, devices)
    yield lambda: difference(before, sent_bytes(stage.lab, node, devices))
