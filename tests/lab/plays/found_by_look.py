"""Each fault of the catalogue is found by what its `look` says, by somebody who does not know where it is.

Claim: who looks as a fault's `Look:` says finds nothing on a sound lab; with the fault somewhere, drawn by the seed, it
leads to the very place.

Source: issue 14, part 1.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.lab.changes.change import Change
from causeway.lab.faults.catalogue import FAULTS
from causeway.lab.probes.channels import read_channel
from causeway.lab.probes.drift import drift
from causeway.lab.probes.heartbeats import beating
from causeway.lab.probes.reach import opened
from causeway.model.thing import Port
from causeway.plan.paths import Ways
from causeway.process import run
from causeway.scenario.cast import Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.logins import CHANGED, NOT_AUTHORIZED, login
from causeway.scenario.words.packets import largest_packet
from causeway.scenario.words.routes import cut
from causeway.scenario.words.streams import one_stream
from causeway.wait import until

#: What LACP, a resolver, a daemon's first request takes to notice, or to be as before.
SHOWS_S = 60
#: Packets over each cable, and how many of a hundred may be lost by chance.
PACKETS, SLOW_S = 100, 5
#: A round trip that is so much longer than the shortest one is one of another cable.
LONGER = 10
#: When a switch has forgotten who joined (300 s), and nobody who fell silent counts any more (80 s).
FORGOTTEN_S = 420.0


@dataclass(frozen=True)
class Case:
    """A fault as one types it, how to look for it, and the place to which that must lead: of a cable either end."""

    typed: str
    look: Callable[[], list[str]]
    place: str
    other_end: str = ""

    @property
    def name(self) -> str:
        return self.typed.split()[0]

    def where(self, led: list[str]) -> str:
        """The place, where looking has led there; else to where it has led."""
        return self.place if {self.place, self.other_end} & set(led) else ", ".join(led)


@dataclass(frozen=True)
class Cast:
    """Hosts with disks, those that root logs in between, and one that lacks a way back without its route `to` there."""

    hosts: list[str]
    colleagues: list[str]
    lacking: str
    to: str


def cast(ask: Ask) -> Cast:
    ask.computable()
    back = ask.way_back(disk=True)
    return Cast(
        [host for host in ask.hosts() if host not in ask.site.diskless()],
        [host for host in ask.colleagues() if host not in ask.site.diskless()],
        back.node,
        str(ask.site.topology.networks[back.to].subnet),
    )


class Looker:
    """Who looks: at every node, every cable, every pair, and knows of no fault."""

    def __init__(self, stage: Stage, cast: Cast) -> None:
        self.stage, self.lab, self.site, self.hosts, self.cast = stage, stage.lab, stage.site, cast.hosts, cast

    def singles(self) -> Iterator[tuple[Port, str]]:
        """Hosts' cables that are no channel's members, each with its network."""
        for cable in self.site.cables:
            for end in cable.ends:
                about = self.site.nodes[end.node]
                if end.node in self.hosts and end.device in about.interfaces:
                    yield end, about.interfaces[end.device].network

    def neighbours(self, port: Port, network: str) -> list[str]:
        """The addresses of the other hosts in a network."""
        others = (h for h in self.hosts if h != port.node)
        return [str(self.site.address(h, network)) for h in others if self._has(h, network)]

    def _has(self, host: str, network: str) -> bool:
        return any(leg.network == network for leg in self.site.nodes[host].interfaces.values())

    # each of these is one fault's `look`

    def carriers(self) -> list[str]:
        """Cables of which an end says that it has no carrier."""
        found = []
        for cable in self.site.cables:
            for end in cable.ends:
                shown = run(self.lab.plug(end.node, ["ip", "link", "show", end.device])).must()
                found += [] if "LOWER_UP" in shown else [str(end)]
        return found

    def partners(self) -> list[str]:
        """Members of channels that carry, and have not heard of their partner."""
        found = []
        for _, end, _ in self.site.channel_ends():
            members = read_channel(self.lab, end).members
            silent = [member for member, up in members.items() if not up]
            found += [f"{end.node}:{member}" for member in silent if f"{end.node}:{member}" not in self.carriers()]
        return found

    def losses(self) -> list[str]:
        """Cables over which small packets are lost to every neighbour."""
        asked = [(port, self.neighbours(port, net)) for port, net in self.singles()]
        return [str(port) for port, others in asked if others and all(map(self._lost(port), others))]

    def _lost(self, port: Port) -> Callable[[str], int]:
        def lost(to: str) -> int:
            words = ("ping", "-q", "-c", str(PACKETS), "-i", "0.01", "-W", "1", to)
            found = re.search(r"(\d+) received", self.lab.on(port.node, *words).stdout)
            return PACKETS - int(found[1]) if found else PACKETS

        return lost

    def round_trips(self) -> list[str]:
        """Cables over which every round trip takes far longer than over others."""
        best = {
            str(port): min(self._rtt(port.node, to) for to in self.neighbours(port, net))
            for port, net in self.singles()
            if self.neighbours(port, net)
        }
        least = min(best.values())
        return [port for port, ms in best.items() if ms > LONGER * max(least, 0.1)]

    def _rtt(self, node: str, to: str) -> float:
        found = re.search(r"= ([\d.]+)/", self.lab.on(node, "ping", "-c", "3", "-i", "0.2", "-W", "1", to).stdout)
        return float(found[1]) if found else float("inf")

    def rates(self) -> list[str]:
        """Cables over which a stream alone gets less than the wire has for it, from whoever it comes."""
        found = []
        for port, net in self.singles():
            senders = [h for h in self.hosts if h != port.node and self._has(h, net)]
            alone = [one_stream(self.stage, sender, port.node, to=net, seconds=2) for sender in senders[:2]]
            found += [str(port)] if alone and all(lone.rate_mbit < 0.9 * lone.due_mbit for lone in alone) else []
        return found

    def sizes(self) -> list[str]:
        """Cables over which the largest packet of their network comes back from nobody."""
        found = []
        for port, net in self.singles():
            mtu, to = self.site.mtu(port), self.neighbours(port, net)
            addresses = [self.site.address(h, net) for h in self.hosts if h != port.node and self._has(h, net)]
            if to and all(largest_packet(self.stage, port.node, address, most=mtu) < mtu for address in addresses[:2]):
                found.append(str(port))
        return found

    def ways(self) -> list[str]:
        """Nodes that send what is for another to somebody else than the sheet says, or to nobody."""
        ways, found = Ways(self.site), {}
        for one in self.hosts:
            for other in (other for other in self.hosts if other != one and ways.reaches(one, other)):
                to = self.site.known_by(other).address
                asked = run(self.lab.plug(one, ["ip", "-j", "route", "get", str(to)]))
                gateway = json.loads(asked.stdout)[0].get("gateway", str(to)) if asked.rc == 0 else ""
                if gateway != str(ways.path(one, to).hops[0].next_hop):
                    found[one] = None
        return list(found)

    def unanswered(self) -> list[str]:
        """Of pairs that cannot talk: who has no way to the other, by whom packets arrive and are not answered."""
        found = {}
        for pair in cut(self.stage, self.hosts):
            one, other = pair.split(" > ")
            for node, to in ((one, other), (other, one)):
                asked = run(self.lab.plug(node, ["ip", "route", "get", str(self.site.known_by(to).address)]))
                found |= {node: None} if asked.rc else {}
        return list(found)

    def drifts(self) -> list[str]:
        """Nodes that run otherwise than their files say."""
        return list(dict.fromkeys(one.node for one in drift(self.lab, self.hosts)))

    def deaf(self) -> list[str]:
        """Nodes whose sshd no other node reaches, while the node itself answers."""
        heard = {host for one in self.hosts for host in opened(self.lab, one, self._sshds(one))}
        return [host for host in self.hosts if host not in heard]

    def _sshds(self, one: str) -> dict[str, tuple[tuple[IPv4Address, int], IPv4Address]]:
        own, others = self.site.known_by(one).address, (other for other in self.hosts if other != one)
        return {other: ((own, 0), self.site.known_by(other).address) for other in others}

    def started(self) -> list[str]:
        """Nodes of which a daemon is far younger than the node."""
        found = []
        for host in self.hosts:
            ages = self.lab.on(host, "ps", "-o", "etimes=,comm=", "-p", "1", "-C", "sshd").must().splitlines()
            seconds = {line.split()[1]: int(line.split()[0]) for line in ages}
            first, *rest = sorted(seconds.values(), reverse=True)
            found += [host] if rest and first - min(rest) > SLOW_S - 1 else []
        return found

    def names(self) -> list[str]:
        """Names that /etc/hosts has and a name server has not."""
        found = []
        for server in {c.dns for c in self.site.topology.clusters.values() if c.dns}:
            for host in self.hosts:
                name = self.site.known_by(host).names[0]
                asked = self.lab.on(server, "host", "-W", "1", "-t", "a", name, str(self.site.known_by(server).address))
                found += [f"{server} {name}"] if asked.rc else []
        return found

    def clocks(self) -> list[str]:
        """Nodes that are far from their server, and do not come nearer."""
        found = []
        for host in (h for h in self.hosts if self.site.time_server(h)):
            lines = self.lab.on(host, "chronyc", "-n", "-c", "sources").stdout.splitlines()
            chosen = [line.split(",") for line in lines if line.startswith("^")]
            found += [host] if any(abs(float(fields[7])) > 1 for fields in chosen) else []
        return found

    def refusals(self) -> list[str]:
        """The first refusal of each kind of root's logins: who refuses whom, or whose key has changed."""
        found = {}
        for one in self.cast.colleagues:
            for other in (other for other in self.cast.colleagues if other != one):
                said = login(self.stage, one, other)
                found |= {other: None} if said == CHANGED else {}
                found |= {f"{other} {one}": None} if said == NOT_AUTHORIZED else {}
        return list(found)

    def stale(self) -> list[str]:
        """Mounted trees that a diskless node cannot walk."""
        found = {}
        for node in self.lab.booted():
            said = self.lab.on(node, "/bin/ls", "/bgl/dist").stderr
            found |= {"/bgl": None} if "Stale file handle" in said else {}
        return list(found)

    def doubles(self) -> list[str]:
        """Addresses for which more than one hardware address answers; who has asked forgets what it was told."""
        found = []
        for port, net in self.singles():
            for to in self.neighbours(port, net):
                words = ("busybox", "arping", "-b", "-c", "2", "-w", "2", "-I", port.device, to)
                said = self.lab.on(port.node, *words).stdout
                found += [to] if len(set(re.findall(r"\[([0-9a-f:]{17})\]", said))) > 1 else []
            self.lab.on(port.node, "ip", "neigh", "flush", "dev", port.device).must()
        return list(dict.fromkeys(found))

    def companies(self) -> dict[str, tuple[str, list[str]]]:
        """Switches at which several hosts have a cable of their own: the network, and the hosts."""
        at: dict[str, tuple[str, list[str]]] = {}
        for port, net in self.singles():
            far = next(c.ends[1 - i] for c in self.site.cables for i, end in enumerate(c.ends) if end == port)
            if self.site.nodes[far.node].switch:
                at.setdefault(far.node, (net, []))[1].append(port.node)
        return {switch: (net, hosts) for switch, (net, hosts) in at.items() if len(hosts) > 1}

    def unheard(self) -> list[str]:
        """Switches at which programs that talk by multicast hear but themselves, some minutes after their start."""
        found = []
        for switch, (net, hosts) in self.companies().items():
            with beating(self.lab, net, hosts, FORGOTTEN_S) as running:
                counts = running.heard().at(FORGOTTEN_S)
            found += [switch] if set(counts.values()) == {1} else []
        return found


