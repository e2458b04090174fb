"""Hardware addresses that neighbours learn, and should not."""

from ipaddress import IPv4Address

from causeway.errors import BadInput
from causeway.lab.changes.change import Change, Step
from causeway.lab.faults.parameters import Neighbour, NodeName
from causeway.lab.lab import Lab


def address_twice(lab: Lab, node: NodeName, address: Neighbour) -> Change:
    """A node has an address that is another node's already.

    Injected: one more address of its interface in that network (`ip address add`); it announces nothing.
    Triggers: nothing at first, for neighbours keep what they know. Who hears the node call from that address, or asks
    anew and is answered by it, takes the node for the owner: connections to the owner are refused or end elsewhere, and
    the owner gets answers to what it never asked. After the undo neighbours find the owner again by themselves, within
    some 10 s of the next packet.
    Look: ask each network for its nodes' hardware addresses, and count the answers (`busybox arping -b`).
    """
    wanted = IPv4Address(address)
    legs = {other: about.interfaces for other, about in lab.site.nodes.items()}
    owner = next((o for o, own in legs.items() if any(leg.address == wanted for leg in own.values())), None)
    if owner in (None, node):
        whose = f"{node}'s own" if owner else "nobody's"
        raise BadInput(f"{address} is {whose}; name another node's address")
    subnets = {device: lab.site.topology.networks[leg.network].subnet for device, leg in legs[node].items()}
    device, subnet = next((device, subnet) for device, subnet in subnets.items() if wanted in subnet)
    there = ("add", f"{address}/{subnet.prefixlen}", "dev", device)
    back = ("flush", "dev", device, "to", f"{address}/32")  # which does nothing where there is none
    steps = [Step(node, ("ip", "address", *words), plugged=True) for words in (there, back)]
    return Change(f"{node} has {owner}'s address {address}", (steps[0],), (steps[1],))
