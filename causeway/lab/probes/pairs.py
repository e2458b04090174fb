"""Who can talk to whom, by packets as large as both ends send them, and by which routers: every pair, from one process.

A connection from a node's network to an address of another's is opened to a listener there, and both ends send more
than a full packet. A ping with the option to record its route says who passed it on, there and back (RFC 791).
"""

import os
import selectors
import socket
import struct
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Literal

from causeway.lab.lab import Lab
from causeway.lab.probes.reach import hang_up, listening, network_of
from causeway.model.thing import Port
from causeway.process import run_all

#: A node, and an interface of another's.
Pair = tuple[str, Port]
#: Nobody else's: below the ports that a kernel gives out, and odd, as no stream's is.
TALK_PORT = 4907
#: More than two packets of any size.
_PAYLOAD = bytes(20_000)
#: The second try of a lost packet comes after one second, the third after three; data is sent again from 0.2 s on.
_OPEN_S, _TALK_S = 3.5, 3.0
_AT_ONCE = 300
#: What is taken from a socket before others have their turn.
_AT_A_TIME = 100
#: tcp_info: the byte of options, and its bit for timestamps, which take 12 bytes of each packet (RFC 7323).
_OPTIONS, _TIMESTAMPS = 5, 1
_HEADERS = 40
#: NOP, and an empty record of nine addresses.
_RECORD_ROUTE = bytes([1, 7, 39, 4]) + bytes(36)
ECHO_REPLY, ECHO_REQUEST = 0, 8
_SOL_RAW, _ICMP_FILTER = 255, 1


@dataclass(frozen=True)
class Seen:
    """What a pair can do: `mtu` is the size of full packets; `there` and `back` are the routers, None if not known."""

    state: Literal["yes", "stalls", "no"]
    mtu: int = 0
    there: tuple[str, ...] | None = None
    back: tuple[str, ...] | None = None


@dataclass
class _Call:
    """A connection that is opened, and talks."""

    pair: Pair
    line: socket.socket
    begun: float
    opened: bool = False
    left: bytes = _PAYLOAD
    heard: int = 0


def seen(lab: Lab, targets: Mapping[Pair, IPv4Address]) -> dict[Pair, Seen]:
    """What every pair can do now; routes that nodes have learnt from others' complaints are forgotten first."""
    nodes = sorted({name for one, port in targets for name in (one, port.node)})
    run_all([lab.plug(node, ["ip", "route", "flush", "cache"]) for node in nodes], timeout_s=60)
    pairs, found = list(targets), {}
    with listening(lab, nodes, TALK_PORT) as listeners:
        for begin in range(0, len(pairs), _AT_ONCE):
            some = {pair: targets[pair] for pair in pairs[begin : begin + _AT_ONCE]}
            found.update(_talk(lab, some, listeners))
    ways = _routes(lab, {pair: targets[pair] for pair, (state, _) in found.items() if state != "no"})
    return {pair: Seen(state, mtu, *ways.get(pair, (None, None))) for pair, (state, mtu) in found.items()}


def by_source(pairs: Collection[Pair]) -> dict[str, list[Pair]]:
    """Pairs by their first node, so that its network is entered once."""
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(pair[0], []).append(pair)
    return found


def call(target: IPv4Address, port: int) -> tuple[socket.socket, int]:
    """A connection that is being opened from the network that this thread is in, and connect's error."""
    line = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    return line, line.connect_ex((str(target), port))


