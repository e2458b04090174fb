"""Networks, addresses in them, and routes between them."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from causeway.model.findings import Finding, one_of, within
from causeway.model.rules import places
from causeway.model.site import Site
from causeway.model.topology import Route


def networks(site: Site) -> Iterator[Finding]:
    """Networks have room for hosts, and addresses of their own."""
    seen: dict[str, IPv4Network] = {}
    for name, network in site.topology.networks.items():
        subnet, where = network.subnet, ("networks", name, "subnet")
        if not 16 <= subnet.prefixlen <= 30:
            yield Finding(where, f"a network of prefix /{subnet.prefixlen}", "use one from /16 to /30")
        for other, its in seen.items():
            if subnet.overlaps(its):
                what = f"{subnet} overlaps network {other}, {its}"
                yield Finding(where, what, "give each network addresses of its own")
        seen[name] = subnet


def addresses(site: Site) -> Iterator[Finding]:
    """Every interface has an address of its own in its network."""
    owner: dict[IPv4Address, str] = {}
    for name, _, device, leg in places.legs(site):
        where = places.of_leg(site, name, device, "address")
        if leg.address in owner:
            what = f"{leg.address} is {owner[leg.address]}'s address too"
            yield Finding(where, what, "give each interface an address of its own")
        owner.setdefault(leg.address, f"{name}:{device}")
        network = site.topology.networks.get(leg.network)
        if network is None or network.subnet.prefixlen > 30:
            continue
        subnet = network.subnet
        if leg.address not in subnet:
            what = f"{leg.address} is outside of network {leg.network}, {subnet}"
            yield Finding(where, what, within(subnet))
        elif leg.address in (subnet.network_address, subnet.broadcast_address):
            what = f"{leg.address} is the network or broadcast address of {subnet}"
            yield Finding(where, what, within(subnet))


def routes(site: Site) -> Iterator[Finding]:
    """A route leads somewhere, through neighbours that there are, and is the only one of its kind."""
    # with a leg in a network that is not known, a pool's nodes have lost addresses
    lost = any(_lost_legs(site, name) for name in site.topology.pools)
    holders = None if lost else {leg.address for _, _, _, leg in places.legs(site)}
    checked: set[str] = set()
    for name, node in site.nodes.items():
        owner = places.owner(site, name)
        if owner in checked:
            continue  # of a pool's nodes all have the same routes
        checked.add(owner)
        known = site.topology.networks
        interfaces = node.interfaces.values()
        legs = [known[leg.network].subnet for leg in interfaces if leg.network in known]
        own = {leg.address for leg in interfaces}
        whole = len(legs) == len(interfaces) and not _lost_legs(site, owner)
        seen: dict[tuple[IPv4Network, int], int] = {}
        for index, route in enumerate(node.routes):
            here = (*places.of_node(site, name), "routes", index)
            if isinstance(route.to, str) and route.to not in known and route.to != "default":
                what = f"there is no network {route.to!r}"
                yield Finding((*here, "to"), what, one_of(route.to, known), (route.to,))
            else:
                to = (site.destination(route), route.metric)
                if to in seen:
                    what = f"routes[{seen[to]}] leads to {to[0]} already, with the same metric"
                    yield Finding(here, what, "give them metrics, or one route several gateways")
                elif to[0] in legs and not route.metric:
                    what = f"{to[0]} is a network of the node's own"
                    yield Finding((*here, "to"), what, "give the route a metric, or remove it")
                seen.setdefault(to, index)
            if not whole:
                continue  # one of its networks is not known
            gone = (f"{owner}:*", "pools", *(leg.network for leg in interfaces))
            if route.src is not None and route.src not in own:
                what = f"{route.src} is no address of the node's"
                yield Finding((*here, "src"), what, "use one of its own", gone)
            for via in route.via:
                yield from _gateway((*here, "via"), route, via, legs, holders, gone)


def _lost_legs(site: Site, owner: str) -> bool:
    pool = site.topology.pools.get(owner)
    return (
        pool is not None
        and pool.platform == "plain"
        and any(leg.network not in site.topology.networks for leg in pool.interfaces.values())
    )


def _gateway(
    where: tuple[str | int, ...],
    route: Route,
    via: IPv4Address,
    legs: list[IPv4Network],
    holders: set[IPv4Address] | None,
    gone: tuple[str, ...],
) -> Iterator[Finding]:
    if not any(via in subnet for subnet in legs):
        what = f"the gateway {via} is in none of the node's networks"
        remedy = f"use a gateway in {' or '.join(map(str, legs)) or 'a network it has a leg in'}"
        yield Finding(where, what, remedy, gone)
    elif holders is not None and via not in holders:
        what = f"nobody has the gateway's address {via}"
        yield Finding(where, what, "use the address of a node's interface", (str(via), "pools"))
    elif route.via.count(via) > 1:
        yield Finding(where, f"{via} stands there twice", "name each gateway once")
