"""How a launcher is asked: a socket in its folder, one line of JSON there, one back; or a serial line's descriptor."""

import json
import os
import socket
from pathlib import Path
from typing import Any

from causeway.errors import BadInput, LabBroken

#: What asks for a serial line; the others are the checkpoints' (see `checkpoints.Checkpoints.do`).
LINE = "line"
_ADDRESS = "launcher.sock"
#: How long a launcher waits for a client's words, which are sent at once.
_WORDS_S = 5


def listen(folder: Path) -> socket.socket:
    """The launcher's side; its folder is the current one, for a socket's path is at most 107 bytes long."""
    (folder / _ADDRESS).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(_ADDRESS)
    listener.listen()
    return listener


def hear(client: socket.socket) -> tuple[str, list[str]]:
    """What a client asks for, and its words. OSError, ValueError where it says nothing that makes sense."""
    client.settimeout(_WORDS_S)
    what, *words = json.loads(_line(client))
    client.settimeout(None)
    return what, words


def answer(client: socket.socket, said: dict[str, Any]) -> None:
    """The one line back: `done` with what was found out, or an error's name with its text."""
    client.sendall(json.dumps(said).encode() + b"\n")


def connect(folder: Path, *words: str) -> socket.socket:
    """The client's side, which has asked for this. LabBroken where no launcher answers."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        client.connect(_ADDRESS)
        client.sendall(json.dumps(words).encode() + b"\n")
    except OSError as error:
        client.close()
        raise LabBroken(f"the launcher of {folder.name} does not answer: {error}") from None
    finally:
        os.fchdir(here)
        os.close(here)
    return client


def ask(folder: Path, *words: str) -> Any:
    """Have a launcher do something, and wait for it. BadInput or LabBroken as the launcher has it."""
    with connect(folder, *words) as client:
        line = _line(client)
    if not line:
        raise LabBroken(f"the lab host ended; its console: {folder / 'console'}")
    said = json.loads(line)
    for error in (BadInput, LabBroken):
        if error.__name__ in said:
            raise error(said[error.__name__])
    return said["done"]


def _line(end: socket.socket) -> bytes:
    with end.makefile("rb") as stream:
        return stream.readline()
