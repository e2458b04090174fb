"""What a lab's cables carry: read from the kernel's counters, without a process and without anything on a node.

A look at a node is one file, /proc/PID/net/dev, of its board: so it works where the node is off, too.
"""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from causeway.lab.lab import Lab
from causeway.report.load import Load, Mark, Sample

#: How far apart two looks are on the lab's clock while a run plays.
EVERY_S = 1.0
#: What a frame takes of an Ethernet wire beside its bytes: preamble, check sequence, gap.
_OVERHEAD = 24
#: The part of its rate that a port sends at least to be in a sample: less is LACP, clocks and logins.
_QUIET = 0.001


class Meter:
    """The counters of the ports that have a cable, of every node whose container runs when it is made."""

    def __init__(self, lab: Lab) -> None:
        self._files: dict[str, dict[str, str]] = {}
        for cable in lab.site.cables:
            for port in cable.ends:
                if pid := lab.pids.get(port.node):
                    self._files.setdefault(f"/proc/{pid}/net/dev", {})[port.device] = str(port)

    def look(self) -> dict[str, int]:
        """What each port has sent so far, in bytes on the wire. A port that is not there now is not in it."""
        found: dict[str, int] = {}
        for file, ports in self._files.items():
            try:
                text = _text(file)
            except OSError:  # its node has ended
                continue
            found |= parse_sent(text, ports)
        return found


def _text(file: str) -> str:
    """A file to its end: one read of it gives a page at most, some 30 devices. By four calls, where Python makes nine:
    each node has such a file, which is looked at each second.
    """
    # not kept open: that would keep the node's interfaces when it has ended
    opened = os.open(file, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(opened, 65536), b"")).decode()
    finally:
        os.close(opened)


def parse_sent(text: str, ports: Mapping[str, str]) -> dict[str, int]:
    """Read /proc/net/dev: bytes on the wire by the port of each device that has one."""
    found = {}
    for line in text.splitlines():
        device, colon, counters = line.partition(":")
        if colon and (port := ports.get(device.strip())):
            numbers = counters.split()
            found[port] = int(numbers[8]) + _OVERHEAD * int(numbers[9])
    return found


def rates(before: Mapping[str, int], after: Mapping[str, int], seconds: float) -> dict[str, float]:
    """Mbit/s on the wire by port; of a counter that began anew meanwhile, what it has counted since."""
    if seconds <= 0:
        return {}
    return {
        port: 8e-6 * (count - before[port] if count >= before[port] else count) / seconds
        for port, count in after.items()
        if port in before
    }


class Recorder:
    """Notes what is carried, in a thread of its own: in virtual time that takes no time of anybody's."""

    def __init__(self, lab: Lab) -> None:
        self.load = Load(EVERY_S)
        self._meter = Meter(lab)
        self._least = {
            str(port): _QUIET * lab.site.sends_mbit(port) for cable in lab.site.cables for port in cable.ends
        }
        self._begun = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def now_s(self) -> float:
        """Seconds since the begin, on the lab's clock."""
        return time.monotonic() - self._begun

    def mark(self, at_s: float, what: str) -> None:
        """Note what began when."""
        self.load.marks.append(Mark(round(at_s, 3), what))

    def _run(self) -> None:
        seen, seen_s = self._meter.look(), self.now_s()
        while not self._over.wait(EVERY_S):
            found, found_s = self._meter.look(), self.now_s()
            sent = rates(seen, found, found_s - seen_s)
            loud = {port: round(mbit, 1) for port, mbit in sent.items() if mbit >= self._least[port]}
            if loud:
                self.load.samples.append(Sample(round(found_s, 3), loud))
            seen, seen_s = found, found_s

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record meanwhile."""
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()
