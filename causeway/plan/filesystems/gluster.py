"""GlusterFS: bytes on each connection for a byte of a file. A client has one connection to each server's brick.

Source: Gluster docs, "Setting up Volumes", dispersed volumes: N bricks, of which R may be missing, store N - R parts
of what is written and R of parity; N - R of them, by the file, give it back.
"""

from causeway.model.topology import Filesystem
from causeway.plan.filesystems.spread import Direction, Spread

#: What TLS, calls and their answers take beside the data of a stripe, for each part that holds data: a call of 128 KiB
#: (FUSE's largest) is divided among these, and what comes on top of each is the same. Measured: 1.7 to 1.9 % for three.
_CALLS = 0.006


def hopes_s(filesystem: Filesystem) -> float:
    """A client of stripes waits ten seconds for enough of its servers; one of whole files needs each, and gives up.

    Source: GlusterFS, ec_launch_notify_timer; measured for both.
    """
    return 0.0 if filesystem.layout == "whole" else 10.0


def spread(filesystem: Filesystem, servers: int, direction: Direction) -> Spread:
    """Of a stripe each server is sent a part, and one part less for each of parity is read; else one has it all.

    Whoever writes to a dispersed file, or reads it, locks the whole file at the servers.
    """
    if filesystem.layout == "whole":
        return Spread(1, 1 + _CALLS, stored=1.0, turns=False)
    parts = servers - filesystem.parity
    connections = servers if direction == "write" else parts
    return Spread(connections, (1 + _CALLS * parts) / parts, stored=1 / parts, turns=True)
