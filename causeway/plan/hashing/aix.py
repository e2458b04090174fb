"""The number by which an EtherChannel of AIX chooses the adapter that sends a frame, in its modes standard and 8023ad.

Source: IBM, AIX 7.3, "Standard or 802.3ad algorithm" and "EtherChannel load-balancing options"; Redpaper, "Setting up
EtherChannel on the AIX 5L NSD servers". IBM divides the last byte of the number by the count of adapters, the Redpaper
the whole number: the two part only where the count is no power of two, and there IBM's words hold here. IBM halves the
sum of two ports, and says of one port alone that its value is used; the Redpaper's "same, but only one of the ports"
can be read as halved, too. Here IBM's words hold.

Neither says what becomes of a fragment, which shows no ports (here: as other traffic without ports), or of IPv6 (here:
the last byte of its destination's address).
"""

from causeway.model.topology import AIX_POLICIES
from causeway.plan.hashing.frame import Flow, mac_bytes, ports


def adapter_number(flow: Flow, hash_mode: str) -> int:
    """The byte whose remainder by the count of active adapters is the place of the one that sends (hash_mode).

    - default: the last byte of the destination's IP address, or of its MAC address where the frame is not IP.
    - src_dst_port: that of half the sum of both TCP or UDP ports, without its fraction.
    - src_port, dst_port: that of one port. The last three send what has no ports as default does.

    Raises ValueError on any other mode.
    """
    if hash_mode not in AIX_POLICIES:
        raise ValueError(f"AIX has no hash mode {hash_mode!r}")
    both = ports(flow)
    if hash_mode == "default" or both is None:
        return flow.dst_ip.packed[-1] if flow.dst_ip is not None else mac_bytes(flow.dst_mac)[-1]
    source, destination = both
    return {"src_dst_port": (source + destination) // 2, "src_port": source, "dst_port": destination}[hash_mode] & 0xFF
