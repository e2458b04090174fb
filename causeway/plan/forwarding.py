"""By which port switches that do not learn send frames: tables made beforehand, as a subnet manager makes them.

In a fabric with several ways from switch to switch, a switch that learns would send broadcasts round for ever. An
InfiniBand fabric's switches have a table each instead: for every destination's number (LID) one port, and for groups
one tree.
"""

from collections import Counter, deque
from collections.abc import Mapping

from causeway.model.site import Site
from causeway.model.thing import Port


def is_static(site: Site, node: str) -> bool:
    """Whether a node is a switch whose tables are made beforehand."""
    return site.nodes[node].forwarding == "static"


def static_switches(site: Site, network: str) -> list[str]:
    """The switches of a network that have such tables, in the order of the file."""
    return [name for name, node in site.nodes.items() if node.switch == network and node.forwarding == "static"]


def table(site: Site, switch: str) -> dict[Port, str]:
    """The port of a static switch that leads to each interface of its network, in ascending order of their LIDs.

    Of its ports those count that lead there by the fewest switches, of these the ones that have the fewest
    destinations so far, and of these the first one plugged in. An interface that no cable leads to is left out.
    Source: OpenSM, current-routing.txt, "Min Hop Algorithm".
    """
    wiring = neighbours(site, str(site.nodes[switch].switch))
    taken: Counter[str] = Counter()
    found: dict[Port, str] = {}
    for destination in _destinations(site, str(site.nodes[switch].switch)):
        if destination.node == switch:  # its own address is at its bridge
            found[destination] = destination.device
            continue
        away = _switches_away(wiring, destination)
        hops = {port: 0 if far == destination else away.get(far.node) for port, far in wiring[switch].items()}
        least = min((n for n in hops.values() if n is not None), default=None)
        if least is not None:
            port = min((port for port, n in hops.items() if n == least), key=lambda port: taken[port])
            taken[port] += 1
            found[destination] = port
    return found


def tree(site: Site, network: str) -> dict[str, list[str]]:
    """The ports of each static switch that frames for groups leave by: those to hosts, and one tree's among switches.

    A frame does not leave by the port that it came in by, so each reaches everybody once. The tree grows from the
    network's first static switch, by the fewest switches.
    """
    switches, wiring = static_switches(site, network), neighbours(site, network)
    ports: dict[str, list[str]] = {switch: [] for switch in switches}
    joined, grown = set(switches[:1]), deque(switches[:1])
    while grown:
        switch = grown.popleft()
        ports[switch] += [device for device in site.nodes[switch].interfaces if device == f"br-{network}"]
        for device, far in wiring[switch].items():
            if far.node not in ports:
                ports[switch].append(device)
            elif far.node not in joined:
                joined.add(far.node)
                grown.append(far.node)
                ports[switch].append(device)
                ports[far.node].append(far.device)
    return ports


def neighbours(site: Site, network: str) -> dict[str, dict[str, Port]]:
    """What each port of a network's switches is plugged into, in the order of their cables."""
    found: dict[str, dict[str, Port]] = {name: {} for name, node in site.nodes.items() if node.switch == network}
    for cable in site.cables:
        for here, far in (cable.a, cable.b), (cable.b, cable.a):
            if here.node in found and here.device not in site.nodes[here.node].interfaces:
                found[here.node][here.device] = far
    return found


def _destinations(site: Site, network: str) -> list[Port]:
    """The interfaces in a network by LID; those without one are no part of the fabric."""
    numbered = {
        Port(name, device): leg.lid
        for name, node in site.nodes.items()
        for device, leg in node.interfaces.items()
        if leg.network == network and leg.lid is not None
    }
    return sorted(numbered, key=lambda port: numbered[port])


def _switches_away(wiring: Mapping[str, Mapping[str, Port]], destination: Port) -> dict[str, int]:
    """How many switches a frame passes from each switch on until it is at an interface, that switch included."""
    near = [switch for switch, ports in wiring.items() if switch == destination.node or destination in ports.values()]
    away = dict.fromkeys(near, 1)
    reached = deque(near)
    while reached:
        switch = reached.popleft()
        for far in wiring[switch].values():
            if far.node in wiring and far.node not in away:
                away[far.node] = away[switch] + 1
                reached.append(far.node)
    return away
