"""A striped filesystem that clients reach through gateways, for scenarios: what these pass on, beside what is due."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address
from math import ceil

from causeway.lab import filesystems
from causeway.lab.probes.connections import carried
from causeway.lab.probes.counters import difference, sent_bytes
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.files import spread
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.paths import Segment, path
from causeway.plan.storage import dealt
from causeway.scenario.cast import Defaulted, Gateways
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import Both, both_ways
from causeway.scenario.words.routes import next_hop, rerouted
from causeway.scenario.words.storage import by_others

#: Seconds for which files are written, how many on a client read its files at once, and how many tasks it has where it
#: writes alone: one waits for each of its calls, and has an eighth less.
_SECONDS, _READERS, _TASKS = 0.9, 2, 4
#: What they are at least where it writes alone.
_LEAST_MIB = 32


def gateway_mb(site: Site, cast: Gateways, client: str) -> dict[Direction, float]:
    """MB/s of files that a client's gateway passes on: by the slower one of the cables at its two sides."""
    first, second, *_ = path(site, client, site.known_by(site.servers(cast.filesystem)[0]).address).hops
    return _least_mb(site, cast.filesystem, [first.segments[-1], second.segments[0]])


def stripes_mb(site: Site, filesystem: str, ports: Collection[Port]) -> float:
    """MB/s of a file that goes to each server by one of these ports of its own: what the slowest lets through."""
    mbit = min(tcp_goodput_mbit(site.sends_mbit(port), site.mtu(port)) for port in ports)
    return mbit / 8 / spread(site, filesystem, "write").part


@contextmanager
def going_by(stage: Stage, cast: Gateways, nodes: Sequence[str]) -> Iterator[None]:
    """All clients go by these, dealt out in turn; what is expected is of the site as it is then."""
    change, site = by_others(stage, cast, dict.fromkeys(stage.site.servers(cast.filesystem), nodes))
    made = stage.make(change)
    with stage.as_if(site):
        yield
    made.undo()


@contextmanager
def led_by(stage: Stage, cast: Gateways, by: Mapping[str, str]) -> Iterator[None]:
    """Some clients go by others' gateways; what is expected is of the site as it is then."""
    servers = stage.site.servers(cast.filesystem)
    site = dealt(stage.site, {client: dict.fromkeys(servers, gateway) for client, gateway in by.items()})
    made = stage.make(rerouted(stage, site, ", ".join(f"{client} goes by {gateway}" for client, gateway in by.items())))
    with stage.as_if(site):
        yield
    made.undo()


def judge_next(stage: Stage, cast: Gateways) -> None:
    """Each client goes by its own gateway."""
    to = stage.site.known_by(stage.site.servers(cast.filesystem)[0]).address
    by = {client: str(path(stage.site, client, to).hops[0].next_hop) for client in cast.clients}
    stage.same("whom the clients go by", by, {client: next_hop(stage, client, to) for client in cast.clients})


def narrow_mb(site: Site, cast: Gateways) -> dict[Direction, float]:
    """MB/s of files that the cable carries which is everybody's."""
    mbit = tcp_goodput_mbit(site.sends_mbit(cast.narrow), site.mtu(cast.narrow))
    return {way: mbit / 8 / spread(site, cast.filesystem, way).carried for way in DIRECTIONS}


def _least_mb(site: Site, filesystem: str, segments: Sequence[Segment]) -> dict[Direction, float]:
    senders = [segment.cables[0].sender for segment in segments]
    mbit = min(tcp_goodput_mbit(site.sends_mbit(port), site.mtu(port)) for port in senders)
    return {way: mbit / 8 / spread(site, filesystem, way).carried for way in DIRECTIONS}


def files(stage: Stage, cast: Gateways, clients: Sequence[str], due_mb: float, tasks: int = 1) -> Both:
    """Clients write and read, all at once, for about a second of what is due of all together; so many tasks on each.

    Their files are gone afterwards: all are in the lab's memory.
    """
    each = tasks * _READERS * ceil(_SECONDS * due_mb * 1e6 / 2**20 / len(clients) / tasks / _READERS)
    readers = _READERS if tasks == 1 else 1
    return _then_gone(stage, cast.filesystem, clients, each, readers, tasks)


def _then_gone(stage: Stage, filesystem: str, clients: Sequence[str], size_mib: int, readers: int, tasks: int) -> Both:
    try:
        return both_ways(stage, filesystem, clients, size_mib=size_mib, shared=False, readers=readers, tasks=tasks)
    finally:
        clear(stage, filesystem, clients)


def lone_files(stage: Stage, cast: Gateways, client: str, due_mb: float) -> Both:
    """One client writes by several tasks, and reads one file, which comes by as many servers as it has parts."""
    return Both(files(stage, cast, [client], due_mb, _TASKS).written, files(stage, cast, [client], due_mb).read)


def clear(stage: Stage, filesystem: str, clients: Sequence[str]) -> None:
    """Each client takes its own files away."""
    at = stage.site.topology.filesystems[filesystem].mount_point
    for client in clients:
        stage.lab.on(client, "sh", "-c", f"rm -f {at}/io.{client}*").must()


def client_files(stage: Stage, cast: Defaulted, device: str) -> Both:
    """A client writes and reads, by several tasks, for about a second of what one of its ports carries, or longer.

    A slow port has _LEAST_MIB to carry, for seconds: a last packet that is lost costs a quarter of one.
    """
    due_mb = wire_mb(stage, cast.filesystem, cast.client, device)["write"]
    size_mib = _TASKS * ceil(max(_LEAST_MIB, _SECONDS * due_mb * 1e6 / 2**20) / _TASKS)
    return _then_gone(stage, cast.filesystem, [cast.client], size_mib, 1, _TASKS)


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


def connected_from(stage: Stage, node: str, filesystem: str) -> dict[str, set[IPv4Address]]:
    """From which of a node's addresses it has connections to each server of a filesystem."""
    daemons = filesystems.driver_of(stage.lab, filesystem).listening(stage.lab, filesystem)
    found: dict[str, set[IPv4Address]] = {server: set() for server in stage.site.servers(filesystem)}
    for (own, _), there in carried(stage.lab, node, "write"):
        if there in daemons:
            found[daemons[there]].add(own)
    return found
