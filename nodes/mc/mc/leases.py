"""Leases: who holds one, which pairs of holders cannot talk, who of such a pair has to go. Pure, but for `expelled`.

This is ours. GPFS does the same inside its daemon; the filesystems here have nothing of the kind.

Sources: Redpaper, "Routing setup for cross-cluster connectivity"; GPFS's documentation, failureDetectionTime, subnets,
and the sample of expelnode ("keep quorum nodes over non-quorum, local nodes over remote, ... otherwise, expel whoever
joined the cluster more recently").
"""

import json
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from mc.native import Refused

#: Cluster attributes: after how many seconds of silence a peer is lost, and by which networks nodes talk.
FAILURE_DETECTION, SUBNETS = "failureDetectionTime", "subnets"
#: How often a lease is renewed, and a peer is spoken to, within failureDetectionTime.
RENEWALS = 5
#: Where a node's lease daemon says what it knows, to whoever asks on that node.
SOCKET = "/run/mcleased.sock"
_ANSWER_S = 2


@dataclass
class Holder:
    """A node that holds a lease, as the manager knows it; times are seconds of the manager's clock.

    `silent` are those whom it does not hear; `expelled` is the reason, or nothing.
    """

    cluster: str
    address: str
    addresses: list[str]
    quorum: bool
    joined: float
    renewed: float
    silent: frozenset[str]
    expelled: str = ""

    def __str__(self) -> str:
        return f"{self.address} of {self.cluster}"


class Leases:
    """What the manager of a cluster's filesystems knows: all nodes of all clusters that hold a lease of it."""

    def __init__(self, cluster: str) -> None:
        self.cluster = cluster
        self.holders: dict[str, Holder] = {}

    def renew(
        self, now: float, cluster: str, address: str, addresses: list[str], silent: Iterable[str], *, quorum: bool
    ) -> Holder:
        """A node renews its lease, or takes its first. Refused where another cluster's holds one by its address."""
        held = self.holders.get(address)
        if held and held.cluster != cluster:
            raise Refused(f"{held} holds a lease, and {cluster} asks for it")
        joined, expelled = (held.joined, held.expelled) if held else (now, "")
        made = Holder(cluster, address, addresses, quorum, joined, now, frozenset(silent), expelled)
        self.holders[address] = made
        return made

    def judge(self, now: float, limit_s: float) -> list[str]:
        """Expel who has to go, and let back in who reaches all again; what was decided, a sentence each.

        Who has renewed nothing for as long as makes a peer lost is down, and no holder any more. For half that time his
        neighbours may complain of him and he is waited for: of a node that is down nobody is expelled.
        """
        self.holders = {a: holder for a, holder in self.holders.items() if now - holder.renewed <= limit_s}
        lost = self._lost(now, limit_s / 2)
        said: list[str] = []
        for holder in self.holders.values():
            if holder.expelled and not any(holder in pair and not _other(pair, holder).expelled for pair in lost):
                holder.expelled, holder.joined = "", now
                said.append(f"{holder} is back: it reaches all who hold a lease")
        for pair in lost:
            if not any(holder.expelled for holder in pair):
                goes = min(pair, key=self._worth)
                goes.expelled = f"it and {_other(pair, goes)} do not reach each other"
                said.append(f"{goes} is expelled: {goes.expelled}")
        return said

    def _lost(self, now: float, fresh_s: float) -> list[tuple[Holder, Holder]]:
        """The pairs of which one does not hear the other, and both have renewed their leases of late; each once."""
        there = {a: holder for a, holder in sorted(self.holders.items()) if now - holder.renewed <= fresh_s}
        complaints = ({a, b} for a, holder in there.items() for b in sorted(holder.silent & there.keys() - {a}))
        pairs = dict.fromkeys(tuple(sorted(pair)) for pair in complaints)
        return [(there[a], there[b]) for a, b in pairs]

    def _worth(self, holder: Holder) -> tuple[bool, bool, float]:
        """Of two who is worth less goes: rather no quorum node, rather another cluster's, rather the later one."""
        return holder.quorum, holder.cluster == self.cluster, -holder.joined


def _other(pair: tuple[Holder, Holder], holder: Holder) -> Holder:
    return pair[1] if pair[0] is holder else pair[0]


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
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(_ANSWER_S)
            link.connect(SOCKET)
            with link.makefile() as said:
                found: dict[str, str] = json.loads(said.read())
    except OSError:
        return None
    return found
