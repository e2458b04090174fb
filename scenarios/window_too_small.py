"""A long path carries one window in each round trip, whatever its wires would carry.

Claim: with a receiver whose buffers are as kernels of 2006 made them, a stream over a short path fills its wire. Over a
path that holds two such windows it carries about half of that, over twice that path half again: one window is
under way at a time, however long the path is. With the published tunables the longer path is full.

Cause: a sender has no more under way than the receiver has told that it has room for, and hears of more room a round
trip later.

Source: Redpaper, "TCP/IP tuning": "net.ipv4.tcp_rmem = 4096 262144 8388608", as "the usual TCP/IP tunables should be
adapted to achieve higher bandwidth"; tcp(7) of 2006: 4096, 87380, 174760 where memory is not short.
"""

from dataclasses import dataclass

from causeway.lab.changes.settings import kernel_setting
from causeway.lab.faults import link_delayed
from causeway.model.thing import Port
from causeway.report.result import Table
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import RATE_TOLERANCE, RATE_WHY
from causeway.scenario.words.windows import COLUMNS, Seen, stream_in_windows

TAKES, GIVES = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"
OLD, PUBLISHED = "4096 87380 174760", "4096 262144 8388608"
#: How many windows fit on the long path.
WINDOWS = 2
#: Of twice the path a stream gets this at most: half, and a little for the path's own delay and for what is unread.
PART = 0.7
LOOKS_WHY = "looked at now and then, and what the receiver has not read yet is missing in its window"


@dataclass(frozen=True)
class Cast:
    """A host, its only cable, and who sends to it."""

    port: Port
    sender: str


def cast(ask: Ask) -> Cast:
    return Cast(*ask.leaf())


def play(stage: Stage, cast: Cast) -> None:
    lab, receiver = stage.lab, cast.port.node
    rows: list[list[str]] = []

    def stream(path: str, buffers: str) -> Seen:
        seen = stream_in_windows(stage, cast.sender, receiver)
        rows.append(seen.row(path, buffers))
        return seen

    def judge_full(when: str, seen: Seen) -> None:
        stage.near(when, round(seen.due_mbit, 3), seen.rate_mbit, "Mbit/s", within=RATE_TOLERANCE, why=RATE_WHY)

    with stage.arrange(f"{receiver} has the buffers of 2006, and {cast.sender} as much to send as the paper gives it"):
        old = stage.make(kernel_setting(lab, receiver, TAKES, OLD))
        stage.make(kernel_setting(lab, cast.sender, GIVES, PUBLISHED))

    with stage.healthy("the path is short, and nobody minds"):
        first = stream("as it is", "2006")
        judge_full("old buffers, short path", first)

    with stage.perturb(f"the path is so long that {WINDOWS} windows fit on it"):
        one_way_ms = 1000 * WINDOWS * first.window.size * 8e-6 / first.due_mbit / 2
        delayed = stage.make(link_delayed(lab, receiver, cast.port.device, round(one_way_ms, 3)))

    with stage.observe("one stream over it, and one over a path of twice its length"):
        long = stream("long", "2006")
        delayed.undo()
        stage.make(link_delayed(lab, receiver, cast.port.device, round(2 * one_way_ms, 3)))
        longer = stream("twice as long", "2006")

    with stage.judge("each has one window under way, and so the wire is never full"):
        stage.holds("long: less than the wire carries", long.rate_mbit < PART * long.due_mbit, f"{long.rate_mbit:.1f}")
        less = longer.rate_mbit < PART * long.rate_mbit
        stage.holds("longer: less than on half of it", less, f"{longer.rate_mbit:.1f}")
        for path, seen in (("long", long), ("longer", longer)):
            what, under_way = f"{path}: under way", round(seen.under_way)
            stage.near(what, seen.window.size, under_way, "bytes", within=0.1, why=LOOKS_WHY)

    with stage.contrast("with the published tunables the longer path is full"):
        old.undo()
        stage.make(kernel_setting(lab, receiver, TAKES, PUBLISHED))
        judge_full("published buffers, long path", stream("twice as long", "published"))
        stage.show(Table("One stream", COLUMNS, rows))

    with stage.restore("the path is short again, and full"):
        judge_full("afterwards", stream_in_windows(stage, cast.sender, receiver))
