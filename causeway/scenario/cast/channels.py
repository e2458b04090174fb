"""Channels between hosts and switches, and who is reached by them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from causeway.model.thing import Port
from causeway.model.topology import LINUX_POLICIES, ChannelEnd
from causeway.plan.fairshare import WIRE_OVERHEAD
from causeway.plan.streams import StreamEnds, expect
from causeway.scenario.cast.base import Asking, number

#: How long a receiving adapter gathers frames (nodes/base/adapters, gro_flush_timeout).
_GATHERING_S = 100e-6
#: For a policy that looks at none.
_ANY_PORT = 1


@dataclass(frozen=True)
class Channel:
    """A channel between a host and a switch, with both of its ends."""

    host: ChannelEnd
    switch: ChannelEnd
    network: str

    @property
    def node(self) -> str:
        return self.host.node

    @property
    def at(self) -> str:
        """The switch."""
        return self.switch.node

    @property
    def members(self) -> list[str]:
        """The host's members, in the order of the cables."""
        return self.host.members

    def port(self, member: str) -> Port:
        return Port(self.host.node, member)

    def without(self, member: str) -> "Channel":
        """The channel as it is when a member's cable is pulled."""

        def less(end: ChannelEnd, gone: str) -> ChannelEnd:
            return end.model_copy(update={"members": [m for m in end.members if m != gone]})

        return Channel(less(self.host, member), less(self.switch, self.opposite(member)), self.network)

    def opposite(self, member: str) -> str:
        """The switch's port that a member of the host is plugged into."""
        return self.switch.members[self.host.members.index(member)]


