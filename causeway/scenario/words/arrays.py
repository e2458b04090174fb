"""Files that lie on disks of one's choice, behind servers that forward, for scenarios: each beside what is due."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, sqrt

from causeway.lab import disks
from causeway.lab.filesystems import driver_of
from causeway.lab.probes import fio
from causeway.lab.probes.connections import carried
from causeway.lab.probes.fio import Job
from causeway.model.site import Site
from causeway.plan.files import done_s, share
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.streams import End
from causeway.report.result import Lines, Table
from causeway.scenario.cast import Archive, Arrays, Platforms
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import TOLERANCE, WHY
from causeway.scenario.words.storage import array_mb, port_mb

#: Seconds for which files are written: a file's ends take some hundredths of one.
#: And how many on a client read a file at once.
_SECONDS, _READERS = 2.5, 2
#: Of names that lead to disks by chance: so many standard deviations fewer than the mean lead to one in a million.
_SURE = 4.8
#: Clients, and the servers on whose disks their files lie.
Disks = Arrays | Platforms | Archive


@dataclass(frozen=True)
class File:
    """A client's own on one server's disk."""

    client: str
    server: str

    def __str__(self) -> str:
        return f"{self.client} on {self.server}"


@dataclass(frozen=True)
class Rate:
    """MB/s, due and seen."""

    due: float
    seen: float


@dataclass(frozen=True)
class Ends:
    """When some files that began together were done, computed and seen, in seconds; and how large they are, in MB."""

    sizes_mb: Mapping[File, float]
    due_s: Mapping[File, float]
    seen_s: Mapping[File, float]

    def together(self, files: Iterable[File] = ()) -> Rate:
        """What some of them had (none: all) until the last of these was done."""
        those = list(files) or list(self.sizes_mb)
        total = sum(self.sizes_mb[file] for file in those)
        return Rate(*(total / max(times[file] for file in those) for times in (self.due_s, self.seen_s)))

    def by_server(self) -> dict[str, Rate]:
        """The same of each server's files."""
        servers = dict.fromkeys(file.server for file in self.sizes_mb)
        return {server: self.together(f for f in self.sizes_mb if f.server == server) for server in servers}

    def apart(self) -> Rate:
        """What the servers' files had, each server's until its own last one was done, added up."""
        rates = self.by_server().values()
        return Rate(sum(rate.due for rate in rates), sum(rate.seen for rate in rates))


#: Of what was written, and of what was read.
Both = Mapping[Direction, Ends]


@dataclass(frozen=True)
class Placed:
    """Clients' files, and where the daemons listen that have their disks (-> server)."""

    names: Mapping[File, str]
    daemons: Mapping[End, str]


def place(stage: Stage, cast: Disks, files: Sequence[File] = ()) -> Placed:
    """Empty files, each on its server's disk (none are said: one of each client on each); where they lie is seen.

    They are gone in the end; who writes to one afterwards makes it anew, in its place.
    """
    due = list(files) or [File(*pair) for pair in product(cast.clients, cast.servers)]
    maker, at = due[0].client, stage.site.topology.filesystems[cast.filesystem].mount_point
    most = max(Counter(file.server for file in due).values())
    lie = _made(stage, cast, maker, "on", _names(most, len(cast.servers)))
    found = {file: f"{at}/{lie[file.server].pop()}" for file in due if lie[file.server]}
    stage.same("files that lie where they should", len(due), len(found))
    if left := " ".join(name for names in lie.values() for name in names):
        stage.lab.on(maker, "sh", "-c", f"cd {at} && rm {left}").must()
    return _placed(stage, cast, found)


def as_they_come(stage: Stage, cast: Disks, clients: Sequence[str]) -> Placed:
    """An empty file of each client, on the disk that its name leads to."""
    at = stage.site.topology.filesystems[cast.filesystem].mount_point
    lie = _made(stage, cast, clients[0], "by-name", len(clients))
    found = [(server, name) for server, names in lie.items() for name in names]
    return _placed(stage, cast, {File(c, s): f"{at}/{name}" for c, (s, name) in zip(clients, found, strict=True)})


def _made(stage: Stage, cast: Disks, maker: str, stem: str, count: int) -> dict[str, list[str]]:
    """Empty files STEM.1, STEM.2, ..., by the servers on whose disks they lie."""
    at, driver = stage.site.topology.filesystems[cast.filesystem].mount_point, driver_of(stage.lab, cast.filesystem)
    stage.defer(lambda: _remove(stage, maker, f"{at}/{stem}.*"))
    stage.lab.on(maker, "sh", "-c", f"cd {at} && touch $(seq -f {stem}.%.0f {count})").must()
    lie: dict[str, list[str]] = {server: [] for server in cast.servers}
    for name, server in sorted(driver.holders(stage.lab, cast.filesystem).items()):
        if name.startswith(f"{stem}."):
            lie[server].append(name)
    return lie


def _placed(stage: Stage, cast: Disks, names: Mapping[File, str]) -> Placed:
    placed = Placed(names, driver_of(stage.lab, cast.filesystem).listening(stage.lab, cast.filesystem))
    stage.defer(lambda: take_away(stage, placed))
    return placed


def take_away(stage: Stage, placed: Placed) -> None:
    """Their clients take files away: for another the one who wrote would have a stale handle."""
    for client in dict.fromkeys(file.client for file in placed.names):
        own = " ".join(name for file, name in placed.names.items() if file.client == client)
        _remove(stage, client, own)


