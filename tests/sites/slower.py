"""jubl with other numbers: network b at 700 Mbit/s with an MTU of 4000, m at 500, three members at the first server.

    python -m tests.sites.slower > site.yaml

No number that a site can change may stand in a scenario: with these it plays as with its own.
"""

from copy import deepcopy
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import yaml

Data = dict[str, Any]
JUBL = Path(__file__).resolve().parents[2] / "topologies" / "jubl" / "site.yaml"


def slower(jubl: Data) -> Data:
    """The data of the other site."""
    site = apart(jubl, "nsd", "nsd01")
    site["networks"]["b"] |= {"rate_mbit": 700, "mtu": 4000}
    site["networks"]["m"] |= {"rate_mbit": 500}
    (channel,) = (c for c in site["channels"] if c["ends"][0]["node"] == "nsd01")
    for end in channel["ends"]:
        end["members"] = end["members"][:3]
    return site


def apart(site: Data, pool: str, node: str) -> Data:
    """The same site with one node of a plain pool, whose names are listed, written out by itself."""
    site = deepcopy(site)
    group = site["pools"][pool]
    place = group["names"].index(node)
    hosts = group["hosts"] if isinstance(group["hosts"], list) else list(range(group["hosts"], 2**16))
    hosts = hosts[: len(group["names"])]
    host = hosts[place]
    group["names"].remove(node)
    group["hosts"] = [number for number in hosts if number != host]
    interfaces = {}
    for device, leg in group["interfaces"].items():
        address = IPv4Network(site["networks"][leg["network"]]["subnet"])[host]
        names = [name.replace("{}", node) for name in leg.get("names", [])]
        interfaces[device] = {"network": leg["network"], "address": str(address), "names": names}
        if "switch" in leg:
            link = {"ends": [f"{node}:{device}", f"{leg['switch']}:{node}"]}
            site.setdefault("links", []).append(link | {k: leg[k] for k in ("rate_mbit",) if k in leg})
    kept = {
        key: group[key]
        for key in ("cluster", "role", "routes", "forwards", "receive_mbit", "send_mbit", "sysctl")
        if key in group
    }
    site["nodes"] = {node: kept | {"interfaces": interfaces}} | site["nodes"]
    for bond, up in group.get("channels", {}).items():
        ports = [f"{node}-{number}" for number in range(1, len(up["members"]) + 1)]
        own = {"node": node, "name": bond, "members": list(up["members"]), "hash_policy": up["hash_policy"]}
        other = {"node": up["switch"], "name": node, "members": ports, "hash_policy": up["switch_policy"]}
        channel = {"ends": [own, other]} | {key: up[key] for key in ("lacp_rate", "rate_mbit") if key in up}
        site["channels"] = [channel, *site.get("channels", [])]
    for filesystem in site.get("filesystems", {}).values():
        if pool in filesystem["servers"]:
            filesystem["servers"].insert(filesystem["servers"].index(pool), node)
    return site


def main() -> None:
    site = slower(yaml.safe_load(JUBL.read_text()))
    print(yaml.safe_dump(site, sort_keys=False, default_flow_style=None, width=120), end="")


if __name__ == "__main__":
    main()
