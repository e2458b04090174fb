"""Which addresses a name server has for names: asked by packets of our own, for a program would be started for each."""

import socket
import struct
import time
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address

from causeway.lab.lab import Lab
from causeway.lab.probes.reach import network_of

PORT = 53
_A, _IN = 1, 1
#: Recursion desired, in a query's flags. Source: RFC 1035, 4.1.1.
_RECURSION = 0x0100
#: How long answers to a handful of questions may take, in seconds; and how many that is, so that none is dropped.
_PATIENCE_S = 1.0
_AT_ONCE = 50


def resolved(lab: Lab, server: str, names: Sequence[str], port: int = PORT) -> dict[str, set[IPv4Address]]:
    """What a node's name server has for each full name; nothing for names of which it says nothing.

    After a handful of questions of which none was answered no more are asked.
    """
    found: dict[str, set[IPv4Address]] = {name: set() for name in names}
    with network_of(lab.board(server)):
        line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with line:
        line.connect((str(lab.site.known_by(server).address), port))
        for begin in range(0, len(names), _AT_ONCE):
            asked = range(begin, min(begin + _AT_ONCE, len(names)))
            if not (answers := dict(_answers(line, {number: question(number, names[number]) for number in asked}))):
                break
            found |= {names[number]: addresses for number, addresses in answers.items()}
    return found


def _answers(line: socket.socket, questions: dict[int, bytes]) -> Iterator[tuple[int, set[IPv4Address]]]:
    """Ask, and give what is answered within the patience. Who refuses answers nothing."""
    left, end = set(questions), time.monotonic() + _PATIENCE_S
    try:
        for asked in questions.values():
            line.send(asked)
        while left and (patience_s := end - time.monotonic()) > 0:
            line.settimeout(patience_s)
            number, addresses = answer(line.recv(4096))
            if number in left:
                left.remove(number)
                yield number, addresses
    except OSError:
        return


def question(number: int, name: str) -> bytes:
    """A query for a name's addresses. Source: RFC 1035, 4.1."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split("."))
    return struct.pack("!6H", number, _RECURSION, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", _A, _IN)


def answer(packet: bytes) -> tuple[int, set[IPv4Address]]:
    """Of an answer the query's number, and the addresses in it."""
    number, _, questions, answers = struct.unpack_from("!4H", packet)
    at = 12
    for _ in range(questions):
        at = _after_name(packet, at) + 4
    found = set()
    for _ in range(answers):
        at = _after_name(packet, at)
        kind, _, _, size = struct.unpack_from("!2HIH", packet, at)
        if kind == _A:
            found.add(IPv4Address(packet[at + 10 : at + 14]))
        at += 10 + size
    return number, found


def _after_name(packet: bytes, at: int) -> int:
    """Where a name ends that begins there: labels up to an empty one, or a pointer to others."""
    while size := packet[at]:
        if size >= 0xC0:
            return at + 2
        at += 1 + size
    return at + 1
