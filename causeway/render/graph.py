"""A site as a drawing: plain data for programs, a Mermaid flowchart for people."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from causeway.model.site import Cable, Port, Site
from causeway.model.topology import ChannelEnd

#: More I/O nodes than this are drawn as one box.
_IO_NODES_DRAWN = 12
#: That box's identifier.
_IO_NODES = "io_nodes"


def as_data(site: Site) -> dict[str, Any]:
    """The nodes, links and channels of a site, as JSON can hold them. A channel's cables are no links."""
    networks = site.topology.networks
    return {
        "lab": site.name,
        "nodes": [{"name": name, "cluster": node.cluster, "role": node.role} for name, node in site.nodes.items()],
        "links": [
            {
                "ends": [str(port) for port in cable.ends],
                "network": cable.network,
                "rate_mbit": networks[cable.network].rate_mbit,
            }
            for cable in _links(site)
        ],
        "channels": [
            {
                "ends": [
                    {
                        "node": end.node,
                        "name": end.name,
                        "members": list(end.members),
                        "hash_policy": end.hash_policy,
                    }
                    for end in channel.ends
                ],
                "network": _network(site, channel.ends[0]),
                "rate_mbit": networks[_network(site, channel.ends[0])].rate_mbit,
            }
            for channel in site.topology.channels
        ],
    }


def mermaid(site: Site) -> str:
    """A Mermaid flowchart: a box around each cluster, a thick edge for a channel with both ends' policies."""
    folded = _folded(site)
    lines = ["flowchart LR"]
    for number, cluster in enumerate(site.topology.clusters):
        lines.append(f"    subgraph cluster{number} [{_quoted(cluster)}]")
        lines += [f"        {box}" for box in _boxes(site, cluster, folded)]
        lines.append("    end")
    lines += [f"    {box}" for box in _boxes(site, None, folded)]
    lines += [f"    {edge}" for edge in _link_edges(site, folded)]
    lines += [f"    {edge}" for edge in _channel_edges(site)]
    return "\n".join(lines) + "\n"


def _links(site: Site) -> Iterator[Cable]:
    return (cable for cable in site.cables if site.channel_of(cable.a) is None)


def _network(site: Site, end: ChannelEnd) -> str:
    return site.network_of(Port(end.node, end.members[0]))


def _folded(site: Site) -> list[str]:
    """The I/O nodes, where there are too many to draw each."""
    io_nodes = [name for name, node in site.nodes.items() if node.role == "ion"]
    return io_nodes if len(io_nodes) > _IO_NODES_DRAWN else []


def _boxes(site: Site, cluster: str | None, folded: list[str]) -> Iterator[str]:
    for name, node in site.nodes.items():
        if node.cluster != cluster or name in folded:
            continue
        left, right = ("{{", "}}") if node.switch is not None else ("[", "]")
        label = name if node.switch is None else f"{name}<br>{node.role}, network {node.switch}"
        yield f"{_id(name)}{left}{_quoted(label)}{right}"
    if folded and site.nodes[folded[0]].cluster == cluster:
        label = f"{len(folded)} I/O nodes<br>{folded[0]} ... {folded[-1]}"
        yield f"{_IO_NODES}[{_quoted(label)}]"


def _link_edges(site: Site, folded: list[str]) -> Iterator[str]:
    def drawn(cable: Cable) -> tuple[str, str, str]:
        a, b = (_IO_NODES if port.node in folded else _id(port.node) for port in cable.ends)
        return a, b, cable.network

    for (a, b, network), cables in groupby(_links(site), key=drawn):
        rate = _rate(site.topology.networks[network].rate_mbit)
        count = len(list(cables))
        label = f"{network}, {count} x {rate}" if count > 1 else f"{network}, {rate}"
        yield f"{a} ---|{_quoted(label)}| {b}"


def _channel_edges(site: Site) -> Iterator[str]:
    for channel in site.topology.channels:
        a, b = channel.ends
        network = _network(site, a)
        rate = _rate(site.topology.networks[network].rate_mbit)
        label = f"{network}, {len(a.members)} x {rate}<br>{a.hash_policy} / {b.hash_policy}"
        yield f"{_id(a.node)} ===|{_quoted(label)}| {_id(b.node)}"


def _rate(rate_mbit: int) -> str:
    return f"{rate_mbit / 1000:g} Gbit/s" if rate_mbit >= 1000 else f"{rate_mbit} Mbit/s"


def _id(name: str) -> str:
    """A node's name as a Mermaid identifier, never one of Mermaid's words (a node may be called `end`)."""
    return "n_" + "".join(c if c.isalnum() else "_" for c in name)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "#quot;") + '"'
