"""What people say of production in two small files beside the outputs: its clusters, and switches that say nothing."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from ipaddress import IPv4Network
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from causeway.errors import BadInput, Problem
from causeway.model.findings import Finding, one_of, unknown
from causeway.model.thing import ClusterName, EndPoint, Mtu, NodeName, Port, Thing
from causeway.model.topology import SWITCH_POLICIES, Protocol
from causeway.model.yaml_text import Text

CLUSTERS, SWITCHES = "clusters.yaml", "switches.yaml"
#: What a device's name may not have in a site's file.
_STRANGE = re.compile(r"[^A-Za-z0-9._-]")


def _patterns(value: Any) -> Any:
    return {"nodes": value} if isinstance(value, list) else value


class ToldCluster(Thing):
    """Its nodes, by patterns of a shell's, and the node that its administrator works on."""

    nodes: list[str]
    administrator: str | None = None


class ToldChannel(Thing):
    """A switch's end of a channel."""

    members: list[str]
    hash_policy: str = "mac source"
    protocol: Protocol = "lacp"


class ToldSwitch(Thing):
    """A switch: the network that it switches, and what is plugged into each port."""

    network: IPv4Network
    mtu: Mtu | None = None
    ports: dict[str, EndPoint]
    channels: Annotated[dict[str, ToldChannel], Field(default_factory=dict)]


@dataclass(frozen=True)
class Told:
    """What both files say; nothing where they are not there."""

    clusters: Mapping[str, ToldCluster] = field(default_factory=dict)
    switches: Mapping[str, ToldSwitch] = field(default_factory=dict)

    def cluster_of(self, node: str) -> str | None:
        """The first cluster one of whose patterns fits."""
        for name, cluster in self.clusters.items():
            if any(fnmatchcase(node, pattern) for pattern in cluster.nodes):
                return name
        return None


_Clusters = TypeAdapter(dict[ClusterName, Annotated[ToldCluster, BeforeValidator(_patterns)]])
_Switches = TypeAdapter(dict[NodeName, ToldSwitch])
T = TypeVar("T")


def read_told(folder: Path, problems: list[Problem]) -> Told:
    """What the folder's two files say; their mistakes are added to the problems."""
    clusters = _read(folder / CLUSTERS, _Clusters, problems)
    switches = _read(folder / SWITCHES, _Switches, problems)
    return Told(clusters or {}, switches or {})


def _read(file: Path, form: TypeAdapter[T], problems: list[Problem]) -> T | None:
    if not file.exists():
        return None
    try:
        text = Text(file)
    except BadInput as error:
        problems += error.problems or [Problem(str(file), 1, "-", str(error), "mend it")]
        return None
    problems += [text.problem(finding) for finding in text.findings]
    try:
        return form.validate_python(text.data)
    except ValidationError as error:
        for item in error.errors():
            where = tuple(step for step in item["loc"])
            what = f"{item['msg'][0].lower()}{item['msg'][1:]}"
            problems.append(text.problem(Finding(where, what, "docs/collect.md has the form")))
        return None


def check_told(folder: Path, told: Told, nodes: Mapping[str, set[str]], whole: bool, problems: list[Problem]) -> None:
    """That what is said fits what was collected: `nodes` are those that there are, with their devices.

    Where that is not the whole, as some outputs could not be read, it may be these that are named and not there.
    """
    for file, findings in (CLUSTERS, _wrong_clusters(told, nodes)), (SWITCHES, _wrong_switches(told, nodes)):
        found = [finding for finding in findings if whole or not finding.mentions]
        if found:
            text = Text(folder / file)
            problems += [text.problem(finding) for finding in found]


def _wrong_clusters(told: Told, nodes: Mapping[str, set[str]]) -> Iterator[Finding]:
    known = {*nodes, *told.switches}
    for name, cluster in told.clusters.items():
        for pattern in cluster.nodes:
            if not any(fnmatchcase(node, pattern) for node in known):
                yield Finding((name,), f"no node is called {pattern!r}", one_of(pattern, known), (pattern,))
        if cluster.administrator is not None and told.cluster_of(cluster.administrator) != name:
            what = f"its administrator's node {cluster.administrator} is not in it"
            remedy = one_of(cluster.administrator, _of(told, name, known))
            yield Finding((name, "administrator"), what, remedy)
    for node in sorted(known):
        fits = [n for n, c in told.clusters.items() if any(fnmatchcase(node, pattern) for pattern in c.nodes)]
        if len(fits) > 1:
            yield Finding((fits[1],), f"{node} is in {fits[0]}, too", "name each node in one cluster")


def _of(told: Told, cluster: str, nodes: set[str]) -> list[str]:
    return [node for node in nodes if told.cluster_of(node) == cluster]


def _wrong_switches(told: Told, nodes: Mapping[str, set[str]]) -> Iterator[Finding]:
    plugged: dict[Port, str] = {}
    for name, switch in told.switches.items():
        if name in nodes:
            yield Finding((name,), f"{name} was collected", "leave it out here, or remove its output")
        for port, far in switch.ports.items():
            where = (name, "ports", port)
            if far.node in told.switches:
                back = told.switches[far.node].ports.get(far.device)
                if back != Port(name, port):
                    what = f"{far} is plugged into {back or 'nothing'} by what is said there"
                    yield Finding(where, what, "say the same at both ends")
            elif far.node not in nodes:
                yield unknown(where, "node", far.node, [*nodes, *told.switches])
            elif far.device not in nodes[far.node]:
                what = f"{far.node} has no device {far.device!r}"
                yield Finding(where, what, one_of(far.device, nodes[far.node]))
            if far in plugged:
                yield Finding(where, f"{far} is plugged into {plugged[far]}, too", "a port carries one cable")
            plugged.setdefault(far, f"{name}:{port}")
        for bond, channel in switch.channels.items():
            here = (name, "channels", bond)
            if channel.hash_policy not in SWITCH_POLICIES:
                remedy = one_of(channel.hash_policy, SWITCH_POLICIES)
                yield Finding((*here, "hash_policy"), f"{channel.hash_policy!r} is no policy of a switch", remedy)
            for member in channel.members:
                if member not in switch.ports:
                    what = f"{name} has no port {member!r}"
                    yield Finding((*here, "members"), what, one_of(member, switch.ports))


def device_name(port: str) -> str:
    """A switch's port as a site's file can have it: Gi1/0/1 is Gi1-0-1."""
    name = _STRANGE.sub("-", port)
    return (name if name[:1].isalpha() else f"p{name}")[:15]
