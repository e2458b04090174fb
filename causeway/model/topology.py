"""The sections of a site's file: one class a thing of the file, no logic beyond the form of a value."""

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StrictInt

from causeway.model.thing import (
    AccessUs,
    DelayMs,
    Device,
    EndPoint,
    HostName,
    Lid,
    MountPoint,
    Mtu,
    Rate,
    RateMb,
    RateMbit,
    Sysctl,
    Thing,
    Word,
    listed,
)

#: What the transmit side of a Linux bond can hash by (bonding.rst, xmit_hash_policy) such that it can be computed.
LINUX_POLICIES = ("layer2", "layer2+3", "layer3+4", "vlan+srcmac")
#: The others: in encap3+4 the random number counts that the kernel gave the sending socket, which no frame shows,
#: and both look into tunnels, of which the plan knows nothing.
INCOMPUTABLE_POLICIES = ("encap2+3", "encap3+4")
#: What an Open vSwitch bond can do (ovs-vswitchd.conf.db(5), bond_mode).
OVS_POLICIES = ("balance-tcp", "balance-slb")
#: An AIX EtherChannel's hash_mode (Redpaper, "Setting up EtherChannel on the AIX 5L NSD servers").
AIX_POLICIES = ("default", "src_dst_port", "src_port", "dst_port")
#: A Catalyst's distribution, in the words of its command (Redpaper, "EtherChannel on Cisco").
CISCO_POLICIES = (
    *("mac source", "mac destination", "mac both"),
    *("ip source", "ip destination", "ip both"),
    *("session source", "session destination", "session both"),
)
SWITCH_POLICIES = OVS_POLICIES + CISCO_POLICIES
#: How the ends of a channel agree on its members: by LACP, or not at all.
Protocol = Literal["lacp", "static"]


#: Of a cluster, in the order in which its nodes ask them; a resolver takes three (resolv.conf(5), MAXNS).
NameServers = Annotated[
    list[str],
    Field(max_length=3),
    BeforeValidator(listed, json_schema_input_type=str | Annotated[list[str], Field(max_length=3)]),
]


class Network(Thing):
    """One layer-2 network. `rate_mbit` and `delay_ms` are of those of its links that have none of their own.

    `delay_ms` is how long a wire is: the milliseconds that a frame is under way, one way.
    """

    subnet: IPv4Network
    rate_mbit: RateMbit = 1000
    delay_ms: DelayMs = 0
    mtu: Mtu = 1500


class Cluster(Thing):
    """A cluster of one administration. It owns the filesystems that say so, and mounts what `mounts` names.

    `administrator` is the node that its administrator works on, `dns` and `ntp` are the nodes that answer its nodes'
    questions for names and time; `known_by` is the network by whose addresses its daemons know each other (default:
    that of each node's first interface). `sysctl` are kernel tunables of its nodes. With `failure_detection_s` who
    cannot reach another node, of whatever cluster, for so many seconds is expelled (GPFS: failureDetectionTime).
    """

    administrator: str | None = None
    known_by: str | None = None
    dns: NameServers = []
    ntp: str | None = None
    mounts: list[str] = []
    failure_detection_s: Annotated[StrictInt, Field(ge=5, le=3600)] | None = None
    sysctl: Sysctl = {}


class Interface(Thing):
    """A node's leg in a network; `names` are its host names, the first is the canonical one.

    `lid` is its number in a fabric that forwards by tables made beforehand (a node with `forwarding: static`).
    """

    network: str
    address: IPv4Address
    names: list[HostName] = []
    mtu: Mtu | None = None
    lid: Lid | None = None


class Route(Thing):
    """A static route. `to` is a network's name, a host, a prefix or `default`; `via` are its gateways.

    In the file one gateway may stand alone; several share what is sent (ECMP). Of several routes to one destination
    the one with the smallest `metric` counts. `mtu` is the path's, `src` the address that packets come from.
    """

    to: Annotated[IPv4Address | IPv4Network | str, Field(union_mode="left_to_right")]
    via: Annotated[
        list[IPv4Address],
        Field(min_length=1, max_length=64),
        BeforeValidator(
            listed,
            json_schema_input_type=IPv4Address | Annotated[list[IPv4Address], Field(min_length=1, max_length=64)],
        ),
    ]
    metric: Annotated[StrictInt, Field(ge=0, le=0xFFFFFFFF)] = 0
    mtu: Mtu | None = None
    src: IPv4Address | None = None


