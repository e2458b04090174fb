"""Sessions that move a file between a node's filesystem and another's memory, one TCP connection each, as ftp does."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address
from typing import Literal

from causeway import interrupts
from causeway.lab.lab import Lab
from causeway.lab.probes.nuttcp import sockets
from causeway.process import run_all
from causeway.wait import until

#: get: into the node's file; put: out of it.
Way = Literal["get", "put"]
PORT = 5021
_PATIENCE_S = 600
#: Who asks for so many MiB gets zeros; what somebody sends is taken, and counted back to him.
_SERVER = """
import os, socket, sys, threading
block = bytes(1 << 20)
def serve(peer):
    way, mib = peer.recv(64).decode().split()
    peer.sendall(b"!")
    if way == "get":
        for _ in range(int(mib)):
            peer.sendall(block)
    else:
        left = int(mib) << 20
        while left:
            left -= len(peer.recv(min(left, 1 << 20)))
        peer.sendall(b"!")
    peer.close()
with socket.create_server(("", int(sys.argv[1]))) as here:
    while True:
        threading.Thread(target=serve, args=(here.accept()[0],)).start()
"""
#: Moves a file, and says how many seconds that took, until it is on disks (get) or there (put).
_CLIENT = """
import json, os, socket, sys, time
address, port, way, mib, name = sys.argv[1:]
peer = socket.create_connection((address, int(port)))
peer.sendall(f"{way} {mib}".encode())
peer.recv(1)
began, left = time.monotonic(), int(mib) << 20
with open(name, "wb" if way == "get" else "rb", buffering=0) as file:
    if way == "get":
        while left:
            block = peer.recv(min(left, 1 << 20), socket.MSG_WAITALL)
            left -= len(block)
            file.write(block)
        os.fsync(file.fileno())
    else:
        while left:
            block = file.read(min(left, 1 << 20))
            left -= len(block)
            peer.sendall(block)
        peer.recv(1)
print(json.dumps(time.monotonic() - began))
"""


@dataclass(frozen=True)
class Session:
    """A node's, with another one by its address: a file there of so many MiB."""

    node: str
    address: IPv4Address
    file: str
    mib: int


@contextmanager
def serving(lab: Lab, nodes: Sequence[str]) -> Iterator[None]:
    """Have nodes take and give what sessions move; nothing of it is left afterwards."""
    started = [lab.start_on(node, "python3", "-c", _SERVER, str(PORT)) for node in nodes]
    try:
        for node in nodes:
            until(f"{node} waits for sessions", partial(_not_listening, lab, node), deadline_s=10, poll_s=0.01)
        yield
    finally:
        with interrupts.held():
            for server in started:
                server.kill()


def _not_listening(lab: Lab, node: str) -> str:
    ports = [local[1] for local, _, state in sockets(lab, node) if state == "LISTEN"]
    return "" if PORT in ports else f"listening ports {ports}"


def move(lab: Lab, sessions: Sequence[Session], way: Way) -> list[float]:
    """All sessions at once; MB/s (10^6) of each."""
    words = [
        lab.enter(s.node, ["python3", "-c", _CLIENT, str(s.address), str(PORT), way, str(s.mib), s.file])
        for s in sessions
    ]
    results = run_all(words, timeout_s=_PATIENCE_S, at_once=len(words))
    took = [float(json.loads(result.must())) for result in results]
    return [session.mib * 2**20 / 1e6 / seconds for session, seconds in zip(sessions, took, strict=True)]
