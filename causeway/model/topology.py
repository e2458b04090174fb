"""The topology file's form: one class a thing of the file, no logic beyond the form of a value."""

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StringConstraints

#: As the kernel's dev_valid_name(): at most IFNAMSIZ - 1 characters.
Device = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9._-]{0,14}$")]
NodeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$")]
HostName = NodeName
#: NODE:DEVICE, as containerlab writes a link's end.
EndPoint = Annotated[str, StringConstraints(pattern=r"^[^:\s]+:[A-Za-z][A-Za-z0-9._-]{0,14}$")]
FilesystemName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,30}$")]
Block = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,31}$")]
RateMbit = Annotated[StrictInt, Field(ge=1, le=100_000)]
Mtu = Annotated[StrictInt, Field(ge=1280, le=9216)]

#: What the transmit side of a Linux bond can hash by (bonding.rst, xmit_hash_policy).
LINUX_POLICIES = ("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac")
#: What an Open vSwitch bond can do (ovs-vswitchd.conf.db(5), bond_mode).
OVS_POLICIES = ("balance-tcp", "balance-slb")

Role = Literal["server", "compute", "service", "frontend", "ion", "switch", "router"]


class Thing(BaseModel):
    """A frozen part of a topology that knows no other keys than its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Network(Thing):
    """One layer-2 network. `rate_mbit` is the wire rate of each of its links."""

    subnet: IPv4Network
    rate_mbit: RateMbit = 1000
    mtu: Mtu = 1500


class Cluster(Thing):
    """A cluster of one administration: it owns filesystems or is a client of another's."""

    kind: Literal["owning", "client"]


class Interface(Thing):
    """A node's leg in a network; `names` are its host names, the first is the canonical one."""

    network: str
    address: IPv4Address
    names: list[HostName] = []
    mtu: Mtu | None = None


class Route(Thing):
    """A static route: `to` is a network's name or one host address, `via` a gateway's address."""

    to: Annotated[IPv4Address | str, Field(union_mode="left_to_right")]
    via: IPv4Address


class Node(Thing):
    """A host, a switch (`switch` names the network that it switches) or both in one."""

    role: Role
    cluster: str | None = None
    switch: str | None = None
    interfaces: dict[Device, Interface] = {}
    routes: list[Route] = []


class Location(Thing):
    """Where I/O nodes sit: every node card of these racks has one at each of these connectors."""

    racks: list[Annotated[str, StringConstraints(pattern=r"^R[0-9A-F]{2}$")]]
    connectors: list[Annotated[StrictInt, Field(ge=1, le=4)]]


class IoNodes(Thing):
    """The pool of diskless I/O nodes, named by location code (Redpaper, "IP names and addresses").

    `blocks` are the sets that are booted together: name -> pattern of location codes as a shell has them;
    `booted` is the block that `causeway up` allocates.
    """

    count: Annotated[StrictInt, Field(ge=1)]
    first: str
    cluster: str
    network: str
    switch: str
    addresses_from: IPv4Address
    locations: list[Location]
    blocks: dict[Block, str]
    booted: str
    routes: list[Route] = []


class Link(Thing):
    """One cable."""

    ends: Annotated[list[EndPoint], Field(min_length=2, max_length=2)]


class ChannelEnd(Thing):
    """One end of a channel: its bond, the members in the order of the cables, and how it sends."""

    node: str
    name: Device
    members: list[Device]
    hash_policy: str


class Channel(Thing):
    """A link aggregation (IEEE 802.3ad with LACP) between two nodes; member i is wired to member i."""

    ends: Annotated[list[ChannelEnd], Field(min_length=2, max_length=2)]
    lacp_rate: Literal["slow", "fast"] = "fast"


class Dns(Thing):
    """Who answers for the site's zones, forward and reverse, to the nodes of one cluster."""

    server: str
    cluster: str


class Ntp(Thing):
    """Who gives the time to the other nodes of one cluster."""

    server: str
    cluster: str


class Boot(Thing):
    """The service node that the I/O nodes boot from, and what it can do.

    `nfs_threads` are its NFS server's, `lease_s` is the time for which it lends an address by DHCP (seconds),
    and `var_mib` the room for all nodes' own /var under /bgl/gpfsvar (MiB).
    """

    server: str
    nfs_threads: Annotated[StrictInt, Field(ge=1, le=512)] = 8
    lease_s: Annotated[StrictInt, Field(ge=120)] = 3600
    var_mib: Annotated[StrictInt, Field(ge=1)] = 64


class Filesystem(Thing):
    """A parallel filesystem: stripes over the disks of its servers, so that one of four may be missing.

    `size_mib` is what its users can store. Disks are as fast as memory: the network is what bounds.
    """

    owner: str
    servers: Annotated[list[str], Field(min_length=4, max_length=4)]
    size_mib: Annotated[StrictInt, Field(ge=16)]
    mount_point: Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$")]

    @property
    def brick_mib(self) -> int:
        """What each server's disk holds: a third, as a fourth of all is parity."""
        return -(-self.size_mib // (len(self.servers) - 1))


class Services(Thing):
    """The site's network services and kernel tunables ("TCP/IP tuning")."""

    dns: list[Dns] = []
    ntp: Ntp | None = None
    boot: Boot | None = None
    sysctl: dict[str, StrictInt | str] = {}


class Topology(Thing):
    """A whole site."""

    lab: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
    domain: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")]
    networks: dict[str, Network]
    clusters: dict[str, Cluster]
    nodes: dict[NodeName, Node]
    io_nodes: IoNodes | None = None
    links: list[Link] = []
    channels: list[Channel] = []
    filesystems: dict[FilesystemName, Filesystem] = {}
    services: Services = Services()