def cases(stage: Stage, cast: Cast) -> Iterator[Case]:
    """A case for each fault, its place drawn."""
    look, site, dice = Looker(stage, cast), stage.site, stage.random
    shared = [(port, net) for port, net in look.singles() if len(look.neighbours(port, net)) > 1]
    port = dice.choice([port for port, _ in shared])
    cable = f"node={port.node} device={port.device}"
    (end, *_) = [e for _, e, _ in site.channel_ends() if e.node in cast.hosts]
    member = dice.choice(end.members)

    def opposite(port: Port) -> Port:
        return next(c.ends[1 - i] for c in site.cables for i, e in enumerate(c.ends) if e == port)

    partner = str(opposite(Port(end.node, member)))
    node, to = cast.lacking, cast.to
    leg = next(leg for leg in site.nodes[node].interfaces.values())
    wrong = next(str(site.address(h, leg.network)) for h in cast.hosts if h != node and look._has(h, leg.network))
    dns = next(c.dns for c in site.topology.clusters.values() if c.dns)
    name = site.known_by(next(h for h in cast.hosts if h != dns)).names[0]
    ways = Ways(site)
    calling = (h for h in cast.hosts if h != node and ways.reaches(h, node))
    source = next(h for h in calling if ways.leaves(node, site.known_by(h).address).route is not None)
    one, other = cast.colleagues[:2]
    yield Case(f"link_down node={end.node} device={member}", look.carriers, f"{end.node}:{member}", partner)
    yield Case(f"link_silent node={end.node} device={member}", look.partners, f"{end.node}:{member}", partner)
    yield Case(f"link_lossy {cable} percent=20", look.losses, str(port))
    yield Case(f"link_delayed {cable} delay_ms=25", look.round_trips, str(port))
    yield Case(f"link_rate {cable} rate_mbit=100", look.rates, str(port))
    far = opposite(port)
    yield Case(f"port_mtu node={far.node} device={far.device} mtu=1400", look.sizes, str(port))
    others = look.neighbours(port, dict(shared)[port])
    yield Case(f"address_twice node={port.node} address={others[0]}", look.doubles, others[0])
    for switch in list(look.companies())[:1]:
        yield Case(f"snooping_on switch={switch}", look.unheard, switch)
    yield Case(f"route_missing node={node} to={to}", look.ways, node)
    yield Case(f"route_wrong node={node} to={to} via={wrong}", look.ways, node)
    yield Case(f"route_one_way source={source} target={node}", look.unanswered, node)
    yield Case(f"route_not_persistent node={node} to={to}", look.drifts, node)
    yield Case(f"service_slow node={one} service=sshd seconds={SLOW_S}", look.started, one)
    yield Case(f"service_stopped node={one} service=sshd", look.deaf, one)
    yield Case(f"name_missing server={dns} name={name}", look.names, f"{dns} {name}")
    yield Case(f"host_key_wrong node={one}", look.refusals, one)
    yield Case(f"authorized_key_wrong node={one} client={other}", look.refusals, f"{one} {other}")
    for host in [h for h in cast.hosts if site.time_server(h)][:1]:
        yield Case(f"clock_wrong node={host} seconds=30", look.clocks, host)
    if stage.lab.booted():
        yield Case("export_moved path=/srv/nfs4/bgl", look.stale, "/bgl")


