"""Neighbours of one network, for scenarios: who answers for an address, and whose sshd is reached at it."""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address

from causeway.lab.probes.reach import opened
from causeway.model.thing import Port
from causeway.plan.hardware import mac_address
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import SOURCE_PORTS


def answering(stage: Stage, asker: str, network: str, address: IPv4Address) -> list[str]:
    """The nodes that answer a broadcast for an address in a network with their hardware address."""
    ports = {
        mac_address(stage.site, Port(name, device)): name
        for name, node in stage.site.nodes.items()
        for device, leg in node.interfaces.items()
        if leg.network == network
    }
    said = stage.lab.on(
        asker, "busybox", "arping", "-b", "-c", "2", "-w", "2", "-I", leg(stage, asker, network), str(address)
    ).stdout
    return sorted({ports[mac] for mac in re.findall(r"\[([0-9a-f:]{17})\]", said)})


def reaching(stage: Stage, network: str, callers: Sequence[str], address: IPv4Address) -> list[str]:
    """The callers to which an sshd answers at an address in their network."""
    ports = dict(zip(callers, stage.untaken(SOURCE_PORTS, len(callers)), strict=True))
    tries = {c: ((stage.site.address(c, network), port), address) for c, port in ports.items()}
    return [caller for caller in callers if opened(stage.lab, caller, {caller: tries[caller]})]


def answered(stage: Stage, node: str, source: IPv4Address, network: str, others: Sequence[str]) -> list[str]:
    """The others who answer a node's ping from one of its addresses, so that it hears them."""
    found = []
    for other in others:
        target = str(stage.site.address(other, network))
        if stage.lab.on(node, "ping", "-c", "1", "-W", "0.2", "-I", str(source), target).rc == 0:
            found.append(other)
    return found


def forget_all(stage: Stage, node: str, network: str) -> None:
    """Have a node ask anew for each neighbour's hardware address."""
    stage.lab.on(node, "ip", "neigh", "flush", "dev", leg(stage, node, network)).must()


def announce(stage: Stage, node: str, network: str) -> None:
    """Have a node tell all of a network its own hardware address (gratuitous ARP), twice: once it has told them again,
    a second later, all have heard it the first time.
    """
    own = str(stage.site.address(node, network))
    stage.lab.on(node, "busybox", "arping", "-U", "-c", "2", "-w", "3", "-I", leg(stage, node, network), own)


def leg(stage: Stage, node: str, network: str) -> str:
    """A node's interface in a network."""
    return next(device for device, one in stage.site.nodes[node].interfaces.items() if one.network == network)
