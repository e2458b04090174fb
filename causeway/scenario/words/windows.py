"""What a stream has under way, for scenarios: its rate, beside its window and its round trip."""

from dataclasses import dataclass, replace
from statistics import median

from causeway.lab.probes.connections import Window, windows
from causeway.lab.probes.nuttcp import is_its
from causeway.plan.streams import StreamEnds, expect
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import SECONDS, coupled, transmitting
from causeway.wait import until

#: Looks at a stream's connection, and seconds between them; the last ones count, when its window is as wide as it gets.
_LOOKS, _LATE, _LOOK_S = 14, 6, SECONDS / 16


@dataclass(frozen=True)
class Seen:
    """A lone stream: Mbit/s that its wires let through, Mbit/s that it had, and its window in the second half."""

    due_mbit: float
    rate_mbit: float
    window: Window

    def row(self, path: str, buffers: str) -> list[str]:
        """Of a table with COLUMNS."""
        size, trip = f"{self.window.size / 1024:.0f}", f"{1000 * self.window.round_trip_s:.2f}"
        return [path, buffers, size, trip, f"{self.window.mbit:.0f}", f"{self.rate_mbit:.1f}"]


COLUMNS = ["path", "buffers", "window, KiB", "round trip, ms", "one in the other, Mbit/s", "measured, Mbit/s"]


def stream_in_windows(stage: Stage, sender: str, receiver: str) -> Seen:
    """One stream from one node to another, whose buffers are the kernels' to make."""
    (stream,) = (replace(stream, buffers="") for stream in coupled(stage, [(sender, receiver)]))
    looks: list[Window] = []

    def fewer() -> str:
        for (here, there), window in windows(stage.lab, sender).items():
            if is_its(stream, (here, there, "ESTABLISHED")):
                looks.append(window)
        return "" if len(looks) >= _LOOKS else f"{len(looks)} looks"

    with transmitting(stage, [stream]) as running:
        until(f"the window of {stream.label} was looked at {_LOOKS} times", fewer, deadline_s=SECONDS, poll_s=_LOOK_S)
        (measured,) = running.results()
    late = looks[-_LATE:]
    usual = Window(round(median(w.size for w in late)), median(w.round_trip_s for w in late))
    ends = StreamEnds(stream.label, sender, measured.source, measured.destination)
    return Seen(expect(stage.site, [ends]).rates[stream.label], measured.rate_mbit, usual)
