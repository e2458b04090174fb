"""How fast files go from one, two, four, eight clients to the owning cluster, and back.

Claim: with every client the rate grows by that client's link, until a server's link is full, or its disk. Where a
filesystem stripes with parity, writing takes more than a file's bytes over the network (4/3 of them with one server in
four for parity), and reading takes the file's own; and one file that all of them share is no faster than one client.

Cause: a stripe has a part for each of the servers; a client sends or fetches them side by side, all through
its one link, and each goes by the member of the server's channel that the sender's hash policy gives it. Whoever
writes to a dispersed file, or reads it, locks the whole file at the servers: clients take turns.

Source: Redpaper, "GPFS performance tests", Figure 6 (I/O performance scaling with the number of IONs in a block).
"""

from dataclasses import dataclass
from functools import reduce
from math import ceil

from causeway.lab.changes.change import together
from causeway.lab.faults import link_rate
from causeway.lab.filesystems import driver_of
from causeway.plan.paths import at_rate, path
from causeway.report.result import Text
from causeway.scenario.cast import Ask, Mounts
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import Both, both_ways, enough_mib, judge_files, judge_spread, show_files

SHARED_MIB = 4
#: On a client, of a file on disks: one alone waits for a disk and the network in turn.
READERS = 2
TURNS = 0.35
WHY_TURNS = "one client at a time has the lock, and passing it on takes as long as some blocks"


@dataclass(frozen=True)
class Cast:
    """A filesystem, and the clients that write to it and read from it."""

    mounts: Mounts
    clients: list[str]

    @property
    def filesystem(self) -> str:
        return self.mounts.filesystems[0]


def cast(ask: Ask) -> Cast:
    mounts = ask.mounts()
    clients = ask.clients(mounts)
    ask.computable()
    ask.unsought(mounts.filesystems[0])
    ask.foreseen(clients, ask.site.servers(mounts.filesystems[0]))
    return Cast(mounts, clients)


def play(stage: Stage, cast: Cast) -> None:
    name, clients = cast.filesystem, cast.clients
    about, driver = stage.site.topology.filesystems[name], driver_of(stage.lab, name)
    readers = READERS if about.disk else 1
    size_mib = readers * ceil(enough_mib(stage.site, name) / readers)
    groups = [clients[:n] for n in (1, 2, 4, 8, 16) if n <= len(clients)]
    one, server = clients[0], stage.site.servers(name)[0]
    first = path(stage.site, one, stage.site.known_by(server).address).hops[0].segments[0]
    half = {cable.sender: stage.site.sends_mbit(cable.sender) // 2 for cable in first.cables}

    def clear() -> None:
        """Not from another node: for a second this one would go on writing to what it knows, a stale handle."""
        stage.lab.on(one, "sh", "-c", f"rm -f {about.mount_point}/io.*").must()

    def own(nodes: list[str]) -> Both:
        return both_ways(stage, name, nodes, size_mib=size_mib, shared=False, readers=readers)

    def one_file(nodes: list[str]) -> Both:
        return both_ways(stage, name, nodes, size_mib=SHARED_MIB, shared=True)

    with stage.arrange("the servers count what they are asked"):
        stage.defer(clear, "its files are gone")
        stage.defer(driver.count_calls(stage.lab, name), "nothing is counted")

    with stage.healthy(f"{name} is mounted everywhere, and what one client writes it reads back at the links' rate"):
        single = own([one])
        judge_files(stage, f"{one} alone", single)
        judge_spread(stage, single)

    with stage.perturb("more and more clients write and read, a file each; then parts of one file"):
        alone = [single, *map(own, groups[1:])]
        shared = [one_file(nodes) for nodes in groups] if about.layout == "stripe" else []

    with stage.judge("a file each: the bound that the connections' real members give; one file: one client's rate"):
        for nodes, both in zip(groups, alone, strict=True):
            judge_files(stage, f"{len(nodes)} clients, a file each", both)
        for nodes, both in list(zip(groups, shared, strict=False))[1:]:
            for what, outcome in both.ways.items():
                title = f"{len(nodes)} clients, one file: {what}, in rates of one"
                rates = round(outcome.measured_mb / shared[0].ways[what].measured_mb, 2)
                stage.near(title, 1, rates, "", within=TURNS, why=WHY_TURNS)
        places = [str(len(nodes)) for nodes in groups]
        show_files(stage, "a file each", places, alone)
        if shared:
            show_files(stage, "one file", places, shared)
        stage.show(Text(f"Calls at the servers of {name}", driver.calls(stage.lab, name)))

    with stage.contrast(f"with half its rate {one}'s link bounds its files, as computed"):
        changes = (link_rate(stage.lab, port.node, port.device, mbit) for port, mbit in half.items())
        slower = stage.make(together(f"{one} has half its rate", changes))
        with stage.as_if(reduce(lambda site, port: at_rate(site, port, half[port]), half, stage.site)):
            judge_files(stage, f"{one}, half the rate", own([one]))
        slower.undo()

    with stage.restore("the link has its rate again"):
        judge_files(stage, f"{one} afterwards", own([one]))
        clear()