def _talk(
    lab: Lab, targets: Mapping[Pair, IPv4Address], listeners: Sequence[socket.socket]
) -> dict[Pair, tuple[Literal["yes", "stalls", "no"], int]]:
    selector = selectors.DefaultSelector()
    found: dict[Pair, tuple[Literal["yes", "stalls", "no"], int]] = {}
    served: dict[tuple[str, int], _Served] = {}
    calls: list[_Call] = []
    for listener in listeners:
        selector.register(listener, selectors.EVENT_READ, None)
    for source, pairs in by_source(targets).items():
        with network_of(lab.board(source)):
            for pair in pairs:
                line, error = call(targets[pair], TALK_PORT)
                if error and error != 115:  # EINPROGRESS
                    line.close()
                    found[pair] = "no", 0
                    continue
                calls.append(_Call(pair, line, time.monotonic()))
                selector.register(line, selectors.EVENT_WRITE, calls[-1])
    open_calls = {id(one): one for one in calls}

    def end(one: _Call, state: Literal["yes", "stalls", "no"]) -> None:
        selector.unregister(one.line)
        mtu = 0
        if state != "no":
            other = served.get(one.line.getsockname()[:2])
            mtu = min(_packet(line) for line in (one.line, *([other.line] if other else [])))
        found[one.pair] = state, mtu
        hang_up(one.line)
        del open_calls[id(one)]

    while open_calls:
        now = time.monotonic()
        for one in list(open_calls.values()):
            if now - one.begun > (_TALK_S if one.opened else _OPEN_S):
                end(one, "stalls" if one.opened else "no")
        next_end = min((o.begun + (_TALK_S if o.opened else _OPEN_S) for o in open_calls.values()), default=now)
        for key, _ in selector.select(max(0.0, next_end - now) + 0.001):
            if key.data is None:
                _accept(key.fileobj, selector, served)
            elif isinstance(key.data, _Served):
                _serve(key.data, selector)
            elif id(key.data) in open_calls and (state := _go_on(key.data, selector)):
                end(key.data, state)
    for other in served.values():
        hang_up(other.line)
    selector.close()
    return found


@dataclass
class _Served:
    line: socket.socket
    heard: int = 0
    left: bytes = field(default=_PAYLOAD)


def _accept(listener: object, selector: selectors.BaseSelector, served: dict[tuple[str, int], _Served]) -> None:
    assert isinstance(listener, socket.socket)
    with suppress(BlockingIOError):
        for _ in range(_AT_A_TIME):
            line, peer = listener.accept()
            line.setblocking(False)
            served[peer] = _Served(line)
            selector.register(line, selectors.EVENT_READ, served[peer])


def _serve(one: _Served, selector: selectors.BaseSelector) -> None:
    """Hear all, and then say as much."""
    try:
        if one.heard < len(_PAYLOAD):
            got = one.line.recv(65536)
            one.heard += len(got)
            if got and one.heard >= len(_PAYLOAD):
                selector.modify(one.line, selectors.EVENT_WRITE, one)
            elif not got:
                selector.unregister(one.line)
            return
        one.left = one.left[one.line.send(one.left) :]
        if not one.left:
            selector.unregister(one.line)
    except BlockingIOError:
        pass
    except OSError:
        selector.unregister(one.line)


def _go_on(one: _Call, selector: selectors.BaseSelector) -> Literal["yes", "stalls", "no", ""]:
    """What has become of a connection, or "" as long as it goes on."""
    try:
        if not one.opened:
            if error := one.line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(error, os.strerror(error))
            one.opened, one.begun = True, time.monotonic()
        if one.left:
            one.left = one.left[one.line.send(one.left) :]
            if not one.left:
                selector.modify(one.line, selectors.EVENT_READ, one)
            return ""
        got = one.line.recv(65536)
        one.heard += len(got)
        return "yes" if one.heard >= len(_PAYLOAD) else "" if got else "stalls"
    except BlockingIOError:
        return ""
    except OSError:
        return "stalls" if one.opened else "no"


def _packet(line: socket.socket) -> int:
    """The size of a connection's full packets."""
    info = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)
    options = 12 if info[_OPTIONS] & _TIMESTAMPS else 0
    return line.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG) + options + _HEADERS


# pings


def ping_socket(lab: Lab, node: str) -> socket.socket:
    """What sends and gets a node's pings; of all that comes the answers alone."""
    with network_of(lab.board(node)):
        made = socket.socket(socket.AF_INET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.IPPROTO_ICMP)
    made.setsockopt(_SOL_RAW, _ICMP_FILTER, struct.pack("I", 0xFFFFFFFF & ~(1 << ECHO_REPLY)))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    return made


