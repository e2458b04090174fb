"""The first process of a guest: two nodes with a cable of a length, as nodes/base/adapters plugs them in.

Prints a line of JSON: round trips, and what a TCP stream carries with windows of several sizes. The test beside reads
it.
"""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median_high

from first import begin

from causeway.folders import REPO

#: Milliseconds one way, and Mbit/s.
DELAY_MS, RATE_MBIT = 20, 200
#: What the receiver asks for as buffers, in bytes; the last one's window is more than the way holds.
BUFFERS = (40_000, 150_000, 500_000, 2_500_000)
#: Where struct tcp_info (linux/tcp.h) has tcpi_snd_wnd: what the other end has room for.
SND_WND = slice(228, 232)
FAR, PORT, SECONDS, EARLY_S = "10.0.0.2", 5011, 4.0, 3.0


def sh(*lines: str) -> None:
    for line in lines:
        subprocess.run(line, shell=True, check=True)


def plugged(prefix: str, device: str, address: str) -> None:
    """A node's end of the cable: its adapter as the site's file has it, and up."""
    Path("/mnt/ports").write_text(f"{device} {RATE_MBIT} 1500 host {RATE_MBIT} {DELAY_MS} there:eth0\n")
    script = (REPO / "nodes/base/adapters").read_text().replace("/site/", "/mnt/").replace("/run/", "/mnt/")
    Path("/mnt/adapters").write_text(script)
    sh(f"{prefix} sh /mnt/adapters", f"{prefix} ip address add {address}/24 dev {device}")
    sh(f"{prefix} ip link set {device} up", f"{prefix} ip link set lo up")


def far() -> None:
    """Answers each datagram; then takes a stream for each size of buffers, and counts what comes late in it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked, socket.socket() as listening:
        asked.bind((FAR, PORT))
        listening.bind((FAR, PORT))
        listening.listen()
        print("ready", flush=True)
        while (packet := asked.recvfrom(2000))[0] != b"end":
            asked.sendto(*packet)
        for size in BUFFERS:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
            print("ready", flush=True)
            stream, _ = listening.accept()
            begun, had = time.monotonic(), 0
            while time.monotonic() < begun + EARLY_S:
                stream.recv(65536)
            early = time.monotonic()
            while time.monotonic() < early + SECONDS:
                had += len(stream.recv(65536))
            print(had * 8e-6 / (time.monotonic() - early), flush=True)
            stream.close()


def near() -> dict[str, object]:
    """Asks, and sends a stream for each size of buffers until the other end has closed it; with what window, mostly."""
    other = subprocess.Popen(
        ["ip", "netns", "exec", "far", sys.executable, __file__, "far"], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    other.stdout.readline()
    trips = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for size in (1, 10, 1400):  # the first one has to ask for the neighbour
            begun = time.monotonic()
            asking.sendto(b"x" * size, (FAR, PORT))
            asking.recvfrom(2000)
            trips.append(1000 * (time.monotonic() - begun))
        asking.sendto(b"end", (FAR, PORT))
    streams = []
    for _ in BUFFERS:
        other.stdout.readline()
        windows: list[int] = []
        with socket.create_connection((FAR, PORT)) as stream:
            try:
                while True:
                    stream.sendall(b"x" * 16384)
                    info = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, SND_WND.stop)
                    windows.append(int.from_bytes(info[SND_WND], sys.byteorder))
            except OSError:
                pass
        streams.append({"window": median_high(windows), "mbit": float(other.stdout.readline())})
    return {"trips_ms": trips[1:], "streams": streams}


if __name__ == "__main__":
    if sys.argv[1:] == ["far"]:
        far()
    else:
        begin(("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/mnt"), ("tmpfs", "/run"))
        sh("ip netns add far", "ip link add here0 type veth peer name there0 netns far")
        sh("sysctl -q -w net.core.rmem_max=8388608")
        plugged("", "here0", "10.0.0.1")
        plugged("ip netns exec far", "there0", FAR)
        print(json.dumps(near()), flush=True)
