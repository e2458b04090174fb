"""What is drawn of a site: a box for each node, an edge for each link and each channel."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from causeway.model.site import Cable, Site
from causeway.model.thing import Port
from causeway.model.topology import Channel

#: A pool of more nodes than this is one box.
_DRAWN = 40


@dataclass(frozen=True)
class Box:
    """A node, or a pool of many; `nodes` are those that it stands for, the first of them for all."""

    name: str
    cluster: str | None
    nodes: tuple[str, ...]
    label: str
    about: str


@dataclass(frozen=True)
class Edge:
    """A link, or a channel with its members' cables, between two boxes.

    Of a pool that is one box, the links that are alike are one edge, with all their cables.
    """

    number: int
    boxes: tuple[str, str]
    cables: tuple[Cable, ...]
    channel: Channel | None

    @property
    def rate_mbit(self) -> int:
        """What one of its cables carries in the faster direction."""
        return max(self.cables[0].rate_mbit)

    @property
    def lines(self) -> int:
        """How many lines it is drawn as: a channel's members are one each."""
        return len(self.channel.ends[0].members) if self.channel else 1


@dataclass(frozen=True)
class Parts:
    """The boxes and edges of a site."""

    site: Site

    @cached_property
    def boxes(self) -> dict[str, Box]:
        found: dict[str, Box] = {}
        for name, node in self.site.nodes.items():
            pool = self._folded.get(name)
            nodes = tuple(self.site.nodes_of(pool)) if pool else (name,)
            label = f"{pool}: {len(nodes)}" if pool else name
            does = [node.role, f"switches {node.switch}" if node.switch else "", "forwards" if node.forwards else ""]
            legs = [f"{device}: {leg.address} in {leg.network}" for device, leg in node.interfaces.items()]
            about = f"{nodes[0]} to {nodes[-1]}" if pool else name
            text = "\n".join([about, ", ".join(filter(None, does)), *(legs if not pool else [])])
            found.setdefault(pool or name, Box(pool or name, node.cluster, nodes, label, text))
        return found

    @cached_property
    def edges(self) -> list[Edge]:
        grouped: dict[object, tuple[tuple[str, str], list[Cable], Channel | None]] = {}
        for key, cable, channel in self._cables():
            ends = (self._box(cable.a), self._box(cable.b))
            grouped.setdefault(key, (ends, [], channel))[1].append(cable)
        return [
            Edge(number, ends, tuple(cables), channel)
            for number, (ends, cables, channel) in enumerate(grouped.values())
        ]

    @cached_property
    def edge_of(self) -> dict[Port, int]:
        """The edge that the cable at a port is drawn in."""
        return {end: edge.number for edge in self.edges for cable in edge.cables for end in cable.ends}

    @cached_property
    def _folded(self) -> dict[str, str]:
        pools = {name: self.site.nodes_of(name) for name in self.site.topology.pools}
        return {node: name for name, nodes in pools.items() if len(nodes) > _DRAWN for node in nodes}

    def _box(self, port: Port) -> str:
        return self._folded.get(port.node, port.node)

    def _cables(self) -> Iterator[tuple[object, Cable, Channel | None]]:
        """Each cable with its channel and what it has in common with those that are drawn with it."""
        channels = {Port(e.node, m): c for c in self.site.channels for e in c.ends for m in e.members}
        for place, cable in enumerate(self.site.cables):
            channel = channels.get(cable.a)
            kind: object = place if channel is None else (channel.ends[0].node, channel.ends[0].name)
            if any(end.node in self._folded for end in cable.ends):
                policies = tuple(end.hash_policy for end in channel.ends) if channel else ()
                kind = (
                    self._box(cable.a),
                    self._box(cable.b),
                    cable.network,
                    cable.rate_mbit,
                    cable.delay_ms,
                    policies,
                )
            yield kind, cable, channel
