"""The value by which a Catalyst chooses the port of a channel that sends a frame (set port channel all distribution).

What Cisco documents: the hash gives a value from 0 to 7; the ports share the eight values as 4:4, 3:3:2, 2:2:2:2,
2:2:2:1:1, 2:2:1:1:1:1, 2:1:1:1:1:1:1 or one each; "both" is the source XOR the destination; of a channel of two ports
the last bit of that counts, of one of four the last two; what is not IP goes by MAC addresses.

What it does not document, for the hash is Cisco's own, and what is assumed here: that of eight ports the last three
bits count, and of any other number all eight values are dealt to the ports in turn (value i to port i mod n), which
gives the documented shares; that a session's bits are those of its ports alone; that what has no ports, a fragment,
too, goes by its IP addresses.

Source: Cisco, "Understand EtherChannel Load Balancing and Redundancy on Catalyst Switches" (document 12023), and "How
to configure a Giga EtherChannel with the XOR algorithm"; Catalyst 6500 Series Command Reference, set port channel;
Redpaper, "EtherChannel on Cisco", for the names, and that a session is a port number.
"""

from causeway.model.topology import CISCO_POLICIES
from causeway.plan.hashing.frame import Flow, mac_bytes, ports


def bundle_value(flow: Flow, distribution: str) -> int:
    """The value from 0 to 7 of a frame, by a distribution such as "ip both".

    Raises ValueError on a distribution that is not of mac, ip, session and source, destination, both.
    """
    if distribution not in CISCO_POLICIES:
        raise ValueError(f"a Catalyst has no distribution {distribution!r}")
    field, side = distribution.split(" ")
    source, destination = _both(flow, field)
    return {"source": source, "destination": destination, "both": source ^ destination}[side] & 0b111


def _both(flow: Flow, field: str) -> tuple[int, int]:
    """The field of both ends, or what stands in for it."""
    numbers = ports(flow)
    if field == "session" and numbers is not None:
        return numbers
    if field != "mac" and flow.src_ip is not None and flow.dst_ip is not None:
        return flow.src_ip.packed[-1], flow.dst_ip.packed[-1]
    return mac_bytes(flow.src_mac)[-1], mac_bytes(flow.dst_mac)[-1]
