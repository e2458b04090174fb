"""A disk over the network: who asks for one block at a time waits for its way, and two who do so fill the wire.

Claim: a host serves a disk to others. One that writes with many requests on their way has what the wire carries, and
two have that together. One that reads block by block has less: each block takes its time on the wire and a round trip,
in which the wire is idle. A second reader has the wire while the first one waits: together they fill it. Smaller blocks
are slower, larger ones faster; and without the round trip one reader fills the wire.

Cause: a request is answered a round trip after it was sent; what is not asked for is not under way.

Source: CITA, "Xe cluster details", "iSCSI": "wire speed writes, 60% wire speed reads", "saturates the single gigE
connection into xe with 2 clients"; "Swap to iSCSI": out "close to 100MB/s", in "a slower ~30-40MB/s". That the way, or
who answers, takes so long is ours, and NBD stands for iSCSI.
"""

from functools import partial
from math import log2

from causeway.lab.faults import link_delayed
from causeway.plan.filesystems.spread import Direction
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Equals
from causeway.scenario.stage import Stage
from causeway.scenario.words.network_disks import Requests, served, transfer, wire_mb, without_bursts

#: What one reader has of the wire, as in the notes, by blocks that take about so long on it (128 KiB do at 100 Mbit/s).
PART, BLOCK_S = 0.6, 0.011
#: Pages that are swapped in, and a larger read-ahead, in blocks; how many requests of a writer are on their way.
SMALL, LARGE, DEEP = 1 / 4, 8, 8
TOLERANCE, WHY = 0.05, "requests have a few bytes of their own, and adapters wait a moment for further frames"


def cast(ask: Ask) -> Equals:
    return ask.equals(3)


def play(stage: Stage, cast: Equals) -> None:
    server, *clients = cast.hosts
    most_mb = wire_mb(stage, cast)
    kib = 2 ** round(log2(most_mb * 1e6 * BLOCK_S / 1024))
    block_s = kib * 1024 / 1e6 / most_mb
    usual, deep, small, large = (
        Requests(kib, 1),
        Requests(kib, DEEP),
        Requests(int(SMALL * kib), 1),
        Requests(LARGE * kib, 1),
    )
    trip_s = block_s * (1 / PART - 1)
    port, rows = cast.ports[server], list[list[str]]()

    def work(title: str, way: Direction, asked: Requests, trip: float, readers: int = 1) -> None:
        due_mb = min(most_mb, readers * asked.alone_mb(most_mb, trip))
        # a second one begins in the middle of the first one's turn
        apart_s = (block_s + trip) / 2 if readers > 1 else 0.0
        seen_mb = transfer(stage, cast, clients[:readers], way, asked, due_mb, apart_s)
        due, seen = round(due_mb / most_mb, 3), round(seen_mb / most_mb, 3)
        stage.near(f"{title}: part of the wire", due, seen, "", within=TOLERANCE, why=WHY)
        rows.append([title, f"{asked.kib} KiB, {asked.depth} at once", f"{due_mb:.2f}", f"{seen_mb:.2f}"])

    with stage.arrange("frames leave one by one, also after a pause"):
        stage.make(without_bursts(stage, cast))

    with served(stage, cast):
        with stage.healthy(f"{clients[0]} writes to and reads from {server}'s disk at the wire's rate"):
            work("one writes, no delay", "write", deep, 0)
            work("one reads, no delay", "read", usual, 0)

        with stage.perturb(f"the way to {server} takes as long as two thirds of a block"):
            change = partial(link_delayed, stage.lab, port.node, port.device)
            delayed = stage.make(change(round(trip_s / 2 * 1000, 3)))

        with stage.judge("writing fills the wire, one reader does not, and two do"):
            work("one writes", "write", deep, trip_s)
            work("two write", "write", deep, trip_s, 2)
            work("one reads", "read", usual, trip_s)
            work("two read", "read", usual, trip_s, 2)

        with stage.judge("small blocks are the slowest"):
            work("one swaps in", "read", small, trip_s)

        with stage.contrast("large blocks, or many at once, or no delay, and one reader fills the wire"):
            work("one reads large blocks", "read", large, trip_s)
            work("one reads many at once", "read", deep, trip_s)
            delayed.undo()
            work("one reads, no delay again", "read", usual, 0)
            stage.show(Table("MB/s", ["who", "asks for", "computed", "measured"], rows))

        with stage.restore("one writes at the wire's rate"):
            work("one writes, afterwards", "write", deep, 0)
