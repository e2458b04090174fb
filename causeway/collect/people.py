"""Clusters: who is in which, who answers their questions for names and time, and what is set on all their nodes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network

from causeway.collect.draft import Draft
from causeway.collect.machine import Machine
from causeway.collect.networks import Net
from causeway.collect.plant import Plant
from causeway.model.thing import Port

#: How many of its nodes' servers a cluster has in a site's file: names are asked for of three at most (resolv.conf(5)).
_MOST = {"dns": 3, "ntp": 1}


def clusters(plant: Plant, nets: Mapping[IPv4Network, Net], draft: Draft) -> dict[str, str]:
    """Node -> cluster, and the section in the draft."""
    of = {name: said for name in plant.machines if (said := plant.told.cluster_of(name))}
    if not plant.told.clusters:
        of = _by_keys(plant, draft) or _by_names(plant, draft)
    for cluster in dict.fromkeys([*plant.told.clusters, *of.values()]):
        nodes = [plant.machines[name] for name in of if of[name] == cluster]
        data: dict[str, object] = {}
        told = plant.told.clusters.get(cluster)
        if told and told.administrator:
            data["administrator"] = told.administrator
        for key, asked in (("dns", [m.name_servers for m in nodes]), ("ntp", [m.time_servers for m in nodes])):
            servers = _servers(plant, cluster, key, asked, draft)
            if servers:
                first = servers[0]
                data[key] = [server.node for server in servers] if len(servers) > 1 else first.node
                legs = legs_in_order(plant, first.node)
                if of.get(first.node) == cluster and legs[0] != first:
                    data.setdefault("known_by", nets[plant.legs[first].address.network].name)
        alone = [node.name for node in nodes if node.gives_time and not node.time_servers]
        if "ntp" not in data and len(alone) == 1:
            data["ntp"] = alone[0]
        draft.data["clusters"][cluster] = data
    return of


def _by_keys(plant: Plant, draft: Draft) -> dict[str, str]:
    """Those are of one cluster whose root trusts the same keys."""
    groups: dict[str, list[str]] = {}
    for name, machine in plant.machines.items():
        if machine.trusts:
            groups.setdefault(machine.trusts, []).append(name)
    if max(map(len, groups.values()), default=0) < 2:
        return {}
    of: dict[str, str] = {}
    for number, nodes in enumerate(groups.values(), 1):
        cluster = f"cluster{number}"
        draft.ask("what is it called? its nodes are those whose root trusts the same keys", "clusters", cluster)
        of |= dict.fromkeys(nodes, cluster)
    return of


def _by_names(plant: Plant, draft: Draft) -> dict[str, str]:
    """Those are of one cluster whose names differ in their numbers alone; who only switches or forwards is of none."""
    of = {}
    for name, machine in plant.machines.items():
        if not machine.forwards and not machine.bridges:
            cluster = name.rstrip("0123456789").rstrip("-") or name
            of[name] = cluster
            draft.ask("is this a cluster? its nodes are those with names like this", "clusters", cluster)
    return of


def _servers(plant: Plant, cluster: str, key: str, said: Iterable[tuple[str, ...]], draft: Draft) -> tuple[Port, ...]:
    """The legs whose addresses or names most nodes have as their servers that are nodes here; of ntp the first."""
    voices: Counter[tuple[Port, ...]] = Counter()
    for words in said:
        known = list(dict.fromkeys(port for word in words if (port := _leg(plant, word))))
        if known:
            voices[tuple(known[: _MOST[key]])] += 1
        for word in words if not known else []:
            draft.tell(f"{cluster}: {key} server {word} is none of the nodes; it is left out")
    if len(voices) > 1:
        names = " or ".join(sorted(" ".join(port.node for port in ports) for ports in voices))
        draft.tell(f"{cluster}: its nodes ask {names} as their {key} server; what most ask is taken")
    return voices.most_common(1)[0][0] if voices else ()


def _leg(plant: Plant, word: str) -> Port | None:
    """The leg that has an address or a name."""
    if word in plant.holder:
        return plant.holder[word]
    hosts = (pair for machine in plant.machines.values() for pair in machine.hosts.items())
    found = (plant.holder.get(str(address)) for address, names in hosts if word.split(".")[0] in names)
    return next((port for port in found if port), None)


def host_names(plant: Plant, node: str, address: IPv4Address) -> list[str]:
    """An address's names: as its own node has them, else as the most others do."""
    own = plant.machines[node].hosts.get(address) if node in plant.machines else None
    if own:
        return own
    voices = Counter(tuple(m.hosts[address]) for m in plant.machines.values() if address in m.hosts)
    return list(voices.most_common(1)[0][0]) if voices else []


def legs_in_order(plant: Plant, node: str) -> list[Port]:
    """A node's legs: first the one whose names have the node's own, by which daemons are known."""
    legs = [port for port in plant.legs if port.node == node]
    return sorted(legs, key=lambda port: node not in host_names(plant, node, plant.legs[port].address.ip))


def tunables(plant: Plant, of: Mapping[str, str], draft: Draft) -> dict[str, dict[str, int | str]]:
    """What is left for single nodes of what is set: the site's and the clusters' go into the draft.

    What the kernel has once for all (net.core) a site's file has once.
    """
    own = {name: dict(machine.tunables) for name, machine in plant.machines.items()}
    own = {name: settings for name, settings in own.items() if name in of or not plant.machines[name].bridges}
    everywhere = _common(own, list(of), draft)
    for cluster in draft.data["clusters"]:
        members = [name for name in of if of[name] == cluster]
        here = {k: v for k, v in _common(own, members, None).items() if k not in everywhere}
        if here:
            draft.data["clusters"][cluster]["sysctl"] = {key: _value(value) for key, value in here.items()}
        for name in members:
            given = everywhere | here
            own[name] = {k: v for k, v in own[name].items() if given.get(k) != v and not k.startswith("net.core.")}
    if everywhere:
        draft.data["sysctl"] = {key: _value(value) for key, value in everywhere.items()}
    alone = {n: {k: _value(v) for k, v in s.items() if not k.startswith("net.core.")} for n, s in own.items()}
    return {name: settings for name, settings in alone.items() if settings}


def _common(own: Mapping[str, Mapping[str, str]], nodes: list[str], draft: Draft | None) -> dict[str, str]:
    """What all these nodes have; with a draft, what most have of what there can be one of."""
    found = {}
    for key in dict.fromkeys(key for name in nodes for key in own[name]):
        voices = Counter(own[name].get(key) for name in nodes)
        value, count = voices.most_common(1)[0]
        if value is not None and (count == len(nodes) or (draft and key.startswith("net.core."))):
            found[key] = value
            if draft and len(voices) > 1:
                draft.tell(f"{key} differs among the nodes, and a site has one; {value} is taken, which most have")
    return found


def _value(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def disagreeing(machines: Iterable[Machine]) -> dict[IPv4Address, set[tuple[str, ...]]]:
    """The addresses that nodes' hosts files have different names for."""
    said: dict[IPv4Address, set[tuple[str, ...]]] = {}
    for machine in machines:
        for address, names in machine.hosts.items():
            said.setdefault(address, set()).add(tuple(sorted(names)))
    return {address: names for address, names in said.items() if len(names) > 1}
