"""Where in a site's file that stands which is written out in the site."""

from collections.abc import Iterator
from dataclasses import dataclass

from causeway.model.findings import Where
from causeway.model.site import Site, written_channels
from causeway.model.topology import Channel, Interface, Node


def owner(site: Site, node: str) -> str:
    """Who has a node in the file: its pool, or the node itself."""
    return (site.pool_name(node) if node not in site.topology.nodes else None) or node


def of_node(site: Site, node: str) -> Where:
    """The node's place, or its pool's."""
    if node in site.topology.nodes:
        return "nodes", node
    return "pools", owner(site, node)


def of_leg(site: Site, node: str, device: str, *key: str | int) -> Where:
    """An interface's place, or one of its keys'; that of a pool that makes its nodes' interfaces is the pool's."""
    place = of_node(site, node)
    pool = site.topology.pools.get(owner(site, node)) if place[0] == "pools" else None
    if pool is None:
        return (*place, "interfaces", device, *key)
    if pool.platform != "plain":
        return (*place, *key[:1]) if key[:1] == ("network",) else place
    if key == ("address",):
        return _host(site, place, node)
    return (*place, "interfaces", device, *key)


def _host(site: Site, place: Where, node: str) -> Where:
    """The place of the host number that a node of a plain pool has its addresses from."""
    pool = site.topology.pools[str(place[1])]
    if pool.platform == "plain" and isinstance(pool.hosts, list):
        return (*place, "hosts", site.nodes_of(str(place[1])).index(node))
    return (*place, "hosts")


def legs(site: Site) -> Iterator[tuple[str, Node, str, Interface]]:
    """Every interface, with its node and its device."""
    for name, node in site.nodes.items():
        for device, interface in node.interfaces.items():
            yield name, node, device, interface


@dataclass(frozen=True)
class ChannelPlace:
    """A channel, where it stands, and its bond's name in a pool."""

    channel: Channel
    where: Where
    pool: str

    def of(self, side: int, *key: str | int) -> Where:
        """The place of an end, or of one of its keys."""
        if not self.pool:
            return (*self.where, "ends", side, *key)
        if not key:
            return self.where
        first = _SWITCHS_KEYS.get(str(key[0]), key[0]) if side else key[0]
        return (*self.where, first, *key[1:])


#: What an uplink of a pool calls what its switch's end has.
_SWITCHS_KEYS = {"node": "switch", "hash_policy": "switch_policy"}


def channels(site: Site) -> Iterator[ChannelPlace]:
    """Every channel with its place."""
    index = 0
    for pool, channel in written_channels(site.topology):
        where: Where = ("pools", pool, "channels", channel.ends[0].name) if pool else ("channels", index)
        index += not pool
        yield ChannelPlace(channel, where, pool)
