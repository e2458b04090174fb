"""When the two ends of a cable last heard LACP of each other."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from causeway import interrupts
from causeway.lab.lab import Lab
from causeway.wait import until

#: An end in slow rate speaks every 30 s.
_BOTH_SPEAK_S = 65
_RECORD = "exec tcpdump -l -n -tt -Q $0 -i $1 ether proto 0x8809 >/run/lacp.$0"


@contextmanager
def listening(lab: Lab, node: str, device: str) -> Iterator[Callable[[float], tuple[float, float]]]:
    """Write down LACP's frames at one end of a cable, from when one has passed each way.

    Gives a function: the times of the last frames that came in and that went out before a time, in seconds since
    1970 on the lab's clock. What went out is what the other end heard.
    """
    listeners = [lab.start_on(node, "sh", "-c", _RECORD, way, device) for way in ("in", "out")]

    def times(way: str) -> list[float]:
        file = lab.file(node, f"/run/lacp.{way}")
        return parse_times(file.read_text() if file.exists() else "")

    try:
        until(
            "both ends have spoken", lambda: "" if times("in") and times("out") else "not yet", deadline_s=_BOTH_SPEAK_S
        )
        yield lambda before: (
            max(at for at in times("in") if at < before),
            max(at for at in times("out") if at < before),
        )
    finally:
        with interrupts.held():
            for listener in listeners:
                listener.kill()
            lab.on(node, "rm", "-f", "/run/lacp.in", "/run/lacp.out")


def parse_times(text: str) -> list[float]:
    """Read `tcpdump -tt`, whose last line may be half written."""
    return [
        float(line.split()[0]) for line in text.splitlines(keepends=True) if line.endswith("\n") and line[0] != "\t"
    ]
