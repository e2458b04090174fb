"""Expected rates: how flows share links, and what of a link's rate is TCP payload."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: Ethernet header; what Linux interface counters count besides the IP packet.
_ETHERNET_HEADER = 14
#: Preamble and start of frame 8, header 14, check sequence 4, gap between frames 12.
WIRE_OVERHEAD = 38
#: IPv4 header 20, TCP header 20, timestamps option 12.
_TCP_IP_HEADERS = 52


@dataclass(frozen=True)
class Share:
    """What a flow gets, and the name of the link that it gets no more of."""

    rate: float
    bound: str


def fair_share(
    flows: Mapping[str, Sequence[str] | Mapping[str, float]], capacity: Mapping[str, float]
) -> dict[str, Share]:
    """The max-min fair rate of each flow, by progressive filling.

    `flows` names the links that each flow passes (a link and its direction have one name), or for each link what
    one unit of the flow's rate puts on it, where that is not 1: a client that writes to several servers at once
    is one flow. `capacity` gives each link's rate in any one unit, which is the unit of the result. All flows grow
    together until a link is full; its flows stop there and the others grow on. A link that a flow names twice
    counts once. Raises ValueError when a flow passes no link or one without a capacity.
    Source: Bertsekas, Gallager, Data Networks, 6.5.2.
    """
    growing: dict[str, dict[str, float]] = {}
    for name, links in flows.items():
        growing[name] = dict(links) if isinstance(links, Mapping) else dict.fromkeys(links, 1.0)
        if not links:
            raise ValueError(f"flow {name} passes no link, nothing bounds it")
        if missing := [link for link in links if link not in capacity]:
            raise ValueError(f"flow {name} passes {missing[0]}, whose capacity is not given")
    left = dict(capacity)
    shares: dict[str, Share] = {}
    while growing:
        load: dict[str, float] = {}
        for loads in growing.values():
            for link, part in loads.items():
                load[link] = load.get(link, 0.0) + part
        full = min(load, key=lambda link: left[link] / load[link])
        rate = left[full] / load[full]
        for name in [name for name, loads in growing.items() if full in loads]:
            shares[name] = Share(rate, full)
            for link, part in growing.pop(name).items():
                left[link] = max(0.0, left[link] - part * rate)
    return {name: shares[name] for name in flows}


def tcp_goodput_mbit(rate_mbit: float, mtu: int) -> float:
    """The payload rate in Mbit/s of bulk TCP over IPv4 on an Ethernet link that it fills.

    With the timestamps option, MTU - 52 of the MTU + 38 bytes of a full frame on the wire are payload:
    941.482 at 1000 Mbit/s and MTU 1500, 990.04 at MTU 9000.
    Source: Redpaper, "TCP/IP performance tests" (Single-stream performance), which names both numbers.
    """
    return rate_mbit * (mtu - _TCP_IP_HEADERS) / (mtu + WIRE_OVERHEAD)


def counted_bytes(payload_bytes: int, mtu: int) -> int:
    """The bytes that a sender's interface counter grows by for a TCP payload, without retransmissions.

    The payload goes in segments of MTU - 52 bytes and one for the rest; each is counted with its
    TCP/IP headers and the Ethernet header, so a full one as MTU + 14. Connection set-up and pure
    acknowledgements are not in it. Holds where segmentation offload is off (with it, headers are counted
    once per large segment).
    """
    segments = -(-payload_bytes // (mtu - _TCP_IP_HEADERS))
    return payload_bytes + segments * (_TCP_IP_HEADERS + _ETHERNET_HEADER)
