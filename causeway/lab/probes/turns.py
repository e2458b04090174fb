"""Exchange messages with other nodes in turns, and say when each turn was over.

The program that `messages` starts on a node's network, with its request as argument: JSON of the node's `own` address,
`port` (TCP, everybody's), `size` of a message in bytes, `window` (socket buffers, in bytes) and `rounds`. A round has a
start `at` (seconds on the clock that all nodes share, CLOCK_MONOTONIC), `times` and `turns`, which are done so many
times over; a turn lists whom to send `to` and whom to receive a message `from` (addresses). All messages of a turn go
at the same time, and the next turn begins as soon as all of them are through, as in programs that call MPI_Sendrecv.
Each pair has one connection a direction, which stays. It prints the end of each turn, a list a round. (Standard library
alone: it starts in no time.)
"""

import json
import socket
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_RETRY_S = 0.01


def main() -> None:
    request: dict[str, Any] = json.loads(sys.argv[1])
    turns = [turn for part in request["rounds"] for turn in part["turns"]]
    receivers = sorted({peer for turn in turns for peer in turn["to"]})
    senders = {peer for turn in turns for peer in turn["from"]}
    begin = request["rounds"][0]["at"]
    with (
        socket.create_server((request["own"], request["port"]), backlog=64) as listener,
        ThreadPoolExecutor(64) as pool,
    ):
        _narrow(listener, request["window"])
        connecting = {peer: pool.submit(_connected, peer, request, begin) for peer in receivers}
        listener.settimeout(max(0.001, begin - time.monotonic()))
        incoming: dict[str, socket.socket] = {}
        while len(incoming) < len(senders):
            connection, (peer, _) = listener.accept()
            connection.settimeout(None)
            incoming[peer] = connection
        outgoing = {peer: connection.result() for peer, connection in connecting.items()}
        message = bytes(request["size"])
        ends: list[list[float]] = []
        for part in request["rounds"]:
            time.sleep(max(0.0, part["at"] - time.monotonic()))
            ends.append([])
            for turn in part["turns"] * part["times"]:
                work = [pool.submit(outgoing[peer].sendall, message) for peer in turn["to"]]
                work += [pool.submit(_receive, incoming[peer], len(message)) for peer in turn["from"]]
                for done in work:
                    done.result()
                ends[-1].append(time.monotonic())
    json.dump(ends, sys.stdout)


def _narrow(end: socket.socket, window: int) -> None:
    """Bound what waits in an end's queues, as an adapter's own bounds it; before it connects or listens."""
    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, window)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)


def _connected(peer: str, request: Mapping[str, Any], deadline: float) -> socket.socket:
    """A connection to a peer, as soon as it listens."""
    while True:
        connection = socket.socket()
        _narrow(connection, request["window"])
        connection.bind((request["own"], 0))
        try:
            connection.connect((peer, request["port"]))
            return connection
        except ConnectionRefusedError:
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)


def _receive(connection: socket.socket, size: int) -> None:
    room = bytearray(1 << 18)
    while size:
        got = connection.recv_into(room, min(size, len(room)))
        if not got:
            raise ConnectionError("the sender hung up in the middle of a message")
        size -= got


if __name__ == "__main__":
    main()
