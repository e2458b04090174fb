"""What all commands know of leases: their attributes, where nodes speak to each other, whether this one is expelled.

Source: GPFS's documentation, failureDetectionTime, subnets.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network

from mc.native import Refused

#: Cluster attributes: after how many seconds of silence a peer is lost, and by which networks nodes talk.
FAILURE_DETECTION, SUBNETS = "failureDetectionTime", "subnets"
#: How often a lease is renewed, and a peer is spoken to, within failureDetectionTime.
RENEWALS = 5
#: Where a node's lease daemon says what it knows, to whoever asks on that node.
SOCKET = "/run/mcleased.sock"
_ANSWER_S = 2


def parse_subnets(text: str) -> list[IPv4Network]:
    """Read NETWORK/LENGTH,...; Refused where it is none."""
    try:
        return [IPv4Network(word) for word in text.split(",") if word]
    except ValueError as error:
        raise Refused(f"{SUBNETS}={text}: {error}; give NETWORK/LENGTH, several with commas between them") from None


def spoken_to_at(subnets: Sequence[IPv4Network], own: Sequence[str], known_by: str, others: Sequence[str]) -> str:
    """Where a node speaks to a peer: in the first of the subnets in which both have an address, or at the known one."""
    for subnet in subnets:
        inside = [[address for address in side if IPv4Address(address) in subnet] for side in (own, others)]
        if all(inside):
            return inside[1][0]
    return known_by


def expelled() -> dict[str, str] | None:
    """By which clusters this node is expelled, and why, as its lease daemon says; None where none answers."""
    import json
    import socket

    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(_ANSWER_S)
            link.connect(SOCKET)
            with link.makefile() as said:
                found: dict[str, str] = json.loads(said.read())
    except OSError:
        return None
    return found
