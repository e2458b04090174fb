"""Which cables a set of TCP streams takes, and how fast each must be: computed, before it is measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.model.site import Port, Site
from causeway.plan.fairshare import fair_share, tcp_goodput_mbit
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import Flow, bond_member, slb_member
from causeway.plan.paths import DirectedCable, Hop, Segment, link_rate_mbit, path


@dataclass(frozen=True)
class StreamEnds:
    """The data connection of a stream, in the direction in which the data goes."""

    label: str
    sender: str
    source: tuple[IPv4Address, int]
    destination: tuple[IPv4Address, int]


@dataclass(frozen=True)
class Expected:
    """What the model says of streams that run at the same time.

    cables: the directed cables of each stream, in order; mtus: the size of its full packets, the smallest MTU on
    its way (TCP learns it from the other end's MSS and by path MTU discovery); rates: its TCP payload in Mbit/s.
    """

    cables: dict[str, tuple[DirectedCable, ...]]
    mtus: dict[str, int]
    rates: dict[str, float]

    def on(self, cable_sender: Port) -> list[str]:
        """The streams that leave through a port."""
        return [s for s, cables in self.cables.items() if any(c.sender == cable_sender for c in cables)]

    def member(self, stream: str, node: str) -> str:
        """The device through which a stream leaves a node."""
        return next(c.sender.device for c in self.cables[stream] if c.sender.node == node)


#: (stream's label, switch) -> the member that the switch was seen to send it through.
SwitchChoices = Mapping[tuple[str, str], str]


def expect(
    site: Site,
    streams: Sequence[StreamEnds],
    switch_choices: SwitchChoices | None = None,
    policies: Mapping[str, str] | None = None,
) -> Expected:
    """Cables from the topology, the routes and the hash policies; rates as max-min fair shares of the wire.

    The member of a Linux end, and of an OVS end with balance-slb, is computed bit for bit. With balance-tcp OVS
    hashes with a key of its own, so its member must be given in switch_choices where more than one stream passes
    it; KeyError names a missing one.
    policies (node -> policy) holds the hash policies in force where they differ from the topology's.
    """
    cables = {
        stream.label: tuple(
            _cable(site, stream, hop, segment, switch_choices or {}, policies or {}, alone=len(streams) == 1)
            for hop in path(site, stream.sender, stream.destination[0]).hops
            for segment in hop.segments
        )
        for stream in streams
    }
    capacity = {str(cable): link_rate_mbit(site, cable.sender) for taken in cables.values() for cable in taken}
    wanted = {label: [str(cable) for cable in taken] for label, taken in cables.items()}
    mtus = {label: min(site.mtu(cable.sender) for cable in taken) for label, taken in cables.items()}
    shares = fair_share(wanted, capacity)
    rates = {label: tcp_goodput_mbit(share, mtus[label]) for label, share in shares.items()}
    return Expected(cables, mtus, rates)


def _cable(
    site: Site,
    stream: StreamEnds,
    hop: Hop,
    segment: Segment,
    switch_choices: SwitchChoices,
    policies: Mapping[str, str],
    *,
    alone: bool,
) -> DirectedCable:
    end = segment.decided_by
    if end is None:
        return segment.cables[0]
    if site.nodes[end.node].switch is not None:
        # one stream alone has the same rate on every member
        known = switch_choices.get((stream.label, end.node))
        if known is None and end.hash_policy == "balance-slb":
            known = slb_member(mac_address(site, hop.sender), end.members)
        member = known or (end.members[0] if alone else switch_choices[stream.label, end.node])
    else:
        policy = policies.get(end.node, end.hash_policy)
        member = bond_member(_frame(site, stream, hop), policy, end.members)
    return next(cable for cable in segment.cables if cable.sender.device == member)


def _frame(site: Site, stream: StreamEnds, hop: Hop) -> Flow:
    """The stream's frames on a hop: its addresses and ports, and the hop's hardware addresses."""
    return Flow.tcp(
        mac_address(site, hop.sender),
        mac_address(site, hop.receiver),
        stream.source[0],
        stream.destination[0],
        stream.source[1],
        stream.destination[1],
    )
