"""The number by which a Linux bond chooses the member that sends a frame.

Follows drivers/net/bonding/bond_main.c of Linux 7.3 on a little-endian machine (x86-64), for frames
without a VLAN tag. What a bond receives is the other end's choice.
"""

import struct

from causeway.plan.hashing.frame import ETH_P_IP, ETH_P_IPV6, IPPROTO_TCP, IPPROTO_UDP, Flow, mac_bytes

IPPROTO_ICMP = 1
IPPROTO_ICMPV6 = 58

#: Protocols that begin with a source and a destination port (include/linux/in.h, proto_ports_offset):
#: TCP, UDP, DCCP, SCTP, UDP-Lite.
_WITH_PORTS = frozenset({IPPROTO_TCP, IPPROTO_UDP, 33, 132, 136})
#: ESP and AH: the kernel takes the 32 bits of the SPI for the ports.
_WITH_SPI = frozenset({50, 51})
#: Echo, echo reply, timestamp and its reply, ICMPv6 echo and reply: the kernel looks for these types in
#: one list for both protocols (net/core/flow_dissector.c, icmp_has_id).
_WITH_ICMP_ID = frozenset({0, 8, 13, 14, 128, 129})
#: Error messages, which quote the packet that caused them (icmp_is_err, icmpv6_is_err).
_ICMP_ERRORS = {IPPROTO_ICMP: frozenset({3, 4, 5, 11, 12}), IPPROTO_ICMPV6: frozenset({1, 2, 3, 4})}


def bond_hash(flow: Flow, policy: str) -> int:
    """The 32-bit transmit hash of a frame under a bond's xmit_hash_policy.

    - layer2: last bytes of both MAC addresses XOR the ethertype.
    - layer2+3: that XOR both IP addresses, folded into the low byte.
    - layer3+4: ports XOR both IP addresses, folded, without its lowest bit: ports 2n and 2n+1 fall
      together. ICMP echo and timestamp have type, code and identifier in place of the ports, so that a
      request and its reply may differ; fragments and other protocols have none.
    - An ICMP error counts as the packet that it quotes in layer2+3 and layer3+4, a quoted echo as one
      without identifier.
    - vlan+srcmac: the two halves of the source MAC address XORed.

    Frames other than IP (ARP, LACP) are hashed as by layer2 under the first three.

    Raises ValueError on any other policy, also on encap2+3 and encap3+4: the latter uses the random
    number that the kernel gave the sending socket, which no frame shows. Raises ValueError when the
    flow lacks a field that the policy looks at.
    Source: __bond_xmit_hash, bond_eth_hash, bond_flow_dissect, bond_ip_hash, bond_vlan_srcmac_hash.
    """
    if policy not in ("layer2", "layer2+3", "layer3+4", "vlan+srcmac"):
        raise ValueError(f"the hash of policy {policy!r} cannot be computed")
    if policy == "vlan+srcmac":
        mac = mac_bytes(flow.src_mac)
        return int.from_bytes(mac[:3], "big") ^ int.from_bytes(mac[3:], "big")
    packet = None if policy == "layer2" else _hashed_packet(flow)
    if packet is None:
        return _ethernet_hash(flow)
    if policy == "layer2+3":
        return _folded(_ethernet_hash(flow) ^ _addresses_word(packet))
    return _folded(_transport_word(flow, packet) ^ _addresses_word(packet)) >> 1


def _ethernet_hash(flow: Flow) -> int:
    return mac_bytes(flow.dst_mac)[5] ^ mac_bytes(flow.src_mac)[5] ^ flow.ethertype


def _hashed_packet(flow: Flow) -> Flow | None:
    """The packet whose addresses and ports count; None where the kernel falls back to layer2."""
    if flow.ethertype not in (ETH_P_IP, ETH_P_IPV6):
        return None
    if not flow.fragment and flow.icmp_type in _ICMP_ERRORS.get(flow.protocol or 0, ()):
        return flow.quoted
    return flow


def _addresses_word(packet: Flow) -> int:
    """Both addresses XORed; an IPv6 address counts as the XOR of its four words (ipv6_addr_hash)."""
    if packet.src_ip is None or packet.dst_ip is None:
        raise ValueError("an IP packet needs src_ip and dst_ip")
    raw = packet.src_ip.packed + packet.dst_ip.packed
    word = 0
    # The kernel XORs __be32 values as they lie in memory; on x86 it reads them as little-endian numbers.
    for (part,) in struct.iter_unpack("<I", raw):
        word ^= part
    return word


def _transport_word(flow: Flow, packet: Flow) -> int:
    """The first 32 bits of the transport header as they lie in memory, or what stands in for them."""
    if packet.fragment:
        return 0
    if packet.protocol in _ICMP_ERRORS:
        # The kernel never looks at the identifier in a quoted packet.
        return _icmp_word(packet) if packet is flow else 0
    if packet.protocol in _WITH_SPI:
        if packet.spi is None:
            raise ValueError(f"a packet of protocol {packet.protocol} needs spi")
        return _little_endian(struct.pack(">I", packet.spi))
    if packet.protocol in _WITH_PORTS:
        if packet.src_port is None or packet.dst_port is None:
            raise ValueError(f"a packet of protocol {packet.protocol} needs src_port and dst_port")
        return _little_endian(struct.pack(">HH", packet.src_port, packet.dst_port))
    return 0


def _icmp_word(packet: Flow) -> int:
    """struct flow_dissector_key_icmp as a number: type, code, identifier in host order."""
    if packet.icmp_type is None:
        raise ValueError("an ICMP packet needs icmp_type")
    if packet.icmp_type not in _WITH_ICMP_ID:
        return 0
    # Identifier 0 would mean that there is none; the kernel makes it 1.
    return packet.icmp_type | packet.icmp_code << 8 | (packet.icmp_id or 1) << 16


def _folded(word: int) -> int:
    word ^= word >> 16
    return word ^ word >> 8


def _little_endian(in_memory: bytes) -> int:
    return int.from_bytes(in_memory, "little")
