"""Switches whose tables are made beforehand: what must hold so that they can be."""

from collections.abc import Iterator

from causeway.model.findings import Finding
from causeway.model.rules import places
from causeway.model.site import Site


def fabrics(site: Site) -> Iterator[Finding]:
    """All switches of a network have tables or none has; where they have, each interface has a LID of its own."""
    static = {node.switch: name for name, node in site.nodes.items() if node.forwarding == "static"}
    for name, node in site.nodes.items():
        if node.switch is None and node.forwarding == "static":
            what = f"{name} switches no network, and forwards by a table"
            yield Finding((*places.of_node(site, name), "forwarding"), what, "add `switch`, or take `forwarding` away")
        elif node.switch in static and node.forwarding != "static":
            what = f"{name} learns, and {static[node.switch]} in the same network forwards by a table"
            yield Finding((*places.of_node(site, name), "switch"), what, "make all of them static, or all learning")
    for place in places.channels(site):
        for side, end in enumerate(place.channel.ends):
            if end.node in site.nodes and site.nodes[end.node].forwarding == "static":
                what = f"{end.node} forwards by a table, which names single ports"
                yield Finding(place.of(side), what, "use links without a channel")
    taken: dict[tuple[str, int], str] = {}
    for name, _, device, leg in places.legs(site):
        if leg.network not in static:
            continue
        if leg.lid is None:
            what = f"{name}:{device} has no LID, and {static[leg.network]} forwards by LIDs"
            yield Finding(places.of_leg(site, name, device), what, "give it one: a number that no other has")
        elif other := taken.get((leg.network, leg.lid)):
            what = f"LID {leg.lid} of {name}:{device} is {other}'s, too"
            yield Finding(places.of_leg(site, name, device), what, "give each one of its own")
        else:
            taken[leg.network, leg.lid] = f"{name}:{device}"