def typed_in(stage: Stage, typed: str) -> Change:
    name, *words = typed.split()
    fault = FAULTS[name]
    return fault.change(stage.lab, **fault.read(words, stage.site))


def play(stage: Stage, cast: Cast) -> None:
    drawn = list(cases(stage, cast))
    ages = "service_slow"  # a daemon that was started late stays younger than its node

    with stage.healthy("who looks as each fault's `look` says finds nothing"):
        for case in drawn:
            stage.same(f"found without {case.name}", [], case.look())

    found = {}
    with stage.perturb("each fault is somewhere, one after the other, until it is found, and gone"):
        for case in drawn:
            fault = stage.make(typed_in(stage, case.typed))
            led = until(case.typed, case.look, deadline_s=SHOWS_S, poll_s=1, enough=bool)
            found[case.name] = case.where(led)
            fault.undo()
            if not case.typed.startswith(ages):
                until(f"{case.typed}: gone", case.look, deadline_s=SHOWS_S, poll_s=1, enough=lambda seen: not seen)

    with stage.judge("each look led to the very place"):
        stage.same("where each is", {case.name: case.place for case in drawn}, found)

    with stage.contrast("there is a case for each fault that this site can have"):
        lacking = set(FAULTS) - {case.name for case in drawn}
        stage.holds(
            "those without one are about what the site has not",
            lacking <= {"export_moved", "snooping_on"},
            sorted(lacking),
        )

    with stage.restore("nothing is found any more"):
        for case in (case for case in drawn if not case.typed.startswith(ages)):
            stage.same(f"found after {case.name}", [], case.look())
