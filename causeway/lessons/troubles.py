"""Faults that a lesson can draw of any site: each with its cause, what shows it, and what an administrator types to
mend it. Pure: the site alone is asked. How to look for one is what its fault says (`causeway.lab.faults`, Look)."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from causeway.lab.faults.catalogue import find
from causeway.lab.lab import Lab
from causeway.model.site import Site
from causeway.model.thing import Port

#: How a daemon is started on a plain node (nodes/base/node-init).
_STARTED = {"sshd": "/usr/sbin/sshd", "named": "named -u bind", "chronyd": "chronyd -x"}
_KEY, _AUTHORIZED = "/root/.ssh/id_ed25519.pub", "/root/.ssh/authorized_keys"
#: What a switch's port takes where it is too narrow: pings pass, full packets do not.
_NARROW = 1400


@dataclass(frozen=True)
class Trouble:
    """One fault: its words as `causeway fault inject` takes them, and what there is to say of it."""

    fault: str
    words: tuple[str, ...]
    cause: str
    evidence: str
    cure: tuple[str, ...]

    @property
    def look(self) -> str:
        """The shortest way to find it."""
        return find(self.fault).look

    @property
    def where(self) -> str:
        """The node that it is on."""
        return self.words[0].partition("=")[2]

    def make(self, lab: Lab) -> None:
        """Bring it about."""
        fault = find(self.fault)
        fault.change(lab, **fault.read(self.words, lab.site)).make(lab)


def drawn(site: Site, colleagues: list[str], level: int, dice: random.Random) -> list[Trouble]:
    """What is wrong on a level, in the order in which it is made; of the second the last hides the first.

    1: one fault. 2: one that hides behind another. 3: one that shows only under load. [] where the site has none.
    """
    if level == 1:
        found = [[one] for one in (*_lost_routes(site), *_names(site), *_clocks(site), *_keys(site, colleagues))]
        found += [[one] for one in _stopped(site, "sshd", _disked(site))]
    elif level == 2:
        found = list(_hidden(site, colleagues))
    else:
        found = [[one] for one in (*_narrow(site), *_pulled(site))]
    kinds = sorted({troubles[-1].fault for troubles in found})
    chosen = dice.choice(kinds) if kinds else ""  # a kind first, for of routes there are many
    return dice.choice([troubles for troubles in found if troubles[-1].fault == chosen]) if kinds else []


def _hidden(site: Site, colleagues: list[str]) -> Iterator[list[Trouble]]:
    """Couples: the first one shows when the second is mended."""
    for behind, daemon in ((_names(site), "named"), (_clocks(site), "chronyd"), (_keys(site, colleagues), "sshd")):
        for one in behind:
            yield [one, *_stopped(site, daemon, [one.where])]


def _disked(site: Site) -> list[str]:
    return [node for node in site.hosts() if node not in site.diskless()]


def _lost_routes(site: Site) -> Iterator[Trouble]:
    for node in _disked(site):
        for route in site.nodes[node].routes:
            if len(route.via) == 1 and not route.metric and route.to != "default":
                to = site.shown_destination(route)
                yield Trouble(
                    "route_missing",
                    (f"node={node}", f"to={to}"),
                    f"{node} had lost its route to {to}",
                    f"`ip route get` on {node}, for an address there, says another way, or none",
                    (f"{node}# ip route add {to} via {route.via[0]}",),
                )


def _stopped(site: Site, daemon: str, nodes: list[str]) -> Iterator[Trouble]:
    for node in (node for node in nodes if node in _disked(site)):
        yield Trouble(
            "service_stopped",
            (f"node={node}", f"service={daemon}"),
            f"{daemon} did not run on {node}",
            f"whoever asks {node} for what {daemon} gives is refused or hears nothing, and all else works there",
            (f"{node}# {_STARTED[daemon]}",),
        )


def _names(site: Site) -> Iterator[Trouble]:
    domain = site.topology.domain
    for server in site.all_name_servers():
        for name in (node for node in _disked(site) if node != server):
            address = site.known_by(name).address
            first = site.known_by(name).names[0]
            again = f"reread-zone {first}.{domain}. there"
            yield Trouble(
                "name_missing",
                (f"server={server}", f"name={first}"),
                f"{server}'s zone had no {first}",
                f"`host {first} {server}` says NXDOMAIN, and `getent hosts {first}` has it, from /etc/hosts",
                (f"{server}# printf '{first}\\tIN\\tA\\t{address}\\n' >>/etc/bind/db.{domain} && {again}",),
            )


def _clocks(site: Site) -> Iterator[Trouble]:
    for node in (node for node in _disked(site) if site.time_server(node)):
        mend = r"sed -i 's/^\(server .*\) offset [-0-9.e+]*/\1/' /etc/chrony/chrony.conf"
        yield Trouble(
            "clock_wrong",
            (f"node={node}", "seconds=300"),
            f"{node} was 300 s ahead of its server: its chrony.conf has an offset for it",
            f"`chronyc sources` on {node} says +300s, and goes on saying so",
            (f"{node}# {mend}; stop-daemon chronyd; chronyd -x && chronyc waitsync 10 0.05 0 2",),
        )


def _keys(site: Site, colleagues: list[str]) -> Iterator[Trouble]:
    own = [node for node in colleagues if node in _disked(site)]
    for node, client in ((a, b) for a in own for b in own if a != b):
        yield Trouble(
            "authorized_key_wrong",
            (f"node={node}", f"client={client}"),
            f"{node} let in another key than the one that root of {client} has",
            f"`ssh -o BatchMode=yes` from {client} to {node} ends with Permission denied, and from others it does not",
            (
                f"{client}:{_KEY} -> {node}:/tmp/{client}.pub",
                f"{node}# cat /tmp/{client}.pub >>{_AUTHORIZED}",
            ),
        )


def _narrow(site: Site) -> Iterator[Trouble]:
    for cable in site.cables:
        for host, port in (cable.ends, cable.ends[::-1]):
            single = site.channel_of(host) is None and host.device in site.nodes[host.node].interfaces
            if site.nodes[port.node].switch and host.node in _disked(site) and single:
                mtu = site.mtu(Port(port.node, port.device))
                yield Trouble(
                    "port_mtu",
                    (f"node={port.node}", f"device={port.device}", f"mtu={_NARROW}"),
                    f"{port.node}'s port {port.device} took packets of {_NARROW} bytes, and {host.node} sends {mtu}",
                    f"`ping -M do -s {mtu - 28}` to {host.node} does not come back, and a small one does",
                    (f"{port.node}# ip link set {port.device} mtu {mtu}",),
                )


def _pulled(site: Site) -> Iterator[Trouble]:
    for _, end, other in site.channel_ends():
        if end.node in _disked(site) and len(end.members) > 1:
            for member, opposite in zip(end.members, other.members, strict=True):
                mend = "timeout 60 sh -c 'until ip -br link show {0} | grep -q LOWER_UP; do sleep 1; done'; sleep 5"
                yield Trouble(
                    "link_down",
                    (f"node={end.node}", f"device={member}"),
                    f"the cable of {end.node}'s {member} was out at {other.node}'s {opposite}, or here",
                    f"`cat /proc/net/bonding/{end.name}` on {end.node}: {member} is down, and the others carry it all",
                    (
                        f"{other.node}# ip link set {opposite} up",
                        f"{end.node}# ip link set {member} up; {mend.format(member)}",
                    ),
                )
