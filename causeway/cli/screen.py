"""What a person sees of a command: results on standard output, all else on standard error."""

import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from rich.color import ColorSystem
from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner

from causeway.hosts import mailbox


class Screen(Console):
    """A stream for people. What is printed is often others' words, in which a bracket is no markup."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, soft_wrap=True, markup=False)

    def heed(self, columns: int, *, styled: bool, colours: bool) -> None:
        """Print so wide, with styles or without, whatever this process's own stream is."""
        self.width = columns
        self.no_color = not colours
        self._color_system = ColorSystem.STANDARD if styled else None


out = Screen()
err = Screen(stderr=True)


def heed_outside() -> None:
    """In a lab host: print as a job's output is seen. These streams were looked at before there was a job."""
    columns, colours, *styled = os.environ[mailbox.SEEN].split()
    for name, stream in (("out", out), ("err", err)):
        stream.heed(int(columns), styled=name in styled, colours=colours == "colours")


def tell(text: str) -> None:
    """Say something about how it goes: on a terminal in lines of its width, elsewhere in one, for those who search."""
    err.print(text, soft_wrap=not err.is_terminal)


def show(text: str, indent: int = 0) -> None:
    """Print a result in words, in lines of the terminal's width (80 where there is none)."""
    margin = " " * indent
    out.print(textwrap.fill(text, out.width, initial_indent=margin, subsequent_indent=margin))


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Say what goes on: one changing line on a terminal, a line a change elsewhere."""
    if err.is_terminal:
        line = Spinner("dots")
        # what rich redirects goes where the line is: a result that is for a file must not
        with Live(line, console=err, transient=True, refresh_per_second=12.5, redirect_stdout=sys.stdout.isatty()):
            yield lambda text: line.update(text=text)
    else:
        last, when = "", 0.0

        def say(text: str) -> None:
            nonlocal last, when
            stem = text.split(":")[0]
            if stem != last or monotonic() - when > 15:
                last, when = stem, monotonic()
                tell(text)

        yield say


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
