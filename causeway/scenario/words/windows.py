"""What a stream has under way, for scenarios: its rate, beside its window and its round trip."""

from dataclasses import dataclass, replace
from statistics import mean

from causeway.lab.probes.connections import Window, windows
from causeway.lab.probes.nuttcp import is_its
from causeway.plan.streams import StreamEnds, expect
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import coupled, transmitting
from causeway.wait import until

#: Looks at a stream's connection, and seconds between them; the first ones do not count: its window is opening.
_LOOKS, _EARLY, _LOOK_S = 60, 12, 0.1
#: Seconds on the lab's clock that a stream transmits meanwhile.
_SECONDS = 8.0


@dataclass(frozen=True)
class Seen:
    """A lone stream: Mbit/s that its wires and its window in their round trip let through, Mbit/s that it had, and its
    window while it transmitted."""

    due_mbit: float
    rate_mbit: float
    window: Window

    @property
    def under_way(self) -> float:
        """The bytes that it had under way at a time: those of one round trip."""
        return self.rate_mbit * self.window.round_trip_s / 8e-6

    def row(self, path: str, buffers: str) -> list[str]:
        """Of a table with COLUMNS."""
        kib = [f"{size / 1024:.0f}" for size in (self.window.size, self.under_way)]
        return [path, buffers, f"{1000 * self.window.round_trip_s:.2f}", *kib, f"{self.rate_mbit:.1f}"]


COLUMNS = ["path", "buffers", "round trip, ms", "window, KiB", "under way, KiB", "Mbit/s"]


def stream_in_windows(stage: Stage, sender: str, receiver: str) -> Seen:
    """One stream from one node to another, whose buffers are the kernels' to make."""
    (stream,) = (replace(stream, buffers="") for stream in coupled(stage, [(sender, receiver)]))
    looks: list[Window] = []

    def fewer() -> str:
        for (here, there), window in windows(stage.lab, sender).items():
            if is_its(stream, (here, there, "ESTABLISHED")):
                looks.append(window)
        return "" if len(looks) >= _LOOKS else f"{len(looks)} looks"

    with transmitting(stage, [stream], _SECONDS) as running:
        until(f"the window of {stream.label} was looked at {_LOOKS} times", fewer, deadline_s=_SECONDS, poll_s=_LOOK_S)
        (measured,) = running.results()
    open_ = looks[_EARLY:]
    usual = Window(round(mean(w.size for w in open_)), mean(w.round_trip_s for w in open_))
    ends = StreamEnds(stream.label, sender, measured.source, measured.destination, usual.size)
    return Seen(expect(stage.site, [ends]).rates[stream.label], measured.rate_mbit, usual)
