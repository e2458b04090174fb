"""What there is only one of on a way: the nodes and cables without which a packet does not arrive."""

from collections import deque

from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.forwarding import is_static, neighbours
from causeway.plan.paths import DirectedCable, Hop


def needs_of(site: Site, hop: Hop) -> frozenset[str]:
    """The nodes and cables of a hop that nothing stands in for.

    A channel's other members do, and other ways between switches whose tables are made anew when one is lost.
    """
    needs = {hop.receiver.node, *hop.switches}
    needs |= {_cable(segment.cables[0]) for segment in hop.segments if len(segment.cables) == 1}
    if any(is_static(site, switch) for switch in hop.switches):
        between = {*hop.switches[1:-1], *(_cable(segment.cables[0]) for segment in hop.segments[1:-1])}
        needs -= {
            thing for thing in between if _another_way(site, hop.network, hop.switches[0], hop.switches[-1], thing)
        }
    return frozenset(needs)


def _cable(cable: DirectedCable) -> str:
    """A cable's name, the same in both directions."""
    return " - ".join(sorted((str(cable.sender), str(cable.receiver))))


def _another_way(site: Site, network: str, first: str, last: str, without: str) -> bool:
    """Whether one switch leads to another without a switch or a cable between them."""
    wiring = neighbours(site, network)
    reached, waiting = {first}, deque([first])
    while waiting:
        here = waiting.popleft()
        for device, far in wiring[here].items():
            cable = _cable(DirectedCable(Port(here, device), far))
            if far.node in wiring and far.node not in reached and without not in (far.node, cable):
                reached.add(far.node)
                waiting.append(far.node)
    return last in reached
