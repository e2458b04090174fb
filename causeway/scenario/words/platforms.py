"""Two clusters at one filesystem's servers, for scenarios: what the network carries, and what files have."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, inf

from causeway.lab.changes.change import Change, Step
from causeway.model.site import Site
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.plan.paths import DirectedCable, Ways
from causeway.plan.storage import dealt
from causeway.report.result import Lines, Table
from causeway.scenario.cast import Platforms
from causeway.scenario.stage import Stage
from causeway.scenario.words import arrays
from causeway.scenario.words.arrays import File, Placed, Rate
from causeway.scenario.words.routes import rerouted
from causeway.scenario.words.storage import array_mb
from causeway.scenario.words.streams import near_rates, rates_of, together, towards

#: The parts of the least bound that are required, and that are the target (LLNL, milestone 464).
REQUIRED, TARGET = 0.6, 0.8
#: How near to one of them a computed part may be for what is measured to fall on its other side.
_EDGE = 0.05
TARGET_MET: dict[Direction, str] = dict.fromkeys(DIRECTIONS, "target met")
TOO_LITTLE: dict[Direction, str] = dict.fromkeys(DIRECTIONS, "not met")
#: Files on a server: so few that each may have a link to itself. Who shares one has more or less than the others, and
#: who is last keeps a disk waiting. And how many read from a server at once, where one or two a file are as many.
_EACH, _READ = 2, 4
#: Seconds that streams transmit beside others: all are started one after the other, which takes one or two, and nuttcp
#: tells what they carried in steps of 64 KiB.
_STREAMS_S = 12.0
#: Seconds for which files are written: where disks bound a file's ends take some hundredths of one; where a link is
#: shared whoever loses a file's last segment waits two or three tenths for its retransmission.
_DISKS_S, _LINKS_S = 1.0, 5.0
#: MB/s, by direction.
Both = Mapping[Direction, Rate]
#: Who sends to whom, and in which network.
Stream = tuple[str, str, str]


def verdict(part: float) -> str:
    """What such a part of the least bound is."""
    return "target met" if part >= TARGET else "required met" if part >= REQUIRED else "not met"


# the network


def fairly(site: Site, cast: Platforms, senders: Iterable[str], servers: Sequence[str]) -> list[Stream]:
    """A stream from each leg of some nodes to a server's in the same network, to which it goes by that, in turn."""
    ways, used, found = Ways(site), Counter[tuple[str, str]](), list[Stream]()
    for sender, network in product(senders, cast.networks):
        if any(leg.network == network for leg in site.nodes[sender].interfaces.values()):
            able = [s for s in servers if ways.path(sender, site.address(s, network)).hops[0].network == network]
            to = min((used[server, network], place) for place, server in enumerate(able))[1]
            used[able[to], network] += 1
            found.append((sender, able[to], network))
    return found


def leg_mb(stage: Stage, cast: Platforms) -> float:
    """What a link in the servers' networks carries, in MB/s."""
    network = stage.site.topology.networks[cast.networks[0]]
    return tcp_goodput_mbit(network.rate_mbit, network.mtu) / 8


def carried_mb(stage: Stage, title: str, streams: Sequence[Stream], way: Direction) -> float:
    """What streams have together in MB/s, each beside its share; to read, servers send."""
    ends = streams if way == "write" else [(server, node, network) for node, server, network in streams]
    expected, measured = together(stage, towards(stage, ends), _STREAMS_S)
    rates = rates_of(measured)
    near_rates(stage, f"{title}, {way}", expected, rates)
    return sum(rates.values()) / 8


# files


def least_mb(stage: Stage, cast: Platforms, clients: Iterable[str]) -> dict[Direction, float]:
    """The least of what the network carries between clients and servers (`even`), and of what these' disks do."""
    senders = dict.fromkeys(cast.by.get(client, client) for client in clients)
    own = sum(leg.network in cast.networks for node in senders for leg in stage.site.nodes[node].interfaces.values())
    links_mb = min(own, len(cast.even) * len(cast.networks)) * leg_mb(stage, cast)
    return {way: min(links_mb, mb * len(cast.even)) for way, mb in array_mb(stage, cast).items()}


