"""The first process of a guest: streams through a port with a shaper, as below a bond; what the shaper let through.

The port's own TSO is on, so that the shaper sees packets that are not cut yet, as it does of a bond's.

Prints a line of JSON for each number of streams, and ends, which ends the guest. The test beside reads the lines.
"""

import json
import os
import socket
import subprocess
import sys
import time
from typing import Any

from first import begin

from causeway.lab.faults.links import SHAPER

RATE_MBIT = 300
STREAMS = (1, 6)
SECONDS = 4
FAR, PORT = "10.0.0.2", 5000


def sh(*commands: str) -> None:
    for command in commands:
        subprocess.run(command.split(), check=True)


def counted() -> dict[str, Any]:
    argv = ["tc", "-s", "-j", "qdisc", "show", "dev", "port"]
    tbf, fair = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
    return {"at": time.monotonic(), "bytes": tbf["bytes"], "packets": tbf["packets"], "longest": fair["maxpacket"]}


def sink() -> None:
    """Takes what comes, and forgets it."""
    here = socket.create_server((FAR, PORT), backlog=max(STREAMS))
    while True:
        taken, _ = here.accept()
        if os.fork() == 0:
            while taken.recv(2**20):
                pass
            os._exit(0)
        taken.close()


def stream() -> None:
    with socket.create_connection((FAR, PORT)) as to:
        while True:
            to.sendall(bytes(2**20))


def measured(streams: int) -> dict[str, float]:
    senders = [subprocess.Popen([sys.executable, __file__, "stream"]) for _ in range(streams)]
    time.sleep(2)
    before = counted()
    time.sleep(SECONDS)
    after = counted()
    for sender in senders:
        sender.kill()
        sender.wait()
    seconds, packets = after["at"] - before["at"], after["packets"] - before["packets"]
    wire_bits = (after["bytes"] - before["bytes"] + 24 * packets) * 8
    return {"streams": streams, "wire_mbit": wire_bits / seconds / 1e6, "longest": after["longest"]}


def play() -> None:
    sh("ip netns add far", "ip link add port type veth peer name there netns far")
    sh(f"tc qdisc add dev port {SHAPER.format(rate=RATE_MBIT)}", "tc qdisc add dev port parent 1: fq_codel")
    sh("ip address add 10.0.0.1/24 dev port", "ip link set port up")
    sh(f"ip -n far address add {FAR}/24 dev there", "ip -n far link set there up")
    subprocess.Popen(["ip", "netns", "exec", "far", sys.executable, __file__, "sink"])
    time.sleep(1)  # the sink listens
    for streams in STREAMS:
        print(json.dumps(measured(streams)), flush=True)


if __name__ == "__main__":
    if os.getpid() > 1:
        {"sink": sink, "stream": stream}[sys.argv[1]]()
    begin(("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/run"))
    play()
