"""Heartbeats by multicast, as a monitoring program on each node sends and hears them.

The program that `heartbeats` starts on a node's network, with its request as argument: JSON of the node's `own`
address, `group` and `port`, when to `begin` (seconds on the clock that all nodes share, CLOCK_MONOTONIC) and for how
long (`for_s`), and after how many seconds it sends (`every_s`); with `query_s` it asks so often, too, who is in which
group, as a router's part is (IGMP version 3, RFC 3376). It prints whom it heard, and when each time (seconds after the
begin). It joins at the begin, and not before. (Standard library alone: it starts in no time.)
"""

import json
import socket
import struct
import sys
import time
from typing import Any

#: All hosts of a network (RFC 1112), and how long they may take to answer (tenths of a second).
_ALL, _ANSWER = "224.0.0.1", 100
_QUERY = 0x11
#: A router alert (RFC 2113), without which no host answers.
_ALERT = b"\x94\x04\x00\x00"


def main() -> None:
    request: dict[str, Any] = json.loads(sys.argv[1])
    own, group, begin = request["own"], (request["group"], request["port"]), request["begin"]
    time.sleep(max(0.0, begin - time.monotonic()))
    heard: dict[str, list[float]] = {}
    due = {"beat": begin, "query": begin if request["query_s"] else float("inf")}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.bind(group)
        line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
        joined = socket.inet_aton(group[0]) + socket.inet_aton(own)
        line.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, joined)
        while (now := time.monotonic()) < begin + request["for_s"]:
            if now >= due["beat"]:
                line.sendto(own.encode(), group)
                due["beat"] += request["every_s"]
            if now >= due["query"]:
                ask(own)
                due["query"] += request["query_s"]
            line.settimeout(max(0.001, min(*due.values(), begin + request["for_s"]) - now))
            try:
                peer, _ = line.recvfrom(64)
            except TimeoutError:
                continue
            heard.setdefault(peer.decode(), []).append(round(time.monotonic() - begin, 3))
    json.dump(heard, sys.stdout)


def ask(own: str) -> None:
    """Ask all hosts which groups they are in."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_IGMP) as line:
        line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
        line.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, _ALERT)
        line.sendto(query(), (_ALL, 0))


def query() -> bytes:
    """A general query, with its checksum: to all groups, of all sources."""

    def written(checksum: int) -> bytes:
        return struct.pack("!BBH4sBBH", _QUERY, _ANSWER, checksum, bytes(4), 2, 125, 0)

    total = sum(struct.unpack("!6H", written(0)))
    return written(~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)


if __name__ == "__main__":
    main()
