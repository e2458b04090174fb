"""How fast clients can write and read files that lie on several servers: computed, before it is measured."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from causeway.model.site import Site
from causeway.plan import filesystems
from causeway.plan.bounds import bounds
from causeway.plan.fairshare import fair_share, tcp_goodput_mbit
from causeway.plan.filesystems.spread import Direction, Spread
from causeway.plan.paths import DirectedCable, Ways
from causeway.plan.streams import End, StreamEnds, SwitchChoices, expect

#: The part of a file that counts as nothing when it is left: sums of parts are not exact.
_DONE = 1e-9


@dataclass(frozen=True)
class DiskShare:
    """A server's disk, by its name; the bytes on it for each byte of the client's files, and its own MB/s."""

    name: str
    part: float
    mb: float


@dataclass(frozen=True)
class Share:
    """A connection in the direction of the data, and the bytes on it for each byte of the client's files.

    `disk` is the one at the server's end, where the site says what that does.
    """

    ends: StreamEnds
    part: float
    disk: DiskShare | None = None


def spread(site: Site, filesystem: str, direction: Direction) -> Spread:
    """Over how many of a client's connections the bytes of a file go, and how many on each for each of its own."""
    about = site.topology.filesystems[filesystem]
    return filesystems.BY_DRIVER[about.driver].spread(about, len(site.servers(filesystem)), direction)


def disk_share(site: Site, filesystem: str, server: str, direction: Direction) -> DiskShare | None:
    """What the bytes of a file take of a server's disk; None for one of which nothing is said.

    That is its rate. What it takes to get to other places depends on the order in which it is asked, which is not
    computed: `seeks` says where that counts.
    """
    disk = site.topology.filesystems[filesystem].disk
    if disk is None:
        return None
    rate = disk.write_mb if direction == "write" else disk.read_mb
    stored = spread(site, filesystem, direction).stored
    slowed = site.slowed.get((filesystem, server), 1.0)
    return DiskShare(f"the disk of {filesystem} at {server}", stored, rate * slowed)


def share(site: Site, filesystem: str, client: tuple[str, End], server: tuple[str, End], direction: Direction) -> Share:
    """What a file takes of a connection between a client's end and a server's; all that is on it goes with the data."""
    (at, here), (to, there) = client, server
    ends = (at, here, there) if direction == "write" else (to, there, here)
    label = f"{at} {direction}s {there[0]}:{there[1]}"
    disk = disk_share(site, filesystem, to, direction)
    return Share(StreamEnds(label, *ends), spread(site, filesystem, direction).part, disk)


def seeks(site: Site, filesystem: str) -> bool:
    """Whether its disks take time to get to another place."""
    disk = site.topology.filesystems[filesystem].disk
    return disk is not None and bool(disk.read_us or disk.write_us)


def done_s(site: Site, clients: Mapping[str, Sequence[Share]], sizes_mb: Mapping[str, float]) -> dict[str, float]:
    """When each client is done with its files of so many MB (10^6), in seconds; network, nodes and disks bound it.

    All begin together, and whoever is done leaves its share to the others.
    """
    left, done, now = {client: sizes_mb[client] for client in clients}, dict[str, float](), 0.0
    while left:
        rates = each_mb(site, {client: clients[client] for client in left})
        step = min(left[client] / rates[client] for client in left)
        now += step
        rest = {client: size - step * rates[client] for client, size in left.items()}
        left = {client: size for client, size in rest.items() if size > _DONE * sizes_mb[client]}
        done |= dict.fromkeys(rest.keys() - left.keys(), now)
    return done


def bound_mb(site: Site, clients: Mapping[str, Sequence[Share]]) -> float:
    """The rate of all clients' files together in MB/s, files of one size, until the last one is done.

    An uneven spread is slower than its rates at the beginning add up to.
    """
    return len(clients) / max(done_s(site, clients, dict.fromkeys(clients, 1.0)).values())


def each_mb(
    site: Site,
    clients: Mapping[str, Sequence[Share]],
    switch_choices: SwitchChoices | None = None,
    ways: Ways | None = None,
) -> dict[str, float]:
    """The rate of each client's files in MB/s, while all of them are at work.

    A client's connections go at one pace, as each stripe needs all of them. With four servers, one of them for
    parity, a file that is written puts a third of its bytes on each connection: 4/3 of it go over the client's
    link. Which member of a channel carries a connection is computed from its real ports and hardware addresses.
    What they have in common, disks too, connections share max-min fairly: whoever has more of them has more of it.
    `switch_choices` and `ways` are as `expect` takes them.
    """
    expected = expect(site, [share.ends for own in clients.values() for share in own], switch_choices, ways=ways)
    capacity: dict[str, float] = {}
    loads: dict[str, dict[str, float]] = {client: {} for client in clients}
    # of each client's bytes, on that of its connections that has most of them
    most = {client: max((share.part for share in own), default=1.0) for client, own in clients.items()}
    for client, own in clients.items():
        for share in own:
            if (disk := share.disk) is not None:
                capacity[disk.name] = disk.mb
                loads[client][disk.name] = loads[client].get(disk.name, 0.0) + disk.part / most[client]
            for cable in expected.cables[share.ends.label]:
                # by the wire, which may carry packets of several sizes
                wire = share.part / most[client] / tcp_goodput_mbit(1, expected.mtus[share.ends.label])
                for link, mbit in _links(site, cable):
                    capacity[link] = mbit / 8
                    loads[client][link] = loads[client].get(link, 0.0) + wire
    return {client: share.rate / most[client] for client, share in fair_share(loads, capacity).items()}


def _links(site: Site, cable: DirectedCable) -> Iterator[tuple[str, float]]:
    """A cable, and the nodes at its ends that have bounds of their own: name, and Mbit/s of wire."""
    yield str(cable), site.sends_mbit(cable.sender)
    yield from ((str(bound), bound.wire_mbit) for bound in bounds(site, cable.sender))
