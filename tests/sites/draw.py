"""Draws a site at random: each seed gives another one, always the same, always valid, small enough for a minute.

    python -m tests.sites.draw --seed N > site.yaml

One to three networks with one or two switches each, joined by routers; two or three clusters, the first with the
servers. Nodes, networks, clusters and filesystems have drawn names, rates and frames drawn sizes.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from random import Random
from typing import Any

import yaml

from tests.sites.parts import Group, Leg, Net, Router, gateways, written, written_router
from tests.sites.words import Words

#: What a lab may have at most, switches and routers included: 16 come up in about a minute.
MOST_NODES = 16
LINUX_POLICIES = ("layer2", "layer2+3", "layer3+4", "vlan+srcmac")
OVS_POLICIES = ("balance-slb", "balance-tcp")
#: "TCP/IP tuning": what a window needs at these rates.
_TUNING = {"net.core.rmem_max": 8388608, "net.core.wmem_max": 8388608, "net.core.netdev_max_backlog": 2500}


def draw(seed: int) -> dict[str, Any]:
    """The site of a seed, as the data of its file."""
    return _Drawing(seed).site()


def text(seed: int) -> str:
    """The site of a seed, as the text of its file."""
    head = f"# Drawn at random: python -m tests.sites.draw --seed {seed}\n"
    return head + yaml.safe_dump(draw(seed), sort_keys=False, default_flow_style=None, width=120)


@dataclass
class _Drawing:
    """One site on its way. What is drawn first decides what is left for the rest: MOST_NODES."""

    seed: int
    left: int = MOST_NODES
    nets: list[Net] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    routers: list[Router] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    channels: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(f"site {self.seed}")
        self.bounding = Random(f"bounds of site {self.seed}")  # of its own: the rest of a site stays what it was
        self.words = Words(self.random)
        self.numbers = self._numbers()
        self.prefix = self.random.choice(("eth", "eth", "lan", "ge"))
        self.large = self.maybe(0.3)

    # --- dice ---

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def rate(self) -> int:
        """Mbit/s: round, or any."""
        return self.random.choice((self.random.randrange(200, 2501, 100), self.random.randint(200, 2500), 1000))

    def own_rate(self) -> dict[str, Any]:
        """A link's or a channel's own rate, of both directions or one each; mostly none."""
        if self.maybe(0.75):
            return {}
        return {"rate_mbit": self.rate() if self.maybe(0.6) else [self.rate(), self.rate()]}

    def bounds(self) -> dict[str, int]:
        """What a node with one cable receives and sends at most; mostly as much as its wire carries."""
        return {
            key: self.bounding.choice((846, 795, self.bounding.randint(200, 1500)))
            for key in ("receive_mbit", "send_mbit")
            if self.bounding.random() < 0.2
        }

    def _numbers(self) -> Iterator[int]:
        """Host numbers for nodes, one for all networks of a node: below 64, as the smallest network has 126."""
        number = self.random.randint(1, 9)
        while True:
            yield number
            number += 1 if self.maybe(0.8) else self.random.randint(2, 3)

    # --- the whole ---

    def site(self) -> dict[str, Any]:
        clusters = [self.words.make(large=self.large) for _ in range(self.random.choice((2, 2, 3)))]
        for i in range(self.random.choice((1, 2, 2, 2, 3))):
            self.network(i)
        self.join()
        servers = self.hosts(clusters)
        data = {
            "lab": self.words.make(3),
            "domain": f"{self.words.make()}.example",
            "networks": {net.name: net.data() for net in self.nets},
            "clusters": {cluster: self.cluster(cluster) for cluster in clusters},
            "nodes": {},
            "pools": {},
            "links": self.links,
            "channels": self.channels,
            "filesystems": {},
        }
        if self.maybe(0.55):
            self.filesystems(data, clusters, servers)
        for group in self.groups:
            group.routes = self.routes(group, servers)
            if len(group.legs) == 1 and not group.legs[0].members:
                group.bounds = self.bounds()
            written(group, data, self.own_rate)
        for router in self.routers:
            behind = gateways(router.legs, self.nets, self.routers, but=router)
            written_router(router, data, behind, self.own_rate)
        for net in self.nets:
            data["nodes"] |= {name: {"role": "switch", "switch": net.name} for name in net.plain_switches}
        self.blue_gene(data, clusters[1])
        if self.maybe(0.9):
            data["sysctl"] = dict(_TUNING)
        return {key: value for key, value in data.items() if value}

    # --- networks ---

    def network(self, index: int) -> None:
        prefix = self.random.choice((22, 23, 24, 24, 25))
        first, second = self.random.choice(((10, 32 * (index + 3)), (172, 16 + index), (192, 168)))
        third = 4 * (self.random.randrange(16) + 16 * index)
        subnet = IPv4Network(f"{first}.{second}.{third}.0/{prefix}")
        mtu = self.random.choice((1500, 1500, 1500, 4000, 9000, self.random.randint(1500, 9000)))
        net = Net(self.words.make(self.random.choice((1, 2)))[:8], subnet, self.rate(), mtu)
        self.nets.append(net)
        net.switches.append(self.node_name())
        if self.maybe(0.3):
            net.switches.append(self.node_name())
            one, other = net.switches
            if self.maybe(0.5):
                ends = [
                    {
                        "node": node,
                        "name": "uplink",
                        "members": [f"uplink-{i + 1}" for i in range(2)],
                        "hash_policy": self.random.choice(OVS_POLICIES),
                    }
                    for node in (one, other)
                ]
                self.channels.append({"ends": ends, **self.own_rate()})
            else:
                self.links.append({"ends": [f"{one}:uplink", f"{other}:uplink"], **self.own_rate()})
        net.plain_switches = list(net.switches)
        self.left -= len(net.switches)

    def join(self) -> None:
        """Routers between the networks: one for all, or a chain; one may be a switch of its first network."""
        if len(self.nets) == 1:
            return
        chain = [self.nets[i : i + 2] for i in range(len(self.nets) - 1)]
        for nets in chain if self.maybe(0.5) else [self.nets]:
            number = next(self.numbers)
            own = nets[0].plain_switches
            if own and self.maybe(0.35):
                name = own.pop()
                legs = [Leg(nets[0], f"br-{nets[0].name}", switch="")]
            else:
                name, legs = self.node_name(), []
                self.left -= 1
            for net in nets[len(legs) :]:
                free = [switch for switch in net.switches if switch != name]
                legs.append(
                    self.leg(
                        net,
                        len(legs),
                        channel=0 if len(legs) and not legs[0].switch else 0.2,
                        switch=self.random.choice(free),
                    )
                )
            self.name(legs)
            switch = nets[0].name if not legs[0].switch else None
            self.routers.append(Router(name, number, legs, switch))

    # --- nodes ---

    def node_name(self) -> str:
        return self.words.make(2, large=self.maybe(0.15))

    def leg(self, net: Net, index: int, channel: float, switch: str = "") -> Leg:
        """A leg in a network, by a channel with that chance, else by a link."""
        leg = Leg(net, f"{self.prefix}{index}", switch or self.random.choice(net.switches))
        if self.maybe(channel):
            leg.device = f"{self.random.choice(('bond', 'bond', 'trunk'))}{index}"
            leg.members = [f"{self.prefix}{3 + 4 * index + i}" for i in range(self.random.choice((2, 2, 3, 4)))]
            leg.hash_policy = self.random.choice(LINUX_POLICIES)
            leg.switch_policy = self.random.choice(OVS_POLICIES)
            leg.lacp_rate = "slow" if self.maybe(0.1) else "fast"
        return leg

    def hosts(self, clusters: list[str]) -> Group:
        """Every cluster's nodes; gives the servers. The last cluster is in the last network."""
        home = {cluster: self.nets[min(i, len(self.nets) - 1)] for i, cluster in enumerate(clusters)}
        beside = 3 + len(clusters)  # a node or two of each cluster, and another
        count = self.random.randint(2, max(2, min(6, self.left - beside)))
        legs = [self.leg(home[clusters[0]], 0, channel=0.5)]
        if home[clusters[1]] is not home[clusters[0]] and self.maybe(0.5):
            legs.append(self.leg(home[clusters[1]], 1, channel=0.7))
        pool = self.words.make() if self.maybe(0.5) else ""
        servers = self.group(clusters[0], "server", count, legs, pool)
        if self.maybe(0.8):
            self.group(clusters[0], "compute", 1, [self.leg(home[clusters[0]], 0, channel=0.3)])
        for cluster in clusters[1:]:
            for role in ("head", "login")[: 2 if cluster == clusters[1] else 1]:
                self.group(cluster, role, 1, [self.leg(home[cluster], 0, channel=0.5)])
        if self.left >= 2 and self.maybe(0.4):
            count = self.random.randint(2, min(4, self.left))
            cluster = self.random.choice(clusters)
            self.group(cluster, "compute", count, [self.leg(home[cluster], 0, channel=0.3)], self.words.make())
        return servers

    def name(self, legs: list[Leg]) -> None:
        """A node's own name is one of its first leg's; with several, each has a name that says the network."""
        for leg in legs:
            leg.names = ["{}"] if leg is legs[0] else []
            if len(legs) > 1 or self.maybe(0.4):
                leg.names.insert(0, "{}-" + leg.net.name)

    def group(self, cluster: str, role: str, count: int, legs: list[Leg], pool: str = "") -> Group:
        stem = self.node_name()[:8]
        names = [f"{stem}{i}" for i in range(1, count + 1)] if count > 1 else [stem]
        self.name(legs)
        group = Group(cluster, role, names, [next(self.numbers) for _ in names], legs, pool=pool, stem=stem)
        self.groups.append(group)
        self.left -= count
        return group

    def routes(self, group: Group, servers: Group) -> list[dict[str, Any]]:
        """To every network that a node has no leg in; and, by their other leg, to servers that are near."""
        found = gateways(group.legs, self.nets, self.routers)
        routes: list[dict[str, Any]] = [{"to": net.name, "via": str(via)} for net, via in found]
        if routes and len({via for _, via in found}) == 1 and self.maybe(0.25):
            routes = [{"to": "default", "via": str(found[0][1])}]
        elif routes and self.maybe(0.2):
            routes[0]["to"] = str(found[0][0].subnet)
        own = {leg.net.name for leg in group.legs}
        far, near = servers.legs[0].net, servers.legs[-1].net
        if near.name in own and far.name not in own and self.maybe(0.7):
            routes += [{"to": str(far.address(n)), "via": str(near.address(n))} for n in servers.numbers]
        return routes

    # --- what they do for each other ---

    def cluster(self, cluster: str) -> dict[str, Any]:
        members = [name for group in self.groups if group.cluster == cluster for name in group.names]
        data: dict[str, Any] = {"administrator": self.random.choice(members)} if self.maybe(0.8) else {}
        if self.maybe(0.8):
            data["dns"] = self.random.choice(members)
        if self.maybe(0.6):
            data["ntp"] = self.random.choice(members)
        if self.maybe(0.2):
            data["sysctl"] = {"net.ipv4.tcp_slow_start_after_idle": 0}
        mine = [group for group in self.groups if group.cluster == cluster]
        common = set.intersection(*({leg.net.name for leg in group.legs} for group in mine))
        if self.maybe(0.3):
            data["known_by"] = self.random.choice(sorted(common))
        return data

    def filesystems(self, data: dict[str, Any], clusters: list[str], servers: Group) -> None:
        """One or two of the first cluster, that another mounts; in some its owner, too, or one of another's own."""
        for cluster in clusters:
            for key in ("administrator", "dns"):
                members = [name for group in self.groups if group.cluster == cluster for name in group.names]
                data["clusters"][cluster].setdefault(key, self.random.choice(members))
        names = []
        for _ in range(self.random.choice((1, 2))):
            names.append(self.filesystem(data, clusters[0], [servers.pool] if servers.pool else servers.names))
        for cluster in clusters[1:]:
            if cluster == clusters[1] or self.maybe(0.6):
                data["clusters"][cluster]["mounts"] = list(names)
        if self.maybe(0.3):
            data["clusters"][clusters[0]]["mounts"] = list(names)
        if self.maybe(0.15):
            own = next(g for g in self.groups if g.cluster == clusters[1] and not g.pool)
            name = self.filesystem(data, clusters[1], own.names)
            data["clusters"][clusters[0]].setdefault("mounts", []).append(name)

    def filesystem(self, data: dict[str, Any], owner: str, servers: list[str]) -> str:
        count = sum(len(next((g.names for g in self.groups if g.pool == s), [s])) for s in servers)
        parity = self.random.choice([p for p in (0, 1, 2) if p == 0 or count > 2 * p][-2:])
        name = self.words.make()
        data["filesystems"][name] = {
            "driver": "gluster",
            "owner": owner,
            "servers": servers,
            "layout": "stripe" if parity else "whole",
            "parity": parity,
            "size_mib": 512 * self.random.randint(2, 8),
            "mount_point": f"/{name}" if self.maybe(0.7) else f"/export/{name}",
        }
        return name

    def blue_gene(self, data: dict[str, Any], cluster: str) -> None:
        """A pool of diskless nodes for the second cluster, in its network, booted from a node of it."""
        if self.left < 2 or not self.maybe(0.5):
            return
        (head, *_) = [group for group in self.groups if group.cluster == cluster]
        net = head.legs[0].net
        connectors = sorted(self.random.sample((1, 2, 3, 4), 2 if net.subnet.prefixlen < 25 and self.maybe(0.5) else 1))
        rack = f"R{self.random.randrange(16):02X}"
        card = self.random.randrange(16)
        block, rest = self.words.make(large=True), self.words.make(large=True)
        data["pools"][self.words.make()] = {
            "platform": "bluegene",
            "count": self.random.randint(2, min(4, self.left)),
            "first": f"{rack}-M0-N{card:X}-{connectors[0]}",
            "cluster": cluster,
            "network": net.name,
            "switch": self.random.choice(net.switches),
            **self.bounds(),
            "addresses_from": str(net.address(65)),
            "locations": [{"racks": [rack], "connectors": connectors}],
            "blocks": {block: f"{rack}-M?-N?-?", rest: f"{rack}-M1-*"},
            "booted": block,
            "boot": {"server": head.names[0], "nfs_threads": 8, "lease_s": 3600, "var_mib": 8},
            "routes": self.routes(head, self.groups[0]),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, required=True)
    print(text(parser.parse_args().seed), end="")


if __name__ == "__main__":
    main()
