"""What a pool's nodes find around them."""

from collections.abc import Mapping
from dataclasses import dataclass

from causeway.model.topology import Cluster, Network, Node


@dataclass(frozen=True)
class Around:
    """The site without the pools of its own kind: `nodes` are those that stand by themselves, and plain pools'."""

    networks: Mapping[str, Network]
    clusters: Mapping[str, Cluster]
    nodes: Mapping[str, Node]
