"""Who is accepted: by daemons of their own on loopback."""

import selectors
import socket
import threading
from errno import EINPROGRESS

from causeway.lab.probes.reach import _connected


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
