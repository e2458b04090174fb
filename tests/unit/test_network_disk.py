"""A disk over the network: what its server answers, who plays, what is computed, and how each check fails."""

import mmap
import random
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.lab.probes.disk_server import (
    ABOUT,
    ACK,
    ANSWER,
    END,
    EXPORT_NAME,
    GO,
    HELLO,
    OPTION,
    READ,
    REPLY,
    REQUEST,
    UNKNOWN,
    WRITE,
    serve,
    take,
)
from causeway.lab.probes.fio import DiskJob, _disk_argv
from causeway.model.load import load_site
from causeway.scenario.cast import Ask
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words.network_disks import Requests, without_bursts
from tests.unit.here import SITE, Here
from tests.unit.test_xe_files import XE
from tests.unit.told import Told, play

DISK = load("network_disk")
SIZE = 1 << 20


@contextmanager
def client() -> Iterator[socket.socket]:
    """The other end of a server's connection; the server has ended when it has."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    disk = mmap.mmap(-1, SIZE)
    server = threading.Thread(target=serve, args=(_Quiet(theirs), disk))
    server.start()
    ours.settimeout(5)
    assert struct.unpack(">QQH", take(ours, 18)) == (HELLO, OPTION, 1)
    ours.sendall(bytes(4))
    try:
        yield ours
    finally:
        ours.close()
        server.join(5)
        assert not server.is_alive()


class _Quiet(socket.socket):
    """A socket of no network, which knows no option of TCP's."""

    def __init__(self, other: socket.socket) -> None:
        super().__init__(other.family, other.type, fileno=other.detach())

    def setsockopt(self, *_: Any) -> None:  # type: ignore[override]
        pass


def asks(to: socket.socket, option: int, data: bytes = b"") -> None:
    to.sendall(struct.pack(">QII", OPTION, option, len(data)) + data)


def request(to: socket.socket, kind: int, offset: int, length: int, data: bytes = b"") -> None:
    to.sendall(struct.pack(">IHHQQI", REQUEST, 0, kind, 77, offset, length) + data)


def test_a_client_asks_for_a_disk_writes_and_reads_it() -> None:
    with client() as ours:
        asks(ours, 8)
        assert struct.unpack(">QIII", take(ours, 20)) == (ANSWER, 8, UNKNOWN, 0)
        asks(ours, GO, b"disk")
        assert struct.unpack(">QIII", take(ours, 20)) == (ANSWER, GO, ABOUT, 12)
        assert struct.unpack(">HQH", take(ours, 12)) == (0, SIZE, 0b101)
        assert struct.unpack(">QIII", take(ours, 20)) == (ANSWER, GO, ACK, 0)
        request(ours, WRITE, 4096, 5, b"hello")
        assert struct.unpack(">IIQ", take(ours, 16)) == (REPLY, 0, 77)
        request(ours, READ, 4094, 8)
        assert struct.unpack(">IIQ", take(ours, 16)) == (REPLY, 0, 77)
        assert take(ours, 8) == b"\0\0hello\0"
        request(ours, END, 0, 0)
        assert ours.recv(1) == b""


def test_an_old_client_names_its_disk_and_has_it() -> None:
    with client() as ours:
        asks(ours, EXPORT_NAME, b"disk")
        assert struct.unpack(">QH", take(ours, 134)[:10]) == (SIZE, 0b101)
        request(ours, READ, SIZE - 2, 2)
        assert take(ours, 18)[16:] == b"\0\0"


def test_fio_asks_for_so_many_blocks_at_once_and_one_is_late() -> None:
    argv = _disk_argv(DiskJob("x1", "nbd://10.0.1.1:10809/disk", 3, 5, 128, 32, 0.0093), "read")
    assert argv[:2] == ["sh", "-c"] and argv[2].startswith("sleep 0.0093;")
    words = {"--ioengine=nbd", "--uri=nbd://10.0.1.1:10809/disk", "--bs=128k", "--iodepth=32", "--offset=3m"}
    assert words <= set(argv) and "--rw=read" in argv and "--end_fsync=1" not in argv


