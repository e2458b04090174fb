"""Jobs that a node starts on others by ssh, for scenarios: a process on each, on a terminal of its own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from causeway.lab.changes.change import Change, together
from causeway.lab.changes.daemons import daemon_with
from causeway.scenario.stage import Stage
from causeway.scenario.words.logins import called

#: What each process does, for longer than anybody waits; nobody else sleeps for as long.
_PROCESS = "sleep 864321"
_STARTS_S = 10


@contextmanager
def job(stage: Stage, starter: str, others: Sequence[str]) -> Iterator[None]:
    """A node has started a process on each of the others; at the end its own are killed.

    Their connections end with them, as far as the others hear of it. Each process has a terminal, which is lost with
    its connection, so that it ends, too (SIGHUP).
    """
    ssh = ("ssh", "-tt", "-o", "BatchMode=yes")
    names = [called(stage.site, other) for other in others]
    started = [stage.lab.start_on(starter, *ssh, name, f"exec {_PROCESS}") for name in names]
    try:
        stage.until("where its processes run", lambda: running(stage, others), is_=list(others), within_s=_STARTS_S)
        yield
    finally:
        for connection in started:
            connection.kill()


def running(stage: Stage, others: Sequence[str]) -> list[str]:
    """The nodes on which a process of such a job runs."""
    return [other for other in others if stage.lab.on(other, "pgrep", "-f", "-x", _PROCESS).rc == 0]


def end_by_hand(stage: Stage, others: Sequence[str]) -> None:
    """Kill what is left of a job."""
    for other in others:
        stage.lab.on(other, "pkill", "-f", "-x", _PROCESS)


def watchful(stage: Stage, others: Sequence[str], every_s: int, times: int) -> Change:
    """The nodes' sshd asks silent clients so often whether they are there, so many times in vain."""
    options = ("-o", f"ClientAliveInterval={every_s}", "-o", f"ClientAliveCountMax={times}")
    changes = [daemon_with(stage.lab, other, "sshd", *options) for other in others]
    return together(f"sshd asks its clients each {every_s} s, {times} times", changes)
