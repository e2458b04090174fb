"""Who can open a TCP connection to whom: every node to every other one, in seconds also for 300 nodes."""

import ctypes
import os
import selectors
import socket
import struct
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from errno import EINPROGRESS
from ipaddress import IPv4Address
from typing import Any

from causeway.errors import LabBroken
from causeway.lab.lab import Lab

#: A daemon that every host has.
SSH_PORT = 22
#: Nobody else's: below the ports that a kernel gives out, and odd, as no stream's is.
_REACH_PORT = 4911
#: How long an answer may take. The second try of a lost packet comes after one second, and a neighbour that
#: does not answer ARP is given up after three.
_PATIENCE_S = 3.5
#: Sources that try at once: each needs a file descriptor for every other node.
_AT_ONCE = 16
_CLONE_NEWNET = 0x40000000


def matrix(lab: Lab, nodes: Sequence[str]) -> dict[tuple[str, str], bool]:
    """(one, other) -> whether one opens a connection to the other, from first address to first address.

    What listens is of our own: a daemon would start a process for each of so many.
    """
    addresses = {node: str(lab.site.known_by(node).address) for node in nodes}
    found = {(one, other): False for one in nodes for other in nodes if one != other}
    with listening(lab, nodes, _REACH_PORT):
        for start in range(0, len(nodes), _AT_ONCE):
            selector = selectors.DefaultSelector()
            for one in nodes[start : start + _AT_ONCE]:
                with network_of(lab.board(one)):
                    for other in nodes:
                        if one != other and (line := _connecting((addresses[one], 0), (addresses[other], _REACH_PORT))):
                            selector.register(line, selectors.EVENT_WRITE, (one, other))
            for pair in _answered(selector):
                found[pair] = True
    return found


def opened(lab: Lab, one: str, tries: Mapping[str, tuple[tuple[IPv4Address, int], IPv4Address]]) -> list[str]:
    """Which of a node's tries get a connection to sshd: by label, from an address and port of its own to an address."""
    selector = selectors.DefaultSelector()
    with network_of(lab.board(one)):
        for label, ((source, port), target) in tries.items():
            if line := _connecting((str(source), port), (str(target), SSH_PORT)):
                selector.register(line, selectors.EVENT_WRITE, label)
    return sorted(_connected(selector))


@contextmanager
def listening(lab: Lab, nodes: Collection[str], port: int) -> Iterator[list[socket.socket]]:
    """Listeners on nodes; LabBroken where the port is taken."""
    with ExitStack() as stack:
        listeners = []
        for node in nodes:
            with network_of(lab.board(node)):
                listener = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK))
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    listener.bind(("0.0.0.0", port))
                except OSError as error:
                    raise LabBroken(f"{node}: port {port}: {error.strerror}") from None
                listener.listen(1024)
            listeners.append(listener)
        yield listeners


def hang_up(line: socket.socket) -> None:
    """Close at once: nothing is left, no packet is waited for."""
    with suppress(OSError):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()


def _connecting(source: tuple[str, int], target: tuple[str, int]) -> socket.socket | None:
    """A connection that is being opened; None where there is no route to the target."""
    line = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    line.bind(source)
    if line.connect_ex(target) in (0, EINPROGRESS):
        return line
    line.close()
    return None


def _answered(selector: selectors.BaseSelector) -> Iterator[Any]:
    """The data of those that are open within the patience; all are closed at once."""
    end = time.monotonic() + _PATIENCE_S
    while selector.get_map() and (left := end - time.monotonic()) > 0:
        for key, _ in selector.select(left):
            line = key.fileobj
            assert isinstance(line, socket.socket)
            if line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                yield key.data
            selector.unregister(line)
            hang_up(line)
    _forget(selector)


def _connected(selector: selectors.BaseSelector) -> Iterator[Any]:
    """The data of those that are accepted within the patience; all are closed.

    An sshd takes ten connections that have not logged in yet, and of more it resets some (MaxStartups). So the next
    one, somebody's login, must not come before it has noticed that these are over: it hangs up, too.
    """
    end = time.monotonic() + _PATIENCE_S
    while selector.get_map() and (left := end - time.monotonic()) > 0:
        for key, events in selector.select(left):
            line = key.fileobj
            assert isinstance(line, socket.socket)
            if events & selectors.EVENT_WRITE and line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                yield key.data
                selector.modify(line, selectors.EVENT_READ, key.data)
                with suppress(OSError):  # it was accepted, and is reset already
                    line.shutdown(socket.SHUT_WR)
            elif events & selectors.EVENT_WRITE or not _says_more(line):
                selector.unregister(line)
                line.close()
    _forget(selector)


def _forget(selector: selectors.BaseSelector) -> None:
    """Close it, and what is left in it."""
    for key in list(selector.get_map().values()):
        assert isinstance(key.fileobj, socket.socket)
        key.fileobj.close()
    selector.close()


def _says_more(line: socket.socket) -> bool:
    try:
        return bool(line.recv(4096))
    except OSError:
        return False


@contextmanager
def network_of(pid: int) -> Iterator[None]:
    """Sockets that are made meanwhile belong to the network of a process, and stay there."""
    own, theirs = (os.open(f"/proc/{which}/ns/net", os.O_RDONLY) for which in ("thread-self", pid))
    try:
        _set_network(theirs)
        yield
    finally:
        _set_network(own)
        os.close(own)
        os.close(theirs)


def _set_network(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, _CLONE_NEWNET) != 0:
        raise LabBroken(f"cannot enter a node's network: {os.strerror(ctypes.get_errno())}")
