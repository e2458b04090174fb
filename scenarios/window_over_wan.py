"""A wide area network gives a stream one window in each round trip, and the published tunables give it the wire.

Claim: with the published tunables a stream from another centre fills the wire between the two. To a receiver whose
buffers are as kernels of 2006 made them it carries its window in each round trip, which is computed from the cables'
length, while a stream from nearby fills its wire with the same buffers: so nobody at home notices.

Cause: a sender has no more under way than the receiver has told that it has room for, and hears of more room a round
trip later; between centres that is milliseconds.

Source: Redpaper, "TCP/IP tuning" ("the usual TCP/IP tunables should be adapted to achieve higher bandwidth"), and
"Hardware setup": JUMP is one site of a wide area network. tcp(7) of 2006: 4096, 87380, 174760.
"""

from causeway.lab.changes.settings import kernel_setting
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Distant
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import RATE_TOLERANCE, RATE_WHY
from causeway.scenario.words.windows import COLUMNS, Seen, stream_in_windows

TAKES, GIVES = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"
OLD, PUBLISHED = "4096 87380 174760", "4096 262144 8388608"
#: How near a round trip is that TCP has measured, and so a rate of windows; and what it has under way in one.
TRIP = WINDOW = 0.1
TRIP_WHY = "who receives, on the way there and back, too, hands on what he has gathered for up to 0.1 ms"
WINDOW_WHY = "looked at now and then, and TCP waits with the rest of a window until a larger piece fits"


def cast(ask: Ask) -> Distant:
    return ask.distant()


def play(stage: Stage, cast: Distant) -> None:
    lab, node, far, nearby = stage.lab, cast.node, cast.far, cast.nearby
    rows: list[list[str]] = []

    def stream(sender: str, buffers: str) -> Seen:
        seen = stream_in_windows(stage, sender, node)
        rows.append(seen.row(f"{sender} to {node}", buffers))
        return seen

    def judge_full(when: str, seen: Seen) -> None:
        stage.near(when, round(seen.due_mbit, 3), seen.rate_mbit, "Mbit/s", within=RATE_TOLERANCE, why=RATE_WHY)

    def takes() -> str:
        return lab.on(node, "sysctl", "-n", TAKES).must()

    with stage.arrange(f"{node}, {far} and {nearby} have the published tunables"):
        before = takes()
        stage.make(kernel_setting(lab, node, TAKES, PUBLISHED))
        for sender in (far, nearby):
            stage.make(kernel_setting(lab, sender, GIVES, PUBLISHED))

    with stage.healthy(f"a stream from {far} fills the wire, {cast.trip_ms:g} ms there and back"):
        full = stream(far, "published")
        judge_full("published buffers, from afar", full)

    with stage.perturb(f"{node} has the buffers of 2006"):
        old = stage.make(kernel_setting(lab, node, TAKES, OLD))

    with stage.observe(f"one stream from {far}"):
        narrow = stream(far, "2006")

    with stage.judge("it has one window in each round trip, and the wire is never full"):
        trip_ms = 1000 * narrow.window.round_trip_s
        stage.near("the round trip, as TCP has measured it", cast.trip_ms, trip_ms, "ms", within=TRIP, why=TRIP_WHY)
        due = round(narrow.due_mbit, 3)
        stage.near("old buffers, from afar", due, narrow.rate_mbit, "Mbit/s", within=TRIP, why=TRIP_WHY)
        under_way = round(narrow.under_way)
        stage.near("under way at a time", narrow.window.size, under_way, "bytes", within=WINDOW, why=WINDOW_WHY)
        less = narrow.rate_mbit < full.rate_mbit / 2
        stage.holds("less than half of what the wire carries", less, f"{narrow.rate_mbit:.1f}")

    with stage.contrast(f"from {nearby} the same buffers fill the wire; and those that are published do from {far}"):
        judge_full("old buffers, from nearby", stream(nearby, "2006"))
        old.undo()
        judge_full("published buffers again, from afar", stream(far, "published"))
        stage.show(Table("One stream", COLUMNS, rows))

    with stage.restore("the tunables are the site's again"):
        stage.same(f"{TAKES} of {node}", before, takes())
