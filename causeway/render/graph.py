"""A site as a drawing: plain data for programs, a Mermaid flowchart for people."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from causeway.model.site import Cable, Site
from causeway.model.thing import Port
from causeway.model.topology import Channel

#: A pool of more nodes than this is drawn as one box.
_DRAWN = 12


def as_data(site: Site) -> dict[str, Any]:
    """The nodes, links and channels of a site, as JSON can hold them. A channel's cables are no links."""
    return {
        "lab": site.name,
        "nodes": [{"name": name, "cluster": node.cluster, "role": node.role} for name, node in site.nodes.items()],
        "links": [
            {
                "ends": [str(port) for port in cable.ends],
                "network": cable.network,
                "rate_mbit": cable.both_ways,
                "delay_ms": cable.delay_ms,
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
                "network": _member(site, channel).network,
                "rate_mbit": _member(site, channel).both_ways,
                "delay_ms": _member(site, channel).delay_ms,
            }
            for channel in site.channels
        ],
    }


def mermaid(site: Site) -> str:
    """A Mermaid flowchart: a box around each cluster, a thick edge for a channel with both ends' policies.

    A pool of many nodes is one box.
    """
    folded = {name: site.nodes_of(name) for name in site.topology.pools if len(site.nodes_of(name)) > _DRAWN}
    box_of = {node: _id(f"{pool}, all") for pool, nodes in folded.items() for node in nodes}
    lines = ["flowchart LR"]
    for number, cluster in enumerate(site.topology.clusters):
        lines.append(f"    subgraph cluster{number} [{_quoted(cluster)}]")
        lines += [f"        {box}" for box in _boxes(site, cluster, folded, box_of)]
        lines.append("    end")
    lines += [f"    {box}" for box in _boxes(site, None, folded, box_of)]
    lines += [f"    {edge}" for edge in _link_edges(site, box_of)]
    lines += [f"    {edge}" for edge in _channel_edges(site, box_of)]
    return "\n".join(lines) + "\n"


def _links(site: Site) -> Iterator[Cable]:
    return (cable for cable in site.cables if site.channel_of(cable.a) is None)


def _member(site: Site, channel: Channel) -> Cable:
    """The cable of a channel's first member, like which the others are."""
    end = channel.ends[0]
    return site.cable_at(Port(end.node, end.members[0]))


def _boxes(site: Site, cluster: str | None, folded: dict[str, list[str]], box_of: dict[str, str]) -> Iterator[str]:
    for name, node in site.nodes.items():
        if node.cluster != cluster or name in box_of:
            continue
        left, right = ("{{", "}}") if node.switch is not None else ("[", "]")
        label = name if node.switch is None else f"{name}<br>{node.role}, network {node.switch}"
        yield f"{_id(name)}{left}{_quoted(label)}{right}"
    for pool, nodes in folded.items():
        if site.nodes[nodes[0]].cluster == cluster:
            label = f"{pool}: {len(nodes)} x {site.nodes[nodes[0]].role}<br>{nodes[0]} ... {nodes[-1]}"
            yield f"{box_of[nodes[0]]}[{_quoted(label)}]"


def _link_edges(site: Site, box_of: dict[str, str]) -> Iterator[str]:
    def drawn(cable: Cable) -> tuple[str, str, str, str]:
        a, b = (box_of.get(port.node) or _id(port.node) for port in cable.ends)
        return a, b, cable.network, rate_words(cable)

    for (a, b, network, rate), cables in groupby(_links(site), key=drawn):
        count = len(list(cables))
        label = f"{network}, {count} x {rate}" if count > 1 else f"{network}, {rate}"
        yield f"{a} ---|{_quoted(label)}| {b}"


def _channel_edges(site: Site, box_of: dict[str, str]) -> Iterator[str]:
    def drawn(channel: Channel) -> tuple[str, str, str, str]:
        a, b = (box_of.get(end.node) or _id(end.node) for end in channel.ends)
        cable = _member(site, channel)
        each = f"{len(channel.ends[0].members)} x {rate_words(cable)}"
        return a, b, f"{cable.network}, ", f"{each}<br>{channel.ends[0].hash_policy} / {channel.ends[1].hash_policy}"

    for (a, b, network, rest), channels in groupby(site.channels, key=drawn):
        count = len(list(channels))
        yield f"{a} ===|{_quoted(f'{network}{count} x {rest}' if count > 1 else f'{network}{rest}')}| {b}"


def rate_words(cable: Cable) -> str:
    """A cable's rate from its first end to the second, and back where that differs; and its length, if it has one."""
    rate = " / ".join(
        f"{mbit / 1000:g} Gbit/s" if mbit >= 1000 else f"{mbit} Mbit/s" for mbit in dict.fromkeys(cable.rate_mbit)
    )
    return rate + (f", {cable.delay_ms:g} ms" if cable.delay_ms else "")


def _id(name: str) -> str:
    """A node's name as a Mermaid identifier, never one of Mermaid's words (a node may be called `end`)."""
    return "n_" + "".join(c if c.isalnum() else "_" for c in name)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "#quot;") + '"'
