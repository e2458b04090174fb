"""A node's static routes as a site's file has them, and what of its routes has no place there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from causeway.collect.draft import Draft
from causeway.collect.machine import Machine
from causeway.collect.networks import Net
from causeway.collect.plant import Plant

#: Who sets a route that stays.
_SET = ("boot", "static", "dhcp")


@dataclass
class Routes:
    """What routes nodes have; `unknown` are gateways that nobody who was collected has: address -> network."""

    plant: Plant
    nets: Mapping[IPv4Network, Net]
    draft: Draft
    unknown: dict[IPv4Address, IPv4Network] = field(default_factory=dict)

    def of(self, machine: Machine) -> list[dict[str, Any]]:
        """A node's routes; those that a site cannot have are left out, and told."""
        own = {leg.address.ip: leg.address.network for p, leg in self.plant.legs.items() if p.node == machine.name}
        found: list[dict[str, Any]] = []
        seen: set[tuple[Any, int]] = set()
        for route in machine.routes:
            try:
                data = self._route(route, own)
                key = (data["to"], data.get("metric", 0))
                if key in seen:
                    raise ValueError("there is another one with the same metric")
                seen.add(key)
                found.append(data)
            except ValueError as why:
                self.draft.tell(f"{machine.name}: the route to {route['dst']} is left out: {why}")
        return found

    def _route(self, route: Mapping[str, Any], own: Mapping[IPv4Address, IPv4Network]) -> dict[str, Any]:
        if route.get("type", "unicast") != "unicast":
            raise ValueError(f"it is of type {route['type']}")
        if route.get("table", "main") != "main":
            raise ValueError(f"it is in table {route['table']}")
        if str(route.get("protocol", "boot")) not in _SET:
            raise ValueError(f"a daemon has set it ({route['protocol']})")
        hops = route.get("nexthops") or [route]
        if any("gateway" not in hop for hop in hops):
            raise ValueError("it has no gateway")
        if len({hop.get("weight", 1) for hop in hops}) > 1:
            raise ValueError("its gateways have different weights")
        gateways = [IPv4Address(hop["gateway"]) for hop in hops]
        destination = IPv4Network("0.0.0.0/0" if route["dst"] == "default" else route["dst"])
        metric = int(route.get("metric", 0))
        if destination in own.values() and not metric:
            raise ValueError("the node has a leg there")
        for gateway in gateways:
            near = next((subnet for subnet in own.values() if gateway in subnet), None)
            if near is None:
                raise ValueError(f"{gateway} is in none of the node's networks")
            if str(gateway) not in self.plant.holder:
                self.unknown[gateway] = near
        data: dict[str, Any] = {"to": self._to(destination)}
        data["via"] = str(gateways[0]) if len(gateways) == 1 else [str(gateway) for gateway in gateways]
        mtu = next((about["mtu"] for about in route.get("metrics", []) if "mtu" in about), None)
        source = route.get("prefsrc")
        if source is not None and IPv4Address(source) not in own:
            raise ValueError(f"its source {source} is no address that the node has in the site")
        return data | {k: v for k, v in (("metric", metric), ("mtu", mtu), ("src", source)) if v}

    def _to(self, destination: IPv4Network) -> str:
        if destination.prefixlen == 0:
            return "default"
        if destination in self.nets:
            return self.nets[destination].name
        return str(destination.network_address) if destination.prefixlen == 32 else str(destination)
