"""Leases: who holds one, which pairs of holders cannot talk, who of such a pair has to go. Pure.

This is ours. GPFS does the same inside its daemon; the filesystems here have nothing of the kind.

Sources: Redpaper, "Routing setup for cross-cluster connectivity"; GPFS's documentation, the sample of expelnode ("keep
quorum nodes over non-quorum, local nodes over remote, ... otherwise, expel whoever joined the cluster more recently").
"""

from collections.abc import Iterable
from dataclasses import dataclass

from mc.native import Refused


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
