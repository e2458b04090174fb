"""What of a frame a hash may look at."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

ETH_P_IP = 0x0800
ETH_P_IPV6 = 0x86DD

IPPROTO_TCP = 6
IPPROTO_UDP = 17


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


def mac_bytes(text: str) -> bytes:
    """The six bytes of a hardware address; ValueError where they are not six."""
    mac = bytes.fromhex(text.replace(":", ""))
    if len(mac) != 6:
        raise ValueError(f"{text} is no MAC address")
    return mac


def ports(flow: Flow) -> tuple[int, int] | None:
    """Source and destination port of a TCP or UDP packet; None where it shows none.

    Raises ValueError when such a packet's flow lacks them.
    """
    if flow.fragment or flow.protocol not in (IPPROTO_TCP, IPPROTO_UDP):
        return None
    if flow.src_port is None or flow.dst_port is None:
        raise ValueError(f"a packet of protocol {flow.protocol} needs src_port and dst_port")
    return flow.src_port, flow.dst_port
