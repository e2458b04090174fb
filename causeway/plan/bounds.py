"""What a node can receive and send, whatever its wire carries: its CPU's part, which is infinitely fast in a lab.

A site's file says it in TCP payload in packets of 1500 bytes, as programs measure it (Redpaper, "Single-stream
performance between an NSD server and an ION": 846 and 795 Mbit/s). What is kept is the rate of wire that they fill:
larger packets carry more payload in it, and smaller ones less.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.fairshare import tcp_goodput_mbit

#: The packets, in bytes, that a limit is said in: Ethernet's.
_PACKET = 1500


@dataclass(frozen=True)
class Bound:
    """A node's own limit one way: `mbit` of TCP payload in packets of 1500 bytes; `mtu` is that of its port."""

    node: str
    way: Literal["receives", "sends"]
    mbit: int
    mtu: int

    @property
    def wire_mbit(self) -> float:
        """What that is of its cable."""
        return self.mbit / tcp_goodput_mbit(1, _PACKET)

    def __str__(self) -> str:
        packets = f" in packets of {_PACKET}" if self.mtu != _PACKET else ""
        return f"{self.node} {self.way} at most {self.mbit}{packets}"


def bounds(site: Site, sender: Port) -> Iterator[Bound]:
    """What bounds frames that leave a port, beside their wire: who sends there, and who receives at the other end.

    A node with a limit has one cable (a rule of the model), so that what is kept there is kept of the node.
    ValueError when the port carries no cable.
    """
    cable = site.cable_at(sender)
    receiver = cable.b if sender == cable.a else cable.a
    if (mbit := site.nodes[sender.node].send_mbit) is not None:
        yield Bound(sender.node, "sends", mbit, site.mtu(sender))
    if (mbit := site.nodes[receiver.node].receive_mbit) is not None:
        yield Bound(receiver.node, "receives", mbit, site.mtu(receiver))


def leaves_mbit(site: Site, port: Port) -> float:
    """What leaves a port at most, in Mbit/s of wire: what its shaper lets through. ValueError without a cable."""
    return min([float(site.sends_mbit(port)), *(bound.wire_mbit for bound in bounds(site, port))])


def mbit(rate: float) -> str:
    """A rate as tc takes it before its unit, to a millionth."""
    return f"{rate:.7g}"
