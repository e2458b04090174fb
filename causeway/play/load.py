"""Streams that run all the time that a change takes: what each gets, and by which members, before and afterwards."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from time import monotonic, sleep

from causeway.lab.lab import Lab
from causeway.lab.probes import nuttcp
from causeway.lab.probes.connections import told
from causeway.lab.probes.counters import difference, kernel_counters, sent_bytes
from causeway.lab.probes.nuttcp import Stream
from causeway.play.streams import drawn, per_cent, sending_end
from causeway.rehearse.rates import Pattern

#: How long a rate is measured, and how long streams have to find their shares, in seconds.
_MEASURED_S, _SHARE_S = 4.0, 2.0
#: Longer than any change; it is ended then.
_FOR_EVER_S = 36_000.0
#: A line of `ss -tinHO`: both ends, and what the other one has acknowledged.
_SOCKET = re.compile(r"\S+:(\d+)\s+\S+:(\d+)\s.*\bbytes_acked:(\d+)")


@dataclass(frozen=True)
class Share:
    """What streams got for a while: Mbit/s of each, by its label, and each member's part of all bytes, in per cent."""

    streams: Mapping[str, float]
    parts: Mapping[str, float]

    @property
    def mbit(self) -> float:
        return sum(self.streams.values())


@dataclass(frozen=True)
class Carried:
    """What streams got before, meanwhile (Mbit/s of all) and afterwards; those that ended, and packets sent again."""

    name: str
    before: Share
    meanwhile_mbit: float
    after: Share
    ended: Sequence[str]
    sent_again: int


class Load:
    """A pattern's streams; `result` is there when they have ended."""

    def __init__(self, lab: Lab, pattern: Pattern, seed: int) -> None:
        self._lab, self._pattern = lab, pattern
        self._sending = sending_end(lab.site, pattern)
        self._streams = drawn(lab.site, pattern, Random(f"load {seed} {pattern.name}"))
        self.result: Carried | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Have them run meanwhile. LabBroken where one cannot be started."""
        receivers = list(dict.fromkeys(stream.server for stream in self._streams))
        with (
            nuttcp.servers(self._lab, receivers),
            nuttcp.running(self._lab, self._streams, _FOR_EVER_S, told_every_s=_FOR_EVER_S),
        ):
            sleep(_SHARE_S)
            before = self._measured()
            begun, had, again = monotonic(), self._acknowledged(), self._sent_again()
            yield
            took, has = monotonic() - begun, self._acknowledged()
            sent_again = self._sent_again() - again
            sleep(_SHARE_S)
            after = self._measured()
            ended = [label for label in had if label not in self._acknowledged()]
        whole = sum(has[label] - bytes_ for label, bytes_ in had.items() if label in has)
        self.result = Carried(self._pattern.name, before, whole * 8e-6 / took, after, ended, sent_again)

    def _measured(self) -> Share:
        sending = self._sending
        sent, had, begun = sent_bytes(self._lab, sending.node, sending.members), self._acknowledged(), monotonic()
        sleep(_MEASURED_S)
        took, has = monotonic() - begun, self._acknowledged()
        now = sent_bytes(self._lab, sending.node, sending.members)
        rates = {label: (has.get(label, bytes_) - bytes_) * 8e-6 / took for label, bytes_ in had.items()}
        return Share(rates, per_cent(difference(sent, now)))

    def _acknowledged(self) -> dict[str, int]:
        """label -> bytes; without streams that have ended."""
        found: dict[str, int] = {}
        for sender in self._senders:
            its = [stream for stream in self._streams if stream.sender == sender]
            found |= parse_sockets(told(self._lab, sender), its)
        return found

    def _sent_again(self) -> int:
        return sum(kernel_counters(self._lab, sender)["TcpRetransSegs"] for sender in self._senders)

    @property
    def _senders(self) -> list[str]:
        return list(dict.fromkeys(stream.sender for stream in self._streams))


def parse_sockets(text: str, streams: Sequence[Stream]) -> dict[str, int]:
    """Read `ss -tinHO` of a sender: label of a stream that there is -> bytes that were acknowledged."""
    found = {}
    ends = {(int(here), int(there)): int(acked) for here, there, acked in _SOCKET.findall(text)}
    for stream in streams:
        for (here, there), acked in ends.items():
            if here // 2 == stream.source_port // 2 and there == stream.data_port:
                found[stream.label] = acked
    return found