class Node(Thing):
    """A host, a switch (`switch` names the network that it switches) or both in one.

    What it can do is said by the other keys; `role` is for the drawing. With `forwards` it sends on what is not for
    itself. A switch learns who is where, or has its tables made beforehand (`static`). `receive_mbit` and `send_mbit`
    are what a node with one cable can take and give, whatever its wire carries: Mbit/s of TCP payload in packets of
    1500 bytes.
    """

    role: Word
    cluster: str | None = None
    switch: str | None = None
    forwarding: Literal["learning", "static"] = "learning"
    forwards: bool = False
    receive_mbit: RateMbit | None = None
    send_mbit: RateMbit | None = None
    interfaces: dict[Device, Interface] = {}
    routes: list[Route] = []
    sysctl: Sysctl = {}

    @property
    def hash_policies(self) -> tuple[str, ...]:
        """Those that an end of a channel here may have: a switch's, or a host's."""
        return SWITCH_POLICIES if self.switch else LINUX_POLICIES + AIX_POLICIES


class Link(Thing):
    """One cable. `rate_mbit` and `delay_ms` (one way) are its wire's, in place of its network's."""

    ends: Annotated[list[EndPoint], Field(min_length=2, max_length=2)]
    rate_mbit: Rate | None = None
    delay_ms: DelayMs | None = None


class ChannelEnd(Thing):
    """One end of a channel: its bond, the members in the order of the cables, and how it sends.

    A host may send by a policy of Linux or of AIX, a switch by one of Open vSwitch or of Cisco. With `protocol` static
    nothing is agreed with the other end: balance-xor, AIX's mode standard, Cisco's mode on.
    """

    node: str
    name: Device
    members: list[Device]
    hash_policy: str
    protocol: Protocol = "lacp"


class Channel(Thing):
    """A link aggregation (IEEE 802.3ad) between two nodes; member i is wired to member i.

    `rate_mbit` is that of each member's cable, in place of its network's.
    """

    ends: Annotated[list[ChannelEnd], Field(min_length=2, max_length=2)]
    lacp_rate: Literal["slow", "fast"] = "fast"
    rate_mbit: Rate | None = None


class Disk(Thing):
    """What a disk does: one request after the other, `read_mb` and `write_mb` MB (10^6 bytes) a second.

    Before each that does not begin where the last one ended it takes `read_us` or `write_us` microseconds. A flush of
    what was written takes `write_us`, too.
    """

    read_mb: RateMb
    write_mb: RateMb
    read_us: AccessUs = 0
    write_us: AccessUs = 0

    @property
    def arm(self) -> tuple[int, int, int, int]:
        """As the lab's kernel takes it: kB (1000 bytes) a second and microseconds, each of reads and of writes."""
        return self.read_mb * 1000, self.write_mb * 1000, self.read_us, self.write_us


class Filesystem(Thing):
    """A parallel filesystem of one cluster. `servers` are nodes of it, or pools' names for all their nodes.

    `layout` stripe: each file is spread over all servers, of which `parity` may be missing; whole: each file is on
    one of them. `size_mib` is what its users can store, or less where the lab's memory, in which all disks lie, holds
    less (`df` says what there is). Each server has a `disk` for it; one of which nothing is said is as fast as memory:
    the network is what bounds.
    """

    driver: Literal["gluster"] = "gluster"
    owner: str
    servers: Annotated[list[str], Field(min_length=1)]
    layout: Literal["stripe", "whole"] = "stripe"
    parity: Annotated[StrictInt, Field(ge=0, default_factory=lambda known: int(known.get("layout") == "stripe"))]
    size_mib: Annotated[StrictInt, Field(ge=16, le=10**6)]
    disk: Disk | None = None
    mount_point: MountPoint
