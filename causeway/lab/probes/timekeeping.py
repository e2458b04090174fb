"""What chronyd on a node says of its clock and of its sources, in the figures of chronyc(1)."""

import re
from dataclasses import dataclass

from causeway.lab.lab import Lab

#: chrony's own bound of what a clock may gain or lose by itself (chrony.conf(5), maxclockerror), per second.
MAX_CLOCK_ERROR = 1e-6


@dataclass(frozen=True)
class Tracking:
    """`chronyc tracking`. Stratum 0 and "Not synchronised" say that it has no time from anybody.

    root_dispersion_s bounds the clock's error together with half of root_delay_s; it says nothing of the error itself.
    """

    stratum: int
    residual: float  # of the frequency, per second, as skew is
    skew: float
    root_delay_s: float
    root_dispersion_s: float
    leap: str

    @property
    def grows_by(self) -> float:
        """By how much the root dispersion grows in each second without a new sample (reference.c of chrony)."""
        return self.skew + abs(self.residual) + MAX_CLOCK_ERROR


@dataclass(frozen=True)
class Source:
    """A line of `chronyc sources`. Reach has a bit for each of the last eight polls that were answered."""

    address: str
    selected: bool
    reach: int


def tracking(lab: Lab, node: str) -> Tracking:
    return parse_tracking(lab.on(node, "chronyc", "-n", "-c", "tracking").must())


def source(lab: Lab, node: str) -> Source:
    """The node's only source."""
    return parse_source(lab.on(node, "chronyc", "-n", "-c", "sources").must())


def parse_tracking(line: str) -> Tracking:
    """Read `chronyc -c tracking`."""
    fields = line.strip().split(",")
    residual, skew, delay, dispersion = map(float, fields[8:12])
    return Tracking(int(fields[2]), residual / 1e6, skew / 1e6, delay, dispersion, fields[13])


def parse_offset(text: str) -> float | None:
    """Read `chronyc -c sources`: seconds that a node is off the source it has chosen; None where it has chosen none."""
    chosen = re.search(r"^\^,\*,.*$", text, re.MULTILINE)
    return float(chosen[0].split(",")[7]) if chosen else None


def parse_source(text: str) -> Source:
    """Read `chronyc -c sources` of a node with one source. Raises ValueError when it has another number."""
    (line,) = re.findall(r"^\^.*$", text, re.MULTILINE)
    _, state, address, _, _, reach, *_ = line.split(",")
    return Source(address, state == "*", int(reach, 8))
