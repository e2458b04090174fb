"""The member of a bond on which Linux sends a frame; and Open vSwitch, with balance-slb.

Follows drivers/net/bonding/bond_main.c of Linux 7.3 on a little-endian machine (x86-64), for frames
without a VLAN tag. What a bond receives is the other end's choice.
"""

import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address

ETH_P_IP = 0x0800
ETH_P_IPV6 = 0x86DD

IPPROTO_ICMP = 1
IPPROTO_TCP = 6
IPPROTO_ICMPV6 = 58

#: Protocols that begin with a source and a destination port (include/linux/in.h, proto_ports_offset):
#: TCP, UDP, DCCP, SCTP, UDP-Lite.
_WITH_PORTS = frozenset({IPPROTO_TCP, 17, 33, 132, 136})
#: ESP and AH: the kernel takes the 32 bits of the SPI for the ports.
_WITH_SPI = frozenset({50, 51})
#: Echo, echo reply, timestamp and its reply, ICMPv6 echo and reply: the kernel looks for these types in
#: one list for both protocols (net/core/flow_dissector.c, icmp_has_id).
_WITH_ICMP_ID = frozenset({0, 8, 13, 14, 128, 129})
#: Error messages, which quote the packet that caused them (icmp_is_err, icmpv6_is_err).
_ICMP_ERRORS = {IPPROTO_ICMP: frozenset({3, 4, 5, 11, 12}), IPPROTO_ICMPV6: frozenset({1, 2, 3, 4})}

_WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Flow:
    """The fields of a frame that a bond's hash may look at; the same for all frames of a connection.

    MAC addresses are written 02:00:00:00:00:01. Ports, SPI and ICMP identifier have their ordinary
    (host order) values. `protocol` is that of the IPv4 header, or the next header of the IPv6 header:
    the bond does not look behind IPv6 extension headers. `quoted` is the packet that an ICMP error
    quotes; only its IP and transport fields matter, None means that too little of it is there.
    """

    src_mac: str
    dst_mac: str
    ethertype: int
    src_ip: IPv4Address | IPv6Address | None = None
    dst_ip: IPv4Address | IPv6Address | None = None
    protocol: int | None = None
    src_port: int | None = None
    dst_port: int | None = None
    spi: int | None = None
    icmp_type: int | None = None
    icmp_code: int = 0
    icmp_id: int = 0
    fragment: bool = False
    quoted: "Flow | None" = None

    @classmethod
    def tcp(
        cls,
        src_mac: str,
        dst_mac: str,
        src_ip: IPv4Address | IPv6Address,
        dst_ip: IPv4Address | IPv6Address,
        src_port: int,
        dst_port: int,
    ) -> "Flow":
        """One direction of a TCP connection."""
        ethertype = ETH_P_IP if src_ip.version == 4 else ETH_P_IPV6
        return cls(src_mac, dst_mac, ethertype, src_ip, dst_ip, IPPROTO_TCP, src_port, dst_port)


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
        mac = _mac(flow.src_mac)
        return int.from_bytes(mac[:3], "big") ^ int.from_bytes(mac[3:], "big")
    packet = None if policy == "layer2" else _hashed_packet(flow)
    if packet is None:
        return _ethernet_hash(flow)
    if policy == "layer2+3":
        return _folded(_ethernet_hash(flow) ^ _addresses_word(packet))
    return _folded(_transport_word(flow, packet) ^ _addresses_word(packet)) >> 1


def bond_member(flow: Flow, policy: str, members: Sequence[str]) -> str:
    """The member on which a bond (802.3ad or balance-xor) sends a frame: members[hash % count].

    `members` must be in the order of the kernel's array of usable members. bond_update_slave_arr walks
    the members in the order in which they were enslaved (that of /proc/net/bonding/BOND) and takes those
    that are up and, with 802.3ad, belong to the active aggregator and may distribute. It does so anew at
    every change, so a lost member closes the gap and moves flows of the others too.
    Raises ValueError as bond_hash, and when there are no members (the kernel drops the frame).
    Source: bond_update_slave_arr, bond_xmit_3ad_xor_slave_get.
    """
    if not members:
        raise ValueError("a bond without usable members sends nothing")
    return members[bond_hash(flow, policy) % len(members)]


def slb_bucket(src_mac: str) -> int:
    """The bucket of 256 in which Open vSwitch's balance-slb puts what comes from a MAC address, without a VLAN.

    `ovs-appctl bond/hash MAC` says the same. Source: Open vSwitch 3.5 as built for any x86-64 (without SSE 4.2),
    ofproto/bond.c, bond_hash_src; lib/hash.h, hash_uint64_basis, mhash_add, mhash_finish.
    """
    number = int.from_bytes(_mac(src_mac), "big")
    mixed = _murmur(_murmur(0, number & _WORD), number >> 32) ^ 8  # bytes that were hashed
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & _WORD
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _WORD
    return (mixed ^ mixed >> 16) % 256


def slb_member(src_mac: str, members: Sequence[str]) -> str:
    """The member by which a balance-slb channel end sends what comes from a MAC address.

    Holds where bucket i is given to member i mod n, as `causeway up` does it.
    """
    return members[slb_bucket(src_mac) % len(members)]


def ports_for_member(
    flow: Flow, policy: str, members: Sequence[str], wanted: str, ports: range, order: random.Random
) -> list[int]:
    """All source ports in a range with which a TCP flow is sent on the wanted member.

    They come in the random order that `order`, seeded by the caller, gives. The list is empty or the
    whole range when the policy does not look at ports. Raises ValueError when `wanted` is no member.
    """
    if wanted not in members:
        raise ValueError(f"{wanted} is none of the members {', '.join(members)}")
    return [
        port
        for port in order.sample(ports, len(ports))
        if bond_member(replace(flow, src_port=port), policy, members) == wanted
    ]


def _murmur(mixed: int, data: int) -> int:
    """One step of MurmurHash3 with 32 bits of data."""
    data = _rotated(data * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
    return _rotated(mixed ^ data, 13) * 5 + 0xE6546B64 & _WORD


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _WORD


def _ethernet_hash(flow: Flow) -> int:
    return _mac(flow.dst_mac)[5] ^ _mac(flow.src_mac)[5] ^ flow.ethertype


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


def _mac(text: str) -> bytes:
    mac = bytes.fromhex(text.replace(":", ""))
    if len(mac) != 6:
        raise ValueError(f"{text} is no MAC address")
    return mac
