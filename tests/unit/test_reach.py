"""Who is accepted: by daemons of their own on loopback."""

import selectors
import socket
import threading
from errno import EINPROGRESS
from pathlib import Path

import pytest
from here import here

from causeway.lab.probes.connections import listens
from causeway.lab.probes.reach import _answered, _connected


def daemon(seen: list[bytes]) -> socket.socket:
    """Says who it is to each, and hangs up when the other has: as sshd does with one who does not log in."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return
            line.send(b"SSH-2.0-daemon\r\n")
            seen.append(line.recv(1))
            line.close()

    threading.Thread(target=serve, daemon=True).start()
    return listener


def connecting(selector: selectors.BaseSelector, address: tuple[str, int], label: str) -> None:
    line = socket.socket()
    line.setblocking(False)
    assert line.connect_ex(address) in (0, EINPROGRESS)
    selector.register(line, selectors.EVENT_WRITE, label)


def test_those_who_are_accepted_are_named_and_the_daemon_has_forgotten_them() -> None:
    seen: list[bytes] = []
    with daemon(seen) as listener, socket.create_server(("127.0.0.1", 0)) as gone:
        nobody = gone.getsockname()
        gone.close()
        selector = selectors.DefaultSelector()
        for label in ("one", "two", "three"):
            connecting(selector, listener.getsockname(), label)
        connecting(selector, nobody, "nobody listens")
        assert sorted(_connected(selector)) == ["one", "three", "two"]
        assert seen == [b""] * 3


def test_those_whose_connection_is_open_are_named_and_nothing_is_left_of_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_server(("127.0.0.1", 0)) as gone:
        nobody = gone.getsockname()
        gone.close()
        selector = selectors.DefaultSelector()
        for label in ("one", "two"):
            connecting(selector, listener.getsockname(), label)
        connecting(selector, nobody, "nobody listens")
        assert sorted(_answered(selector)) == ["one", "two"]
        ours = f":{listener.getsockname()[1]:04X} "
        assert [
            line for line in Path("/proc/net/tcp").read_text().splitlines() if line.split()[2].endswith(ours[:-1])
        ] == []


def test_who_listens_is_known_without_a_connection(tmp_path: Path) -> None:
    with socket.create_server(("0.0.0.0", 0)) as listener:
        port = listener.getsockname()[1]
        assert listens(here(tmp_path), "SN", port)
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert not listens(here(tmp_path), "SN", port)
