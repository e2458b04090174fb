"""Open vSwitch asked at its own socket, as ovs-appctl(8) does, without a process.

Source: ovs-appctl(8); Open vSwitch, lib/unixctl.c (JSON-RPC 1.0).
"""

import json
import socket
from pathlib import Path

from causeway.errors import LabBroken

#: How long it may take to answer, on the lab's clock.
_PATIENCE_S = 2


def ask(folder: Path, method: str, *words: str) -> str:
    """What ovs-vswitchd says, whose socket is in this folder. LabBroken where it does not answer."""
    request = json.dumps({"id": 0, "method": method, "params": words}).encode()
    for file in folder.glob("ovs-vswitchd.*.ctl"):
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(_PATIENCE_S)
            try:
                line.connect(str(file))
                line.sendall(request)
                return str(_answer(line)["result"])
            except ConnectionRefusedError:  # of one that ended
                continue
            except (OSError, ValueError, KeyError) as error:
                raise LabBroken(f"{file}: {method}: {error}") from None
    raise LabBroken(f"{folder}: no ovs-vswitchd listens")


def _answer(line: socket.socket) -> dict[str, object]:
    """One JSON value, which ends where it is whole; ValueError where the line ends before."""
    said = b""
    while piece := line.recv(65536):
        said += piece
        try:
            return dict(json.loads(said))
        except ValueError:
            continue
    raise ValueError("it hung up")
