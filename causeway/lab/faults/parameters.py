"""What the parameters of faults mean, and what is wrong with a value, by the site alone: nothing is touched."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Annotated, Any

from causeway.model.site import Site
from causeway.model.thing import Port


@dataclass(frozen=True)
class Kind:
    """A kind of parameter: its meaning and how to choose it, and its check.

    The check takes the site, the value and the fault's other values; it returns what is wrong, or "". Where
    another value is wrong, and this one cannot be judged without it, nothing is.
    """

    meaning: str
    wrong: Callable[[Site, Any, Mapping[str, Any]], str]


def _none_of(value: str, what: str, known: Iterable[str]) -> str:
    """What to say of a value that is none of those known; "" where it is one."""
    everything = list(dict.fromkeys(known))
    if value in everything:
        return ""
    near = get_close_matches(value, everything, 3) or everything
    return f"there is no {what} {value}; use {', '.join(near) or 'another fault, for the site has none'}"


def _node(site: Site, value: str, _: Mapping[str, Any]) -> str:
    return _none_of(value, "node", site.nodes)


def _host(site: Site, value: str, _: Mapping[str, Any]) -> str:
    return _none_of(value, "node with a root user", (name for name, node in site.nodes.items() if node.cluster))


def _device(site: Site, value: str, others: Mapping[str, Any]) -> str:
    node = others.get("node")
    if node not in site.nodes:
        return ""
    ends = (end for cable in site.cables for end in cable.ends)
    return _none_of(str(Port(node, value)), "cable at", (str(end) for end in ends if end.node == node))


def _destination(site: Site, value: str, others: Mapping[str, Any]) -> str:
    node = site.nodes.get(others.get("node", ""))
    if node is None:
        return ""
    # a host without its prefix length, as `ip route` has it
    known = [str(site.destination(route)).removesuffix("/32") for route in node.routes]
    return _none_of(value, f"static route of {others['node']} to", known)


def _neighbour(site: Site, value: str, others: Mapping[str, Any]) -> str:
    node = site.nodes.get(others.get("node", ""))
    if node is None:
        return ""
    networks = [site.topology.networks[leg.network].subnet for leg in node.interfaces.values()]
    try:
        if any(IPv4Address(value) in network for network in networks):
            return ""
    except AddressValueError:
        pass
    return f"{value} is no neighbour of {others['node']}; use an address in {_any_of(networks)}"


def _any_of(networks: list[IPv4Network]) -> str:
    return " or ".join(str(network) for network in networks) or "none: it has no network"


def _learning(site: Site, value: str, _: Mapping[str, Any]) -> str:
    learning = [name for name in site.switches() if site.nodes[name].forwarding == "learning"]
    return _none_of(value, "switch that learns", learning)


def _name_server(site: Site, value: str, _: Mapping[str, Any]) -> str:
    return _none_of(value, "name server", site.all_name_servers())


def _host_name(site: Site, value: str, others: Mapping[str, Any]) -> str:
    if value == others.get("server"):
        return f"{value} is the zone's own name server, and named takes no zone whose server has no address"
    legs = (leg for node in site.nodes.values() for leg in node.interfaces.values())
    return _none_of(value, "host name", (name for leg in legs for name in leg.names))


def _time_client(site: Site, value: str, _: Mapping[str, Any]) -> str:
    clients = [name for name in site.nodes if site.time_server(name)]
    return _none_of(value, "node that takes its time from another", clients)


def _service(_: Site, value: str, __: Mapping[str, Any]) -> str:
    return "" if value.replace("-", "").replace(".", "").isalnum() else f"{value!r} is no daemon's name"


def _path(_: Site, value: str, __: Mapping[str, Any]) -> str:
    return "" if value.startswith("/") else f"{value} is no whole path; begin with /"


def _above(least: float, most: float) -> Callable[[Site, float, Mapping[str, Any]], str]:
    """A check that a number is above the least and not above the most."""

    def wrong(_: Site, value: float, __: Mapping[str, Any]) -> str:
        return "" if least < value <= most else f"{value:g} is out of range; use more than {least:g}, up to {most:g}"

    return wrong


def _off(_: Site, value: float, __: Mapping[str, Any]) -> str:
    return (
        "" if 0.001 <= abs(value) <= 1e6 else f"{value:g} is out of range; use 0.001 to 1000000, or -0.001 to -1000000"
    )


NodeName = Annotated[str, Kind("a node, as `causeway status` has it", _node)]
DnsName = Annotated[str, Kind("a name of a node, without the domain, as /etc/hosts has it", _host_name)]
Host = Annotated[str, Kind("a node of a cluster: one that has an sshd and a root user", _host)]
LearningSwitch = Annotated[str, Kind("a switch that learns who is where", _learning)]
NameServer = Annotated[str, Kind("a node that serves DNS", _name_server)]
TimeClient = Annotated[str, Kind("a node that takes its time from a server", _time_client)]
Device = Annotated[str, Kind("what the cable is in at this node: an adapter, a channel's member, a port", _device)]
Destination = Annotated[str, Kind("a static route of the node: a network (10.2.64.0/22) or a host", _destination)]
Neighbour = Annotated[str, Kind("an address in one of the node's own networks", _neighbour)]
Service = Annotated[str, Kind("a daemon that runs there, as `ps` names it, or nfsd (the kernel's)", _service)]
Export = Annotated[str, Kind("an exported tree, as /etc/exports has it on the node that others boot from", _path)]
Percent = Annotated[float, Kind("per cent of the frames", _above(0, 100))]
Milliseconds = Annotated[float, Kind("milliseconds, each way", _above(0, 10_000))]
MbitPerSecond = Annotated[float, Kind("Mbit/s, each way", _above(0, 100_000))]
Mtu = Annotated[int, Kind("bytes of the largest IP packet that passes", _above(67, 9216))]
Seconds = Annotated[float, Kind("seconds", _above(0, 86_400))]
SignedSeconds = Annotated[float, Kind("seconds by which the node is ahead of its server; with a minus: behind", _off)]
