"""Draws a change of a site at random, as commands: each seed gives another one, always the same.

python -m tests.sites.changes --seed N SITE > change.txt
"""

import argparse
from collections.abc import Callable, Iterator
from random import Random

from causeway.folders import site_file
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.model.topology import LINUX_POLICIES
from causeway.render.network import route_words

MOST_LINES = 3


def draw(seed: int, site: Site) -> str:
    """The change of a seed, as the text of its file: one to three commands."""
    dice = Random(f"change {seed}")
    lines: list[str] = []
    kinds = [kind for kind in KINDS if list(kind(site, Random(0)))]
    for kind in dice.sample(kinds, min(len(kinds), dice.randint(1, MOST_LINES))):
        lines.append(dice.choice(list(kind(site, dice))))
    return f"# Drawn at random: seed {seed}\n" + "".join(f"{line}\n" for line in lines)


def _hosts(site: Site) -> Iterator[str]:
    diskless = set(site.diskless())
    return (name for name, node in site.nodes.items() if node.interfaces and name not in diskless)


def _route(site: Site, _: Random) -> Iterator[str]:
    """A route that somebody has no more."""
    for name in _hosts(site):
        for route in site.nodes[name].routes:
            if len(route.via) == 1:
                yield f"{name}# ip route del {route_words(site, route)}"


def _mtu(site: Site, dice: Random) -> Iterator[str]:
    """An interface that takes smaller packets."""
    for name in _hosts(site):
        for device in site.nodes[name].interfaces:
            if not device.startswith("br-"):
                yield f"{name}# ip link set {device} mtu {dice.randrange(1000, site.mtu(Port(name, device)), 4)}"


def _switch_mtu(site: Site, dice: Random) -> Iterator[str]:
    """A switch's port that takes smaller packets than who is plugged into it sends."""
    for cable in site.cables:
        for end in cable.ends:
            node = site.nodes[end.node]
            if node.switch and end.device not in node.interfaces and site.channel_of(end) is None:
                yield f"{end.node}# ip link set {end.device} mtu {dice.randrange(1000, site.mtu(end), 4)}"


def _policy(site: Site, dice: Random) -> Iterator[str]:
    """A host's bond that sends by another policy."""
    for _, end, _ in site.channel_ends():
        if end.name in site.nodes[end.node].interfaces and end.node not in site.diskless():
            other = dice.choice([policy for policy in LINUX_POLICIES if policy != end.hash_policy])
            yield f"{end.node}# echo {other} > /sys/class/net/{end.name}/bonding/xmit_hash_policy"


def _member(site: Site, _: Random) -> Iterator[str]:
    """A member that a bond is without."""
    for _, end, _ in site.channel_ends():
        if end.name in site.nodes[end.node].interfaces and len(end.members) > 1:
            yield from (f"{end.node}# ip link set {member} down" for member in end.members)


def _forwarding(site: Site, _: Random) -> Iterator[str]:
    """A router that routes no more."""
    return (f"{name}# sysctl -w net.ipv4.ip_forward=0" for name in _hosts(site) if site.nodes[name].forwards)


def _filter(site: Site, _: Random) -> Iterator[str]:
    """A node that drops what comes by another way than it would answer."""
    return (f"{name}# sysctl -w net.ipv4.conf.all.rp_filter=1" for name in _hosts(site))


KINDS: tuple[Callable[[Site, Random], Iterator[str]], ...] = (
    _route,
    _mtu,
    _switch_mtu,
    _policy,
    _member,
    _forwarding,
    _filter,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("site", help="a shipped site's name, or a site's file")
    given = parser.parse_args()
    print(draw(given.seed, load_site(site_file(given.site))), end="")


if __name__ == "__main__":
    main()