def put_back(stage: Stage, placed: Placed, files: Iterable[File]) -> None:
    """Clients make files anew that were taken away, with one MiB in each: so the disks find room for them.

    What they know of that is read from them again after `disks.forget`, which may take a second.
    """
    for file in files:
        name = placed.names[file]
        stage.lab.on(file.client, "dd", "if=/dev/zero", f"of={name}", "bs=1M", "count=1", "conv=fsync").must()


def _names(most: int, servers: int) -> int:
    """So many that as many as are wanted on one server's disk lie on each, whatever their hashes."""
    return ceil(((_SURE + sqrt(_SURE**2 + 4 * most)) / 2) ** 2 * servers)


def _remove(stage: Stage, client: str, names: str) -> None:
    stage.lab.on(client, "sh", "-c", f"rm -f {names}").must()


def size_mib(stage: Stage, cast: Arrays) -> int:
    """Of a client's file where all have one on each disk."""
    all_of = {server: cast.gateways(server) for server in cast.servers}
    return _file_mib(stage, cast, all_of)


def _file_mib(stage: Stage, cast: Arrays, gateways: Mapping[str, Sequence[str]]) -> int:
    mib = _SECONDS * carried_mb(stage, cast, gateways)["write"] / len(gateways) * 1e6 / 2**20 / len(cast.clients)
    return _READERS * ceil(mib / _READERS)


def work(stage: Stage, cast: Disks, placed: Placed, sizes_mib: Mapping[File, int], readers: int = _READERS) -> Both:
    """Clients write these files, all at once, and then read them, so many on a client each a part of a file."""
    found: dict[Direction, Ends] = {}
    for way in DIRECTIONS:
        each = readers if way == "read" else 1
        if way == "read":
            disks.forget(stage.site)
        parts = [(file, n) for file in sizes_mib for n in range(each)]
        pieces = {file: size // each for file, size in sizes_mib.items()}
        jobs = [Job(file.client, placed.names[file], n * pieces[file], pieces[file]) for file, n in parts]
        done = fio.play(stage.lab, jobs, way)
        seen: dict[File, float] = {}
        for (file, _), ended_s in zip(parts, done.ended_s, strict=True):
            seen[file] = max(seen.get(file, 0.0), ended_s)
        sizes = {file: size * 2**20 / 1e6 for file, size in sizes_mib.items()}
        found[way] = Ends(sizes, _due_s(stage, cast, placed, sizes, way), seen)
    return found


def _due_s(
    stage: Stage, cast: Disks, placed: Placed, sizes_mb: Mapping[File, float], way: Direction
) -> dict[File, float]:
    """By the connections that clients have now to the servers' daemons."""
    own = {
        File(client, placed.daemons[there]): (here, there)
        for client in dict.fromkeys(file.client for file in sizes_mb)
        for here, there in carried(stage.lab, client, way)
        if there in placed.daemons
    }
    return computed_s(stage.site, cast, own, sizes_mb, way)


def computed_s(
    site: Site, cast: Disks, own: Mapping[File, tuple[End, End]], sizes_mb: Mapping[File, float], way: Direction
) -> dict[File, float]:
    """When each file is done that goes by such a connection: the client's end, and the server's."""
    shares = {
        str(file): [share(site, cast.filesystem, (file.client, own[file][0]), (file.server, own[file][1]), way)]
        for file in sizes_mb
    }
    done = done_s(site, shares, {str(file): mb for file, mb in sizes_mb.items()})
    return {file: done[str(file)] for file in sizes_mb}


def carried_mb(stage: Stage, cast: Arrays, gateways: Mapping[str, Sequence[str]]) -> dict[Direction, float]:
    """What disks behind some of their servers' nodes give: each what it does, or what these nodes' ports carry."""
    ports = [len(those) * port_mb(stage, cast, those[0]) for those in gateways.values()]
    return {way: sum(min(mb, port) for port in ports) for way, mb in array_mb(stage, cast).items()}


def evenly(stage: Stage, cast: Arrays, gateways: Mapping[str, Sequence[str]]) -> dict[File, int]:
    """Files on each of these servers, of as many clients by each of its nodes; and how many MiB each of them has."""
    size = _file_mib(stage, cast, gateways)
    return {
        File(client, server): size
        for server, those in gateways.items()
        for client in cast.clients[: len(cast.clients) // len(those) * len(those)]
    }


def judge(stage: Stage, title: str, rates: Mapping[Direction, Rate]) -> None:
    """What was seen beside what is computed, both ways."""
    for way, rate in rates.items():
        stage.near(f"{title}: {way}", round(rate.due, 1), round(rate.seen, 1), "MB/s", within=TOLERANCE, why=WHY)


def show(stage: Stage, title: str, of: str, rows: Mapping[str, Mapping[Direction, Rate]]) -> None:
    """A row for each of some measurements, as a plot and as a table."""
    lines: dict[str, list[float]] = {}
    for way in DIRECTIONS:
        lines[way] = [round(rates[way].seen, 1) for rates in rows.values()]
        lines[f"{way} (expected)"] = [round(rates[way].due, 1) for rates in rows.values()]
    stage.show(Lines(f"Files of all clients, {title}", of, list(rows), "MB/s", lines))
    table = [[place, *(str(values[i]) for values in lines.values())] for i, place in enumerate(rows)]
    stage.show(Table(f"MB/s of all clients, {title}", [of, *lines], table))
