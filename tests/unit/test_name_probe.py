"""What a name server has for names: by a server of our own on loopback."""

import socket
import struct
import threading
from contextlib import nullcontext
from ipaddress import IPv4Address
from types import SimpleNamespace
from typing import Any

import pytest

from causeway.lab.probes import names
from causeway.lab.probes.names import answer, question, resolved

ADDRESS = IPv4Address("10.1.2.3")


def said(asked: bytes, *records: tuple[int, bytes]) -> bytes:
    """An answer with records of these kinds, their names pointers to the question's."""
    rows = b"".join(b"\xc0\x0c" + struct.pack("!2HIH", kind, 1, 60, len(data)) + data for kind, data in records)
    return asked[:2] + struct.pack("!5H", 0x8580, 1, len(records), 0, 0) + asked[12:] + rows


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A lab whose name server, on loopback, has ADDRESS for names that begin with a, and says nothing of `silent`."""
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.bind(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                asked, peer = line.recvfrom(4096)
            except OSError:
                return
            label = asked[13 : 13 + asked[12]]
            if label != b"silent":
                line.sendto(said(asked, (1, ADDRESS.packed)) if label[:1] == b"a" else said(asked), peer)

    threading.Thread(target=serve, daemon=True).start()
    monkeypatch.setattr(names, "network_of", lambda _: nullcontext())
    known = SimpleNamespace(address=IPv4Address("127.0.0.1"))
    site = SimpleNamespace(known_by=lambda _: known)
    lab = SimpleNamespace(site=site, board=lambda _: 1)
    yield lab, line.getsockname()[1]
    line.close()


def test_each_name_has_what_the_server_says(server: Any) -> None:
    lab, port = server
    wanted = [f"{first}{number}.x.example." for first in "ab" for number in range(40)]
    found = resolved(lab, "ns", wanted, port)
    assert list(found) == wanted
    assert [name for name, addresses in found.items() if addresses == {ADDRESS}] == wanted[:40]
    assert all(addresses == set() for addresses in list(found.values())[40:])


def test_of_one_that_is_silent_there_is_nothing_and_nobody_waits_for_each(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, port = server
    monkeypatch.setattr(names, "_PATIENCE_S", 0.2)
    assert resolved(lab, "ns", ["silent.x.", "a.x."], port) == {"silent.x.": set(), "a.x.": {ADDRESS}}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
        gone.bind(("127.0.0.1", 0))
        nobody = gone.getsockname()[1]
    assert set(map(len, resolved(lab, "ns", [f"a{number}.x." for number in range(200)], nobody).values())) == {0}


def test_an_answer_is_read_by_its_own_form() -> None:
    asked = question(7, "a.long.name.example.")
    assert asked[12:] == b"\x01a\x04long\x04name\x07example\x00\x00\x01\x00\x01"
    alias = said(asked, (5, b"\x01b\xc0\x0e"), (1, ADDRESS.packed))
    assert answer(alias) == (7, {ADDRESS})
    assert answer(said(asked)) == (7, set())
