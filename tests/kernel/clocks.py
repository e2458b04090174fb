"""The first process of a guest: processes that wait by reading the clock, or a socket that has nothing, some that do
something in between or sleep, and two that tell each other the time.

Prints a line of JSON for each, and ends, which ends the guest. The test beside reads the lines.
"""

import ctypes
import json
import os
import select
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

#: As fio spins when it begins, to find out how fast the processor's own counter runs: so often, so many nanoseconds.
SPINS, SPIN_NS = 50, 1_280_000
#: Calls of another kind between readings, and after how many readings each.
CALLS, READINGS = 5000, 10
#: How often two processes tell each other the time.
TOLD = 2000
#: Of clock_gettime(2), which a process calls that asks the kernel itself.
CLOCK_GETTIME = 228
#: How long a peer is silent, in seconds.
SILENT_S = 0.5
#: How often somebody is woken for nothing, and after how many seconds each.
WAKES, WAKE_S = 200, 0.0001


def spin() -> dict[str, float]:
    """Wait by reading the clock; how often that was, and how long it took."""
    begun, readings = time.monotonic_ns(), 0
    for _ in range(SPINS):
        until = time.monotonic_ns() + SPIN_NS
        while time.monotonic_ns() < until:
            readings += 1
    return {"readings": readings, "ms": (time.monotonic_ns() - begun) / 1e6}


def side_by_side(count: int) -> list[dict[str, float]]:
    """So many processes, all at once."""
    ends = []
    for _ in range(count):
        here, there = os.pipe()
        if os.fork() == 0:
            os.write(there, json.dumps(spin()).encode())
            os._exit(0)
        ends.append(here)
    found = [json.loads(os.read(end, 1000)) for end in ends]
    for _ in ends:
        os.wait()
    return found


def busy() -> dict[str, float]:
    """Read the clock between other calls."""
    begun = time.monotonic_ns()
    for _ in range(CALLS):
        for _ in range(READINGS):
            time.monotonic_ns()
        os.getppid()
    return {"ms": (time.monotonic_ns() - begun) / 1e6}


def told() -> dict[str, bool]:
    """Whether the clocks go on, and never back, read by turns by two processes, which may do it by themselves, and by
    one of them from the kernel."""
    (here, there), now = socket.socketpair(), (ctypes.c_long * 2)()
    libc, seen = ctypes.CDLL(None), []
    if os.fork() == 0:
        here.close()
        while there.recv(1):
            there.send(json.dumps([time.monotonic_ns(), time.time_ns()]).encode())
        os._exit(0)
    for _ in range(TOLD):
        here.send(b"?")
        seen.append(json.loads(here.recv(100)))
        for _ in range(3):
            seen.append([time.monotonic_ns(), time.time_ns()])
        asked = []
        for clock in (time.CLOCK_MONOTONIC, time.CLOCK_REALTIME):
            libc.syscall(CLOCK_GETTIME, clock, now)
            asked.append(now[0] * 10**9 + now[1])
        seen.append(asked)
    here.close()
    os.wait()
    monotonic, realtime = zip(*seen, strict=True)
    return {"monotonic": grows(monotonic), "realtime": grows(realtime)}


def grows(times: Sequence[int]) -> bool:
    return all(before < after for before, after in pairwise(times))


def silent(*, answered: bool) -> dict[str, float]:
    """Wait for the first byte of a peer as GlusterFS does in a handshake of TLS, told meanwhile that it may write.

    Where it is `answered`, a second socket has a byte for it each time.
    """
    (here, peer), (other, gives) = socket.socketpair(), socket.socketpair()
    if os.fork() == 0:
        time.sleep(SILENT_S)
        peer.send(b"1")
        os._exit(0)
    here.setblocking(False)
    wanted = select.EPOLLIN | select.EPOLLOUT | select.EPOLLONESHOT
    events = select.epoll()
    events.register(here, wanted)
    begun, tries = time.monotonic_ns(), 0
    while True:
        events.poll()
        if answered:
            gives.send(b"1")
            other.recv(1)
        try:
            here.recv(1)
            break
        except BlockingIOError:
            tries += 1
            events.modify(here, wanted)
    found = {"tries": tries, "ms": (time.monotonic_ns() - begun) / 1e6}
    os.wait()
    return found


def woken() -> dict[str, int]:
    """Sleep until another socket has got something more, and read this one, which has nothing."""
    (here, _peer), (other, gives) = socket.socketpair(), socket.socketpair()
    if os.fork() == 0:
        for _ in range(WAKES):
            time.sleep(WAKE_S)
            gives.send(b"1")
        os._exit(0)
    here.setblocking(False)
    events = select.epoll()
    events.register(other, select.EPOLLIN | select.EPOLLET)
    wakes = 0
    while events.poll(timeout=1):
        wakes += 1
        with suppress(BlockingIOError):
            here.recv(1)
    os.wait()
    return {"wakes": wakes}


if __name__ == "__main__":
    print(json.dumps({"what": "one", **spin()}), flush=True)
    print(json.dumps({"what": "eight", "each": side_by_side(8)}), flush=True)
    print(json.dumps({"what": "busy", **busy()}), flush=True)
    print(json.dumps({"what": "told", **told()}), flush=True)
    print(json.dumps({"what": "silent", **silent(answered=False)}), flush=True)
    print(json.dumps({"what": "answered", **silent(answered=True)}), flush=True)
    print(json.dumps({"what": "woken", **woken()}), flush=True)
    os._exit(0)
