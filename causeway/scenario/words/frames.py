"""Crafted frames of every kind that a hash policy treats in its own way, each beside what it holds."""

import random
from ipaddress import IPv4Address, IPv6Address

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw

from causeway.plan.hashing import Flow
from causeway.scenario.stage import Stage

#: IEEE 802 local experimental ethertype: no IP, no ARP.
_EXPERIMENTAL = 0x88B5
_OSPF = 89


def crafted(stage: Stage, count: int) -> list[tuple[Flow, bytes]]:
    """`count` frames from the run's seed, the kinds in turn, no two alike.

    Their addresses are nobody's: a frame that arrives somewhere is dropped there.
    """
    kinds = (_tcp, _udp, _echo, _ospf, _fragment, _arp, _no_ip, _tcp6)
    return [kinds[i % len(kinds)](stage.random, i) for i in range(count)]


def _mac(dice: random.Random) -> str:
    return "06:" + ":".join(f"{dice.randrange(256):02x}" for _ in range(5))


def _ip(dice: random.Random) -> IPv4Address:
    return IPv4Address("198.18.0.0") + dice.randrange(1, 2**17 - 1)  # RFC 2544: for tests


def _port(dice: random.Random) -> int:
    return dice.randrange(1, 65536)


def _data(packet: Packet, index: int) -> bytes:
    """The frame's bytes, with a number that no other has, and as long as a frame must be."""
    return bytes(packet / Raw(index.to_bytes(4, "big") + bytes(60)))


def _ether(dice: random.Random) -> tuple[str, str]:
    return _mac(dice), _mac(dice)


def _tcp(dice: random.Random, index: int) -> tuple[Flow, bytes]:
    src, dst = _ether(dice)
    a, b, sport, dport = _ip(dice), _ip(dice), _port(dice), _port(dice)
    packet = Ether(src=src, dst=dst) / IP(src=str(a), dst=str(b)) / TCP(sport=sport, dport=dport)
    return Flow.tcp(src, dst, a, b, sport, dport), _data(packet, index)


def _udp(dice: random.Random, index: int) -> tuple[Flow, bytes]:
    src, dst = _ether(dice)
    a, b, sport, dport = _ip(dice), _ip(dice), _port(dice), _port(dice)
    packet = Ether(src=src, dst=dst) / IP(src=str(a), dst=str(b)) / UDP(sport=sport, dport=dport)
    flow = Flow(src, dst, 0x0800, a, b, 17, src_port=sport, dst_port=dport)
    return flow, _data(packet, index)


def _echo(dice: random.Random, index: int) -> tuple[Flow, bytes]:
    src, dst = _ether(dice)
    a, b, identifier = _ip(dice), _ip(dice), dice.randrange(1, 65536)
    packet = Ether(src=src, dst=dst) / IP(src=str(a), dst=str(b)) / ICMP(type=8, id=identifier)
    return Flow(src, dst, 0x0800, a, b, 1, icmp_type=8, icmp_id=identifier), _data(packet, index)


def _ospf(dice: random.Random, index: int) -> tuple[Flow, bytes]:
    src, dst = _ether(dice)
    a, b = _ip(dice), _ip(dice)
    packet = Ether(src=src, dst=dst) / IP(src=str(a), dst=str(b), proto=_OSPF)
    return Flow(src, dst, 0x0800, a, b, _OSPF), _data(packet, index)


def _fragment(dice: random.Random, index: int) -> tuple[Flow, bytes]:
    src, dst = _ether(dice)
    a, b = _ip(dice), _ip(dice)
    packet = Ether(src=src, dst=dst) / IP(src=str(a), dst=str(b), proto=6, frag=185)
    return Flow(src, dst, 0x0800, a, b, 6, fragment=True), _data(packet, index)


def _arp(dice: random.Random, index: int) -> tuple[Flow, bytes]:
    src, dst = _ether(dice)
    packet = Ether(src=src, dst=dst) / ARP(hwsrc=src, psrc=str(_ip(dice)), pdst=str(_ip(dice)))
    return Flow(src, dst, 0x0806), _data(packet, index)


def _no_ip(dice: random.Random, index: int) -> tuple[Flow, bytes]:
    src, dst = _ether(dice)
    return Flow(src, dst, _EXPERIMENTAL), _data(Ether(src=src, dst=dst, type=_EXPERIMENTAL), index)


def _tcp6(dice: random.Random, index: int) -> tuple[Flow, bytes]:
    src, dst = _ether(dice)
    a, b = (IPv6Address((0x20010DB8 << 96) + dice.getrandbits(90)) for _ in range(2))
    sport, dport = _port(dice), _port(dice)
    packet = Ether(src=src, dst=dst) / IPv6(src=str(a), dst=str(b)) / TCP(sport=sport, dport=dport)
    return Flow.tcp(src, dst, a, b, sport, dport), _data(packet, index)
