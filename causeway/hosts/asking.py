"""How a launcher is asked: a socket in a lab's folder, one line of JSON there, one back, or a descriptor of a line."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from causeway.errors import BadInput, LabBroken

#: What asks for a serial line; others are the checkpoints' (see `checkpoints.Checkpoints.do`).
LINE = "line"
#: Of a lab that comes up: from now on it is at rest, to make labs of. Of a template: one more lab, which whoever asked
#: holds by this connection; what it is like; and its end. Of a lab that is new: that it goes on, until who asked is
#: gone, or for good.
KEEP, LAB, ABOUT, END, GO, STAY = "keep", "lab", "about", "end", "go", "stay"
#: What holds a job: by this connection's end its asker is known to be gone, however he ended, and the job is cancelled.
HOLD = "hold"
_ADDRESS = "launcher.sock"
#: How long a launcher waits for a client's words, which are sent at once.
_WORDS_S = 5


def listen(folder: Path) -> socket.socket:
    """The launcher's side."""
    (folder / _ADDRESS).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with _in(folder):
        listener.bind(_ADDRESS)
    listener.listen()
    return listener


@contextmanager
def _in(folder: Path) -> Iterator[None]:
    """In the folder, for a socket's path is at most 107 bytes long."""
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        yield
    finally:
        os.fchdir(here)
        os.close(here)


def hear(client: socket.socket) -> tuple[str, list[str]]:
    """What a client asks for, and its words. OSError, ValueError where it says nothing that makes sense."""
    client.settimeout(_WORDS_S)
    what, *words = json.loads(_line(client))
    client.settimeout(None)
    return what, words


def answer(client: socket.socket, said: dict[str, Any]) -> None:
    """The one line back: `done` with what was found out, or an error's name with its text."""
    client.sendall(json.dumps(said).encode() + b"\n")


def gone(client: socket.socket) -> bool:
    """Whether it has closed the connection, or died."""
    try:
        return not client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


def connect(folder: Path, *words: str) -> socket.socket:
    """The client's side, which has asked for this. LabBroken where no launcher answers."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _in(folder):
            client.connect(_ADDRESS)
        client.sendall(json.dumps(words).encode() + b"\n")
    except OSError as error:
        client.close()
        raise LabBroken(f"the launcher of {folder.name} does not answer: {error}") from None
    return client


def ask(folder: Path, *words: str) -> Any:
    """Have a launcher do something, and wait for it. BadInput or LabBroken as the launcher has it."""
    with connect(folder, *words) as client:
        return said(folder, client)


def said(folder: Path, client: socket.socket) -> Any:
    """What the launcher answers on a connection. BadInput or LabBroken as it has it."""
    line = _line(client)
    if not line:
        raise LabBroken(f"the lab host ended; its console: {folder / 'console'}")
    words = json.loads(line)
    for error in (BadInput, LabBroken):
        if error.__name__ in words:
            raise error(words[error.__name__])
    return words["done"]


def _line(end: socket.socket) -> bytes:
    with end.makefile("rb") as stream:
        return stream.readline()