class AskChannels(Asking):
    """Questions for channels."""

    def channel(self, *, members: int = 2, by_ports: bool = False, dealt: bool = False) -> Channel:
        """The host's channel to a switch that has most members, of at least so many.

        by_ports: its host's policy hashes ports. dealt: its switch deals source MAC addresses out (balance-slb), so
        that what comes to the host can be computed.
        """
        return self._given(self._widest(members, by_ports=by_ports, dealt=dealt)[:1])[0]

    def remade(self, most: int, *, by: str) -> tuple[Channel, list[str]]:
        """A channel both of whose ends can be put together otherwise, the widest there is, and up to `most` peers.

        They have a link each, and a switch that sends by a policy sends what they send by two members at least.
        """
        for channel in self._widest(2):
            known = channel.host.hash_policy in LINUX_POLICIES  # who is remade is not given another's again
            peers = self._linked(channel)[:most] if known else []
            if len({self._handed_by(channel, peer, by) for peer in peers}) > 1:
                self._given([channel])
                return channel, self._give(peers)
        raise self._lacks(
            "channel between a host that sends by a policy of Linux's and a switch, and hosts with a link each to that "
            f"switch whom it would answer by two members if it sent by {by}"
        )

    def _handed_by(self, channel: Channel, peer: str, by: str) -> str:
        """The switch's member by which a peer's frames would come to a channel's host."""
        own, theirs = (self.site.address(node, channel.network) for node in (channel.node, peer))
        ends = StreamEnds("", peer, (theirs, _ANY_PORT), (own, _ANY_PORT))
        return expect(self.site, [ends], policies={channel.at: by}, ways=self._ways).member("", channel.at)

    def twins(self, *, members: int = 2, gathered: float = 0) -> tuple[Channel, Channel]:
        """Two hosts' channels to one switch that deals to both, with as many members of one rate, in one network.

        gathered: their adapters gather so many full frames of a link at least before they hand them on.
        """
        able = [c for c in self._widest(members, dealt=True) if self._gathers(c) >= gathered]
        able = [c for c in able if c.host.hash_policy in LINUX_POLICIES]  # who is remade is not given another's again
        for one in able:
            for other in able:
                if other.node != one.node and self._alike(one) == self._alike(other):
                    one, other = self._given([one, other])
                    return one, other
        what = (
            f"two hosts with like channels of {number(members)} members or more to one switch that deals by MAC address"
        )
        raise self._lacks(what + (f", and adapters that gather {gathered:g} frames of a link" if gathered else ""))

    def _gathers(self, channel: Channel) -> float:
        port = channel.port(channel.members[0])
        frame_bits = 8 * (self.site.mtu(port) + WIRE_OVERHEAD)
        return self.site.sends_mbit(port) * 1e6 * _GATHERING_S / frame_bits

    def channel_of(self, host: str, *, by_mac: bool = False) -> Channel:
        """A host's own channel to a switch; by_mac: its policy looks at MAC addresses and at nothing else."""
        for channel in self._channels():
            if channel.node == host and (not by_mac or channel.host.hash_policy == "layer2"):
                return self._given([channel])[0]
        raise self._lacks(f"channel at {host}" + (" whose policy looks at MAC addresses alone" if by_mac else ""))

    def peers(self, channel: Channel, most: int, *, least: int = 1) -> list[str]:
        """Up to `most` hosts that hang on a channel's switch, each by a link of its own in the channel's network.

        Nodes without a disk first, as they come; then the others.
        """
        linked = self._linked(channel)
        if len(linked) < least:
            what = f"{number(least)} hosts with a link each to {channel.at}, the switch of {channel.node}'s channel"
            raise self._lacks(what)
        return self._give(linked[:most])

    def partner(self, channel: Channel) -> str:
        """Another host at a channel's switch; rather of another cluster, with a channel, and nobody's administrator."""
        able = self._plugged(channel)
        if not able:
            raise self._lacks(f"another host at {channel.at}, the switch of {channel.node}'s channel")

        def rank(host: str) -> tuple[bool, bool, bool]:
            same = self.site.nodes[host].cluster == self.site.nodes[channel.node].cluster
            return same, self._serves(host), not self._has_channel(host, channel.network)

        return self._give([min(able, key=rank)])[0]

    def senders(self, channel: Channel, most: int = 4) -> list[str]:
        """Hosts of another cluster at a channel's switch that have channels of their own, two at least."""
        cluster = self.site.nodes[channel.node].cluster
        able = [h for h in self._plugged(channel) if self._has_channel(h, channel.network)]
        able = [h for h in able if self.site.nodes[h].cluster != cluster]
        if len(able) < 2:
            raise self._lacks(f"two hosts with channels at {channel.at} that are not of {cluster}")
        return self._give(able[:most])

    def behind(self, node: str, network: str, least: int = 2) -> tuple[str, list[str]]:
        """A gateway in a network of a node's, and the hosts that the node reaches by it alone."""
        by: dict[str, list[str]] = {}
        for host in self._hosts():
            way = self._way(node, host)
            if way and len(way.hops) > 1 and way.hops[0].network == network:
                by.setdefault(way.hops[0].receiver.node, []).append(host)
        gateway = max(by, key=lambda name: len(by[name]), default=None)
        if gateway is None or len(by[gateway]) < least:
            raise self._lacks(f"{number(least)} hosts that {node} reaches through one gateway")
        return self._give([gateway])[0], self._give(by[gateway])

    def foreseen(self, ones: list[str], others: list[str]) -> None:
        """Unsupported where a switch between them hashes with a key that nobody knows (balance-tcp): of several
        streams that pass it at once nobody computes which member each takes."""
        for source, target in [*product(ones, others), *product(others, ones)]:
            way = self._way(source, target)
            ends = [segment.decided_by for hop in way.hops for segment in hop.segments] if way else []
            if any(end and end.hash_policy == "balance-tcp" for end in ends):
                raise self._lacks(f"way from {source} to {target} on which every switch's choice can be computed")

    def _widest(self, members: int, *, by_ports: bool = False, dealt: bool = False) -> list[Channel]:
        found = [c for c in self._channels() if len(c.members) >= members]
        found = [c for c in found if c.host.hash_policy == "layer3+4" or not by_ports]
        found = [c for c in found if c.switch.hash_policy == "balance-slb" or not dealt]
        if not found:
            what = f"channel of {number(members)} members or more between a host and a switch"
            what += ", whose host hashes ports" if by_ports else ""
            raise self._lacks(what + (", whose switch deals by MAC address" if dealt else ""))
        return sorted(found, key=lambda c: -len(c.members))

    def _given(self, channels: list[Channel]) -> list[Channel]:
        self._give([node for channel in channels for node in (channel.node, channel.at)])
        return channels

    def _channels(self) -> Iterator[Channel]:
        """Those that scenarios know: at an Open vSwitch's own end it is seen by which member a frame comes."""
        for _, end, other in self.site.channel_ends():
            node = self.site.nodes[end.node]
            if node.switch is None and node.cluster and not self.site.is_linux_bond(other):
                yield Channel(end, other, self.site.network_of(Port(end.node, end.members[0])))

    def _alike(self, channel: Channel) -> tuple[str, str, list[int]]:
        rates = [self.site.sends_mbit(channel.port(member)) for member in channel.members]
        return channel.at, channel.network, rates

    def _plugged(self, channel: Channel) -> list[str]:
        """The other hosts in a channel's network whose cables end in the channel's switch."""
        there = {p.node for c in self.site.cables for p, q in (c.ends, c.ends[::-1]) if q.node == channel.at}
        return [
            host
            for host in self._hosts()
            if host != channel.node and host in there and self._in_network(host, channel.network)
        ]

    def _linked(self, channel: Channel) -> list[str]:
        """Of these who hangs on it by a link; nodes without a disk first, as they come."""
        linked = [h for h in self._plugged(channel) if not self._has_channel(h, channel.network)]
        return sorted(linked, key=lambda host: host not in self.site.diskless())

    def _in_network(self, host: str, network: str) -> bool:
        return any(leg.network == network for leg in self.site.nodes[host].interfaces.values())

    def _has_channel(self, host: str, network: str) -> bool:
        return any(c.node == host and c.network == network for c in self._channels())
