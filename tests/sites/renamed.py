"""A site with every name changed: nothing but names may depend on them.

    python -m tests.sites.renamed topologies/jubl/site.yaml > site.yaml

Nodes, host names, clusters, networks, pools, filesystems, mount points, blocks, roles and the lab itself get other
words. Locations of a machine stay, as they are the machine's form; and so do addresses, devices and the order of all.
"""

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import yaml

from tests.sites.words import Words

Data = dict[str, Any]


def renamed(site: Data) -> Data:
    """The data of the same site under other names."""
    return _Renaming(site).site()


def new_names(site: Data) -> dict[str, str]:
    """From each node, cluster, network, pool, filesystem and block of a site to its other name."""
    return dict(_Renaming(site).of)


def names_of(site: Data) -> set[str]:
    """What is named in a site: its nodes, clusters, networks, pools, filesystems, blocks, host names and itself."""
    change = _Renaming(site)
    change.site()
    return {site["lab"], site["domain"], *change.of, *change.hosts}


class _Renaming:
    """From each name to the other; two things of one name get one other name, as they may be named for each other."""

    def __init__(self, site: Data) -> None:
        self.old = site
        self._pools: Data = site.get("pools", {})
        self._numbered = {n: p for n, p in self._pools.items() if "names" in p}
        self._nodes = [*site["nodes"], *(node for pool in self._numbered.values() for node in _members(pool))]
        kinds: list[Iterable[str]] = [site["networks"], site["clusters"], site.get("filesystems", {}), self._pools]
        kinds += [pool.get("blocks", {}) for pool in self._pools.values()]
        old = [*self._nodes, *(name for kind in kinds for name in kind)]
        self._words = Words(Random(0), [*old, site["lab"], *site["domain"].split(".")])
        self.of: dict[str, str] = {name: self._words.make(2, large=name.isupper()) for name in old}
        for pool in self._numbered.values():
            self._keep_pattern(pool)
        self.hosts: dict[str, str] = {}
        self._other: dict[str, str] = {}

    def _keep_pattern(self, pool: Data) -> None:
        """Nodes that are named by a pattern have other names by one pattern, too."""
        if isinstance(pool["names"], str):
            stem = self._words.make(2)
            digits = re.search(r"\{.*?\}", pool["names"])
            self.of[pool["names"]] = stem + (digits[0] if digits else "{}")
            new = _members({**pool, "names": self.of[pool["names"]]})
            self.of |= dict(zip(_members(pool), new, strict=True))

    def word(self, old: str) -> str:
        """The other word for one that names no thing: a role, a part of a path, a host name's end."""
        if old not in self._other:
            self._other[old] = self._words.make(2)
        return self._other[old]

    # --- the file ---

    def site(self) -> Data:
        old, of = self.old, self.of
        new: Data = {
            **old,
            "lab": self.word(old["lab"]),
            "domain": f"{self.word(old['domain'])}.example",
            "networks": {of[name]: network for name, network in old["networks"].items()},
            "clusters": {of[name]: self._cluster(cluster) for name, cluster in old["clusters"].items()},
            "nodes": {of[name]: self._node(node) for name, node in old["nodes"].items()},
        }
        pools = {of[n]: self._pool(p) if n in self._numbered else self._machine(p) for n, p in self._pools.items()}
        links = [{**link, "ends": [self._port(end) for end in link["ends"]]} for link in old.get("links", [])]
        channels = [{**c, "ends": [self._end(end) for end in c["ends"]]} for c in old.get("channels", [])]
        filesystems = {of[name]: self._filesystem(f) for name, f in old.get("filesystems", {}).items()}
        given = {"pools": pools, "links": links, "channels": channels, "filesystems": filesystems}
        return new | {key: value for key, value in given.items() if key in old}

    def _named(self, thing: Data, *keys: str) -> Data:
        """A thing, with the names that stand at these keys changed; a key may have a list of them."""
        new = {}
        for key in keys:
            if thing.get(key) is not None:
                value = thing[key]
                new[key] = [self.of[name] for name in value] if isinstance(value, list) else self.of[value]
        return {**thing, **new}

    def _cluster(self, cluster: Data | None) -> Data:
        return self._named(cluster or {}, "administrator", "dns", "ntp", "known_by", "mounts")

    def _node(self, node: Data) -> Data:
        legs = {self._device(device): self._leg(leg) for device, leg in node.get("interfaces", {}).items()}
        new = self._named(node, "cluster", "switch") | {"role": self.word(node["role"])}
        return self._routed(new | ({"interfaces": legs} if legs else {}))

    def _pool(self, pool: Data) -> Data:
        new = self._named(pool, "cluster", "names") | {"role": self.word(pool["role"])}
        new["interfaces"] = {d: self._named(self._leg(leg), "switch") for d, leg in pool["interfaces"].items()}
        if "channels" in pool:
            new["channels"] = {bond: self._named(up, "switch") for bond, up in pool["channels"].items()}
        if "boot" in pool:
            new["boot"] = self._named(pool["boot"], "server")
        if "classes" in pool:
            new["classes"] = {self.word(n): [self.of[node] for node in those] for n, those in pool["classes"].items()}
        return self._routed(new)

    def _machine(self, pool: Data) -> Data:
        new = self._named(pool, "cluster", "network", "switch", "booted")
        new["blocks"] = {self.of[name]: pattern for name, pattern in pool["blocks"].items()}
        new["boot"] = self._named(pool["boot"], "server")
        return self._routed(new)

    def _routed(self, thing: Data) -> Data:
        routes = [{**r, "to": self.of.get(str(r["to"]), r["to"])} for r in thing.get("routes", [])]
        return thing | ({"routes": routes} if routes else {})

    def _leg(self, leg: Data) -> Data:
        new = self._named(leg, "network")
        return new | ({"names": [self._host(name) for name in leg["names"]]} if "names" in leg else {})

    def _host(self, name: str) -> str:
        """A host name, or a pattern of some: a node's name (or {}) and an end, or any other word."""
        stems = [stem for stem in ("{}", *self._nodes) if name.startswith(stem)]
        stem = max(stems, key=len, default="")
        end = name.removeprefix(stem)
        new = self.of.get(stem, stem) + (("-" if stem else "") + self.word(end) if end else "")
        if stem != name:
            self.hosts[name] = new
        return new

    def _device(self, device: str) -> str:
        """A bridge is named for its network, a switch's port for the node that it is cabled to: NODE or NODE-1."""
        network = device.removeprefix("br-")
        if network != device and network in self.of:
            return f"br-{self.of[network]}"
        stem, dash, number = device.rpartition("-")
        if dash and number.isdigit() and stem in self._nodes:
            return f"{self.of[stem]}-{number}"
        return self.of[device] if device in self._nodes else device

    def _port(self, port: str) -> str:
        node, device = port.split(":", 1)
        return f"{self.of.get(node, node)}:{self._device(device)}"

    def _end(self, end: Data) -> Data:
        members = [self._device(member) for member in end["members"]]
        return self._named(end, "node") | {"name": self._device(end["name"]), "members": members}

    def _filesystem(self, filesystem: Data) -> Data:
        parts = filesystem["mount_point"].strip("/").split("/")
        path = "".join(f"/{self.of.get(part) or self.word(part)}" for part in parts)
        return self._named(filesystem, "owner", "servers") | {"mount_point": path}


def _members(pool: Data) -> list[str]:
    """The nodes of a numbered pool: as listed, or by their pattern."""
    if isinstance(pool["names"], list):
        return list(pool["names"])
    count = pool.get("most", pool["count"])
    return [
        re.sub(r"\{(?::0?(\d))?\}", lambda m, i=i: str(i).zfill(int(m[1] or 1)), pool["names"])  # type: ignore[misc]
        for i in range(1, count + 1)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path)
    site = yaml.safe_load(parser.parse_args().file.read_text())
    print(yaml.safe_dump(renamed(site), sort_keys=False, default_flow_style=None, width=120), end="")


if __name__ == "__main__":
    main()
