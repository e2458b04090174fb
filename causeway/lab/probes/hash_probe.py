"""Send crafted frames through a bond and see by which member each leaves.

Runs in a node's network namespace (`send_through` starts it there). Frames go in and out as packet
sockets see them, so what is observed is the bonding driver's own choice, frame by frame.
"""

import json
import select
import socket
import sys
import time
from collections.abc import Sequence

from causeway.lab.lab import Lab
from causeway.process import run

_ETH_P_ALL = 3
#: A frame is handed on synchronously; this is for the reader's turn only.
_PATIENCE_S = 0.5


def send_through(lab: Lab, node: str, bond: str, members: Sequence[str], frames: Sequence[bytes]) -> list[str | None]:
    """The member that each frame left by, in order; None for a frame that left by none.

    Every frame must differ from every other. Raises LabBroken when the bond or a member is not there.
    """
    request = json.dumps({"bond": bond, "members": list(members), "frames": [f.hex() for f in frames]})
    argv = lab.plug(node, [sys.executable, "-m", "causeway.lab.probes.hash_probe"])
    reply: list[str | None] = json.loads(run(argv, stdin=request, timeout_s=120).must())
    return reply


def _listen(device: str) -> socket.socket:
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
    sniffer.bind((device, _ETH_P_ALL))
    sniffer.setblocking(False)
    return sniffer


def _probe(bond: str, members: Sequence[str], frames: Sequence[bytes]) -> list[str | None]:
    sniffers = {_listen(device): device for device in members}
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.bind((bond, 0))
    found: list[str | None] = []
    for frame in frames:
        sender.send(frame)
        found.append(_wait_for(frame, sniffers))
    return found


def _wait_for(frame: bytes, sniffers: dict[socket.socket, str]) -> str | None:
    end = time.monotonic() + _PATIENCE_S
    while (left := end - time.monotonic()) > 0:
        for sniffer in select.select(list(sniffers), [], [], left)[0]:
            data, address = sniffer.recvfrom(4096)
            if address[2] == socket.PACKET_OUTGOING and data.startswith(frame):
                return sniffers[sniffer]
    return None


if __name__ == "__main__":
    request = json.load(sys.stdin)
    frames = [bytes.fromhex(frame) for frame in request["frames"]]
    json.dump(_probe(request["bond"], request["members"], frames), sys.stdout)
