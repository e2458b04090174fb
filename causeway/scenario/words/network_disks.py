"""A disk that a host serves to others over the network, for scenarios: what they read and write of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from causeway.lab.changes.change import Change, Step
from causeway.lab.faults.links import SHAPER
from causeway.lab.probes import disk_server, fio
from causeway.lab.probes.connections import listens
from causeway.lab.probes.fio import DiskJob
from causeway.plan.bounds import leaves_mbit, mbit
from causeway.plan.fairshare import WIRE_OVERHEAD, tcp_goodput_mbit
from causeway.plan.filesystems.spread import Direction
from causeway.scenario.cast import Equals
from causeway.scenario.stage import Stage

#: Where it listens (IANA: nbd), how large it is, and for how long clients work.
_PORT, _SIZE_MIB, _SECONDS, _STARTS_S = 10809, 512, 1.5, 10


@dataclass(frozen=True)
class Requests:
    """So many requests of a size at once."""

    kib: int
    depth: int

    def alone_mb(self, wire_mb: float, trip_s: float) -> float:
        """MB/s of one client: all that it has asked for takes its time on the wire, and the first a round trip more.

        More than a wire's is under way where it asks for enough.
        """
        asked_mb = self.depth * self.kib * 1024 / 1e6
        return min(wire_mb, asked_mb / (self.kib * 1024 / 1e6 / wire_mb + trip_s))


def wire_mb(stage: Stage, cast: Equals) -> float:
    """What the server's link carries of a disk, in MB/s."""
    port = cast.ports[cast.hosts[0]]
    return tcp_goodput_mbit(stage.site.sends_mbit(port), stage.site.mtu(port)) / 8


def without_bursts(stage: Stage, cast: Equals) -> Change:
    """The hosts' wires let two frames pass at once after a pause, not 32 KiB: that would be a part of a block."""
    there, back = list[Step](), list[Step]()
    for cable in (cable for cable in stage.site.cables if {*cast.ports.values()} & {*cable.ends}):
        for end in cable.ends:
            usual = SHAPER.format(rate=mbit(leaves_mbit(stage.site, end)))
            small = usual.replace("burst 32k", f"burst {2 * (stage.site.mtu(end) + WIRE_OVERHEAD)}")
            for steps, words in ((there, small), (back, usual)):
                argv = ("tc", "qdisc", "change", "dev", end.device, *words.split())
                steps.append(Step(end.node, argv, plugged=True))
    return Change(
        f"the cables of {', '.join(cast.hosts)} let no more than two frames pass at once", (*there,), (*back,)
    )


@contextmanager
def served(stage: Stage, cast: Equals) -> Iterator[None]:
    """The first host serves a disk to the others meanwhile."""
    server = cast.hosts[0]
    program = Path(disk_server.__file__).read_text()
    started = stage.lab.start_on(server, "python3", "-c", program, str(_PORT), str(_SIZE_MIB * 2**20))
    try:
        stage.until("the disk is served", lambda: listens(stage.lab, server, _PORT), is_=True, within_s=_STARTS_S)
        yield
    finally:
        started.kill()


def transfer(
    stage: Stage,
    cast: Equals,
    clients: Sequence[str],
    direction: Direction,
    asked: Requests,
    due_mb: float,
    apart_s: float = 0,
) -> float:
    """MB/s of all clients, for a while at what is due, each on a piece of the disk and so much later than the other."""
    uri = f"nbd://{stage.site.address(cast.hosts[0], cast.network)}:{_PORT}/disk"
    step, most_mib = max(1, asked.kib // 1024), _SIZE_MIB // len(clients)
    mib = step * min(ceil(_SECONDS * due_mb * 1e6 / 2**20 / len(clients) / step), most_mib // step)
    jobs = [
        DiskJob(client, uri, mib * place, mib, asked.kib, asked.depth, place * apart_s)
        for place, client in enumerate(clients)
    ]
    return fio.play(stage.lab, jobs, direction).rate_mb
