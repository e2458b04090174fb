"""mclsnsd: the disks of filesystems, and the server that each has.

Source: Redpaper, "Hardware setup": "You can use the mmlsnsd -f <filesystem> command to verify that NSD servers are
configured".
"""

import argparse
import socket

from mc import config as configuration
from mc import drivers, mounts, native, states
from mc.native import Refused
from mc.table import show


def show_disks(args: argparse.Namespace) -> None:
    """List the disks of filesystems with their servers, as clients are told, and whether these answer here.

    Native: {disks}.
    """
    config = configuration.load()
    driver = drivers.of(config)
    rows: list[list[object]] = []
    wrong: list[str] = []
    for filesystem in mounts.wanted(config, args.filesystem):
        try:
            found = driver.disks(filesystem)
        except Refused as refused:
            wrong.append(str(refused))
            continue
        seen = native.side_by_side(lambda disk: _from_here(disk.server, driver.PORT), found)
        rows += [[filesystem.name, disk.path, disk.server, said] for disk, said in zip(found, seen, strict=True)]
    show(["filesystem", "disk", "server", "from here"], rows, args.json)
    if wrong:
        raise Refused("\n".join(wrong))


def _from_here(server: str, port: int) -> str:
    """Whether a server's daemon answers this node under the name that clients are told, and at which address."""
    try:
        address = socket.gethostbyname(server)
    except OSError:
        return "no such name"
    return f"{address} answers" if states.listens(address, port) else f"{address} does not answer"
