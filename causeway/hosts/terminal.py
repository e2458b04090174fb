"""This process's terminal, joined to a serial line of a lab host."""

import os
import select
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Callable
from contextlib import suppress

from causeway.hosts import mailbox


def join(job: mailbox.Job, line: int, alive: Callable[[], bool]) -> int | None:
    """Pass bytes both ways between this terminal and the line until the job ends; returns its exit code.

    None where it is alive no more, and has none.
    """
    stdin, stdout = sys.stdin.fileno(), sys.stdout.fileno()
    interactive = os.isatty(stdin)
    saved = termios.tcgetattr(stdin) if interactive else None
    sources = [stdin, line]

    def tell_size(*_: object) -> None:
        columns, rows = shutil.get_terminal_size()
        job.size(rows, columns)

    tell_size()
    old = signal.signal(signal.SIGWINCH, tell_size)
    try:
        if interactive:
            tty.setraw(stdin)
        while (rc := job.rc) is None and alive():
            readable, _, _ = select.select(sources, [], [], mailbox.POLL_S)
            if line in readable:
                with suppress(BlockingIOError):
                    os.write(stdout, os.read(line, 65536))
            if stdin in readable:
                typed = os.read(stdin, 1024)
                if not typed:
                    sources.remove(stdin)
                    typed = b"\x04"  # end of input, as a terminal says it
                _write_all(line, typed)
        with suppress(BlockingIOError):
            while select.select([line], [], [], 0.05)[0]:
                os.write(stdout, os.read(line, 65536))
        return rc
    finally:
        signal.signal(signal.SIGWINCH, old)
        if saved is not None:
            termios.tcsetattr(stdin, termios.TCSADRAIN, saved)


def _write_all(line: int, data: bytes) -> None:
    while data:
        select.select([], [line], [])
        data = data[os.write(line, data) :]