def evenly(site: Site, cast: Platforms, clients: Sequence[str]) -> list[File]:
    """As many files of each client, on as many servers as there are gateways, in turn."""
    most = len(cast.even) * min(_EACH, len(clients))
    return in_turn(site, clients, cast.even, most // len(clients) * len(clients))


def in_turn(site: Site, clients: Sequence[str], servers: Sequence[str], count: int) -> list[File]:
    """So many files on servers in turn, each of the client on whose way to that the fullest cable has fewest, and who
    has fewest: a cable that is nearly full keeps disks waiting.
    """
    ways, files, used = Ways(site), list[File](), Counter[DirectedCable]()
    cables = {
        file: [
            segment.cables[0]
            for hop in ways.path(file.client, site.known_by(file.server).address).hops
            for segment in hop.segments
        ]
        for file in (File(*pair) for pair in product(clients, servers))
    }
    for place in range(count):
        server = servers[place % len(servers)]
        free = [file for file in cables if file.server == server and file not in files]
        file = min(free, key=lambda file: sorted((used[cable] for cable in cables[file]), reverse=True))
        files.append(file)
        used.update(cables[file])
    return files


def work(stage: Stage, cast: Platforms, placed: Placed, files: Sequence[File], most_mb: float = inf) -> Both:
    """Clients write such files, all at once and each as large, and then read them.

    They are as large as what the disk of the fullest server writes in some seconds, or what the links do, which is
    `most_mb` MB/s for all.
    """
    counts = Counter(file.server for file in files)
    readers = min(2, ceil(_READ * len(counts) / len(files)))
    disk_mb, links_mb = array_mb(stage, cast)["write"] / max(counts.values()), most_mb / len(files)
    each_mb = links_mb * _LINKS_S if links_mb < disk_mb else disk_mb * _DISKS_S
    mib = readers * ceil(each_mb * 1e6 / 2**20 / readers)
    seen = arrays.work(stage, cast, placed, dict.fromkeys(files, mib), readers)
    return {way: ends.together() for way, ends in seen.items()}


@dataclass(frozen=True)
class Row:
    """Rates of one case beside the least bound of all."""

    rates: Both
    least_mb: Mapping[Direction, float]

    def parts(self, way: Direction) -> tuple[float, float]:
        """Of that bound: due and seen."""
        rate = self.rates[way]
        return rate.due / self.least_mb[way], rate.seen / self.least_mb[way]

    def met(self, way: Direction) -> tuple[str, str, str]:
        """What was seen, of what is required and of the target; and what that is."""
        _, part = self.parts(way)
        return f"{part / REQUIRED:.1%}", f"{part / TARGET:.1%}", verdict(part)

    @property
    def due(self) -> dict[Direction, str]:
        return {way: verdict(self.parts(way)[0]) for way in DIRECTIONS}

    @property
    def seen(self) -> dict[Direction, str]:
        return {way: self.met(way)[2] for way in DIRECTIONS}


def judge(stage: Stage, title: str, row: Row) -> None:
    """Rates beside what is computed; and what is said of them, but where that is on the edge."""
    arrays.judge(stage, title, row.rates)
    for way in DIRECTIONS:
        if all(abs(row.parts(way)[0] / limit - 1) > _EDGE for limit in (REQUIRED, TARGET)):
            stage.same(f"{title}, {way}: of the least of network and disks", row.due[way], row.seen[way])


def show(stage: Stage, title: str, of: str, rows: Mapping[str, Row]) -> None:
    """A row for each case and way: rates, and what parts they are of what is required and of the target."""
    lines: dict[str, list[float]] = {}
    for way in DIRECTIONS:
        lines[way] = [round(row.rates[way].seen, 1) for row in rows.values()]
        lines[f"{way} (expected)"] = [round(row.rates[way].due, 1) for row in rows.values()]
    stage.show(Lines(f"Files of all clients, {title}", of, list(rows), "MB/s", lines))
    table = []
    for place, row in rows.items():
        for way in DIRECTIONS:
            rate = row.rates[way]
            mb = (f"{number:.1f}" for number in (row.least_mb[way], rate.due, rate.seen))
            table.append([place, way, *mb, *row.met(way)])
    columns = [of, "", "least of network and disks", "computed", "measured", "of required", "of target", "verdict"]
    stage.show(Table(f"MB/s of all clients, {title}", columns, table))


# gateways


def by_fewer(stage: Stage, cast: Platforms, gateways: Sequence[str]) -> tuple[Change, Site]:
    """Clients behind gateways go by these alone, dealt out in turn, both ways; and the site as it is then."""
    turns = {client: gateways[place % len(gateways)] for place, client in enumerate(cast.by)}
    site = dealt(stage.site, {client: dict.fromkeys(cast.servers, gateway) for client, gateway in turns.items()})
    return rerouted(stage, site, f"{len(gateways)} gateways are left"), site


def forwarding_off(gateways: Sequence[str]) -> Change:
    """They are up, and forward nothing."""
    words = [f"echo {on} >/proc/sys/net/ipv4/ip_forward" for on in (0, 1)]
    there, back = (tuple(Step(node, ("sh", "-c", word)) for node in gateways) for word in words)
    return Change(f"{len(gateways)} gateways forward nothing", there, back)