@pytest.mark.parametrize(
    ("asked", "part"), [(Requests(32, 1), 0.273), (Requests(128, 1), 0.6), (Requests(1024, 1), 0.923)]
)
def test_a_block_takes_its_time_on_the_wire_and_a_round_trip(asked: Requests, part: float) -> None:
    assert asked.alone_mb(11.77, 0.00742) / 11.77 == pytest.approx(part, abs=0.001)
    assert asked.alone_mb(11.77, 0) == pytest.approx(11.77)
    assert Requests(asked.kib, 32).alone_mb(11.77, 0.00742) == pytest.approx(11.77)


def test_like_hosts_are_at_one_switch_of_the_slowest_network() -> None:
    equals = Ask(XE).equals(3)
    assert (equals.network, equals.hosts, equals.ports["x6"].device) == ("g", ["x1", "x2", "x6"], "eth0")
    with pytest.raises(Unsupported, match="jubl has no switch that learns, with three hosts with disks at ports"):
        Ask(SITE).equals(3)
    jumbo = load_site(REPO / "topologies/dcs9900/site.yaml")
    with pytest.raises(Unsupported, match="dcs9900 has no switch that learns, with three hosts with disks at ports"):
        Ask(jumbo).equals(3)


def test_bursts_are_small_at_both_ends_of_each_cable_until_the_undo(tmp_path: Path) -> None:
    stage = Stage(Here(XE, tmp_path), random.Random(1))
    change = without_bursts(stage, Ask(XE).equals(3))
    assert {step.node for step in change.there} == {"x1", "x2", "x6", "smc"} and len(change.there) == 6
    assert all("burst 3076" in " ".join(step.argv) and "rate 100mbit" in " ".join(step.argv) for step in change.there)
    assert all("burst 32k" in " ".join(step.argv) for step in change.back)


def play_disk(wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    delayed, was = False, False

    def delays(_: Any, node: str, device: str, ms: float) -> Change:
        assert (node, device) == ("x1", "eth0") and ms == pytest.approx(3.71, abs=0.01)  # 128 KiB take 11.1 ms

        def late(value: bool) -> None:
            nonlocal delayed, was
            delayed, was = value, True

        return Told("late", lambda: late(True), lambda: late(wrong == "it stays late"))

    def transfer(
        _: Stage, __: Any, clients: Sequence[str], way: str, asked: Requests, ___: float, apart_s: float
    ) -> float:
        assert (apart_s > 0) == (len(clients) > 1)
        trip_s = 0.00742 if delayed and wrong != "nothing is late" else 0.0
        due = min(11.768, len(clients) * asked.alone_mb(11.768, trip_s))
        here = {
            "writing is slow": way == "write" and not was,
            "reading is slow": way == "read" and not was,
            "a writer waits": way == "write" and delayed and len(clients) == 1,
            "two writers are slow": way == "write" and len(clients) == 2,
            "two readers wait for each other": way == "read" and len(clients) == 2,
            "small blocks wait longer": asked.kib == 32,
            "large blocks wait, too": asked.kib == 1024,
            "many at once wait, too": asked.depth > 1 and way == "read",
            "writing stays slow": way == "write" and was and not delayed,
        }
        return due * (0.75 if here.get(wrong) else 1)

    words = {"link_delayed": delays, "transfer": transfer, "served": lambda *_: nullcontext()}
    words["without_bursts"] = lambda *_: Told("smooth", lambda: None, lambda: None)
    play(DISK, XE, folder, monkeypatch, words)


def test_network_disk_passes_where_all_is_as_it_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_disk("", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("writing is slow", "one writes, no delay: part of the wire: expected 1.0, measured 0.75"),
        ("reading is slow", "one reads, no delay: part of the wire"),
        ("a writer waits", "one writes: part of the wire"),
        ("two writers are slow", "two write: part of the wire"),
        ("nothing is late", "one reads: part of the wire: expected 0.6, measured 1.0"),
        ("two readers wait for each other", "two read: part of the wire: expected 1.0, measured 0.75"),
        ("small blocks wait longer", "one swaps in: part of the wire: expected 0.273"),
        ("large blocks wait, too", "one reads large blocks: part of the wire: expected 0.923"),
        ("many at once wait, too", "one reads many at once: part of the wire"),
        ("it stays late", "one reads, no delay again: part of the wire"),
        ("writing stays slow", "one writes, afterwards: part of the wire"),
    ],
)
def test_each_check_of_network_disk_can_fail(
    wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed, match=said):
        play_disk(wrong, tmp_path, monkeypatch)