def echo(identifier: int, payload: bytes) -> bytes:
    """An echo request. Source: RFC 792."""
    head = struct.pack("!BBHHH", ECHO_REQUEST, 0, 0, identifier, 0)
    whole = head + payload + b"\0" * (len(payload) % 2)
    total = sum(struct.unpack(f"!{len(whole) // 2}H", whole))
    total = (total >> 16) + (total & 0xFFFF)
    check = ~(total + (total >> 16)) & 0xFFFF
    return whole[:2] + struct.pack("!H", check) + whole[4:]


def answered(packet: bytes) -> tuple[int, bytes, list[IPv4Address]]:
    """Of an echo reply with its IP header: the identifier, what it carries, and the addresses that it recorded."""
    length = (packet[0] & 15) * 4
    (identifier,) = struct.unpack_from("!H", packet, length + 4)
    return identifier, packet[length + 8 :], _recorded(packet[20:length])


def _recorded(options: bytes) -> list[IPv4Address]:
    while options and options[0]:
        if options[0] == 1:
            options = options[1:]
            continue
        size = options[1]
        if options[0] == 7:
            whole = options[3 : options[2] - 1]
            return [IPv4Address(whole[i : i + 4]) for i in range(0, len(whole), 4)]
        options = options[max(size, 2) :]
    return []


_Way = tuple[tuple[str, ...] | None, tuple[str, ...] | None]
_TRIES, _ANSWER_S = 3, 1.0
#: Pings that are sent at the same instant. All nodes' kernel is one, which has room for about 170 answers on their way
#: (ipv4_icmp_sk's send buffer, 131 KiB), where nodes of their own have so much each: of more the last are lost.
PINGS_AT_ONCE = 50
#: And how long such have to be on their way.
_NEXT_S = 0.01


def _routes(lab: Lab, targets: Mapping[Pair, IPv4Address]) -> dict[Pair, _Way]:
    """The routers of each pair that a ping finds."""
    owner = {leg.address: name for name, node in lab.site.nodes.items() for leg in node.interfaces.values()}
    pairs = list(targets)
    found: dict[Pair, _Way] = {}
    with ExitStack() as stack:
        sockets = {one: stack.enter_context(ping_socket(lab, one)) for one in by_source(pairs)}
        selector = stack.enter_context(selectors.DefaultSelector())
        for line in sockets.values():
            line.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, _RECORD_ROUTE)
            selector.register(line, selectors.EVENT_READ)
        identifier = os.getpid() & 0xFFFF

        def hear(until: float) -> None:
            while len(found) < len(pairs) and (left := until - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    assert isinstance(key.fileobj, socket.socket)
                    with suppress(BlockingIOError):
                        for _ in range(_AT_A_TIME):
                            who, said, recorded = answered(key.fileobj.recv(2048))
                            if who == identifier:
                                pair = pairs[struct.unpack_from("!I", said)[0]]
                                found[pair] = passed([owner.get(a, str(a)) for a in recorded], pair[0], pair[1].node)

        for _ in range(_TRIES):
            left = [number for number, pair in enumerate(pairs) if pair not in found]
            for begin in range(0, len(left), PINGS_AT_ONCE):
                for number in left[begin : begin + PINGS_AT_ONCE]:
                    one, target = pairs[number][0], str(targets[pairs[number]])
                    with suppress(OSError):
                        sockets[one].sendto(echo(identifier, struct.pack("!I", number)), (target, 0))
                hear(time.monotonic() + _NEXT_S)
            hear(time.monotonic() + _ANSWER_S)
    return found


def passed(names: Sequence[str], one: str, other: str) -> _Way:
    """The routers there and back of what a ping recorded: its sender first, and each node once or twice in a row."""
    once = [name for place, name in enumerate(names) if place == 0 or names[place - 1] != name]
    if other not in once:
        return None, None
    turn = once.index(other)
    there, back = once[1:turn] if once[0] == one else once[:turn], once[turn + 1 :]
    return tuple(there), tuple(back[:-1]) if back[-1:] == [one] else None
