"""Which cables a set of TCP streams takes, and how fast each must be: computed, before it is measured."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import OVS_POLICIES
from causeway.plan.bounds import bounds
from causeway.plan.delays import round_trip_ms, window_mbit
from causeway.plan.fairshare import fair_share, tcp_goodput_mbit
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import Flow, member_for
from causeway.plan.paths import DirectedCable, Hop, Segment, Ways

#: An address and a port.
End = tuple[IPv4Address, int]


@dataclass(frozen=True)
class StreamEnds:
    """The data connection of a stream, in the direction in which the data goes.

    `window` is what it may have under way, in bytes; None: as much as its way holds.
    """

    label: str
    sender: str
    source: End
    destination: End
    window: int | None = None


@dataclass(frozen=True)
class Expected:
    """What the model says of streams that run at the same time.

    cables: the directed cables of each stream, in order; mtus: the size of its full packets, the smallest MTU on
    its way (TCP learns it from the other end's MSS and by path MTU discovery); rates: its TCP payload in Mbit/s;
    bounds: what it gets no more of, a cable, what a node can send or receive, or its window.
    """

    cables: dict[str, tuple[DirectedCable, ...]]
    mtus: dict[str, int]
    rates: dict[str, float]
    bounds: dict[str, str]

    def on(self, cable_sender: Port) -> list[str]:
        """The streams that leave through a port."""
        return [s for s, cables in self.cables.items() if any(c.sender == cable_sender for c in cables)]

    def bounding_node(self, stream: str) -> str:
        """The node whose own bound holds a stream, and the bound: "N receives at most 846"; "" where a wire does."""
        bound = self.bounds[stream]
        return "" if any(str(cable) == bound for cable in self.cables[stream]) else bound

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
    ways: Ways | None = None,
) -> Expected:
    """Cables from the topology, the routes and the hash policies; rates as max-min fair shares of wires and nodes,
    each no more than its window in a round trip.

    The member of an end is computed bit for bit, but of one with balance-tcp: OVS hashes there with a key of its own,
    so its member must be given in switch_choices where more than one stream passes it; KeyError names a missing one.
    policies (node -> policy) holds the hash policies in force where they differ from the topology's; ways are the
    site's, for who asks often.
    """
    ways = ways or Ways(site)
    paths = {stream.label: ways.path(stream.sender, stream.destination[0]).hops for stream in streams}
    ends = (segment.decided_by for hops in paths.values() for hop in hops for segment in hop.segments)
    passing = Counter((end.node, end.name) for end in ends if end is not None)
    alone = {end for end, number in passing.items() if number == 1}
    cables = {
        stream.label: tuple(
            _cable(site, stream, hop, segment, switch_choices or {}, policies or {}, alone)
            for hop in paths[stream.label]
            for segment in hop.segments
        )
        for stream in streams
    }
    every = [cable for taken in cables.values() for cable in taken]
    capacity = {str(cable): float(site.sends_mbit(cable.sender)) for cable in every}
    own = {cable: list(bounds(site, cable.sender)) for cable in every}
    capacity |= {str(bound): bound.wire_mbit for its in own.values() for bound in its}
    wanted = {label: [str(link) for cable in taken for link in (cable, *own[cable])] for label, taken in cables.items()}
    mtus = {
        label: min(site.mtu(end) for c in taken for end in (c.sender, c.receiver)) for label, taken in cables.items()
    }
    for stream in streams:
        if stream.window is None:
            continue
        if trip_ms := round_trip_ms(ways, stream.sender, stream.source[0], stream.destination[0]):
            bound = f"{stream.label} has {stream.window} bytes under way in each {trip_ms:g} ms"
            capacity[bound] = window_mbit(stream.window, trip_ms) / tcp_goodput_mbit(1, mtus[stream.label])
            wanted[stream.label].append(bound)
    shares = fair_share(wanted, capacity)
    rates = {label: tcp_goodput_mbit(share.rate, mtus[label]) for label, share in shares.items()}
    return Expected(cables, mtus, rates, {label: share.bound for label, share in shares.items()})


def _cable(
    site: Site,
    stream: StreamEnds,
    hop: Hop,
    segment: Segment,
    switch_choices: SwitchChoices,
    policies: Mapping[str, str],
    alone: Set[tuple[str, str]],
) -> DirectedCable:
    end = segment.decided_by
    if end is None:
        return segment.cables[0]
    policy = policies.get(end.node, end.hash_policy)
    known = switch_choices.get((stream.label, end.node)) if policy in OVS_POLICIES else None
    if known is None and policy != "balance-tcp":
        known = member_for(frame_of(site, stream.source, stream.destination, hop), policy, end.members)
    # a stream that nobody shares the channel with has the same rate on every member
    member = known or (end.members[0] if (end.node, end.name) in alone else switch_choices[stream.label, end.node])
    return next(cable for cable in segment.cables if cable.sender.device == member)


def frame_of(site: Site, source: End, destination: End, hop: Hop) -> Flow:
    """A TCP connection's frames on a hop: its addresses and ports, and the hop's hardware addresses."""
    macs = mac_address(site, hop.sender), mac_address(site, hop.receiver)
    return Flow.tcp(*macs, source[0], destination[0], source[1], destination[1])
