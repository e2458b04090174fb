"""The whole of a site's file."""

from typing import Annotated

from pydantic import StringConstraints

from causeway.model.pools import Pool
from causeway.model.thing import ClusterName, Domain, FilesystemName, NetworkName, NodeName, Sysctl, Thing
from causeway.model.topology import Channel, Cluster, Filesystem, Link, Network, Node


class Topology(Thing):
    """A whole site, as its file has it; `sysctl` are kernel tunables of the nodes of all clusters."""

    lab: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
    domain: Domain
    networks: dict[NetworkName, Network]
    clusters: dict[ClusterName, Cluster]
    nodes: dict[NodeName, Node]
    pools: dict[NodeName, Pool] = {}
    links: list[Link] = []
    channels: list[Channel] = []
    filesystems: dict[FilesystemName, Filesystem] = {}
    sysctl: Sysctl = {}
