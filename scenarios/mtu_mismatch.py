"""Where one hop takes smaller packets than both ends, small I/O works and large I/O never ends.

Claim: with 9000 at a server and its partner and 8192 at the switch ports between, a write of up to 8140 bytes arrives,
and a larger one never does; nobody is told. With the right MTU in the route, or with a TCP that probes, all of them
arrive. Where the limit is a router's, the router says so, the sender learns 8192, and nothing stalls.

Cause: the ends agree on a segment size by their own MTUs; what is in between has no say, and a switch cannot answer.

Source: GPFS at NERSC, section V: cards whose jumbo frames "was 8K instead of 9K", so that "we had to set different
MTUs for the nodes"; RFC 1191, RFC 4821.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address

from causeway.lab.changes.change import Change, Step, together
from causeway.lab.changes.settings import kernel_setting
from causeway.lab.clock import Watch
from causeway.lab.faults import port_mtu
from causeway.lab.probes import nuttcp
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.paths import path
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.packets import (
    ARRIVES,
    SEGMENT,
    STALLS,
    all_take,
    interface_mtu,
    largest_packet,
    one_write,
    slowest_mbit,
    told,
)
from causeway.scenario.words.streams import ALONE_TOLERANCE, one_stream

JUMBO, LIMIT = 9000, 8192
#: A GPFS block of the smallest usual size, and what is a small request.
BLOCK, SMALL = 256 * 1024, 4096
FITS = LIMIT - SEGMENT


@dataclass(frozen=True)
class Cast:
    """A server and its partner at a switch, and a host that the partner reaches through a router."""

    server: Channel
    partner: str
    router: str
    far: str


def cast(ask: Ask) -> Cast:
    server = ask.channel()
    partner = ask.partner(server)
    router, far = ask.behind(partner, server.network, least=1)
    return Cast(server, partner, router, far[0])


def play(stage: Stage, cast: Cast) -> None:
    lab, site, server, partner, far = stage.lab, stage.site, cast.server.node, cast.partner, cast.far
    to_partner, to_far = site.address(partner, cast.server.network), site.known_by(far).address
    there, beyond = path(site, server, to_partner), path(site, partner, to_far)
    usual = min(site.mtu(cast.server.port(cast.server.members[0])), JUMBO)

    def judge_writes(when: str, sizes: dict[int, str]) -> None:
        with nuttcp.servers(lab, [partner]):
            for size, due in sizes.items():
                stage.same(f"{when}: {size} bytes to {partner}", due, one_write(stage, server, to_partner, size))

    def judge_rate(when: str, mtu: int) -> None:
        due = round(tcp_goodput_mbit(slowest_mbit(stage, server, to_partner), mtu), 3)
        rate, why = one_stream(stage, server, partner, to=cast.server.network).rate_mbit, "of the slowest wire or node"
        stage.near(f"one stream, {when}", due, rate, "Mbit/s", within=ALONE_TOLERANCE, why=why)

    def largest(node: str, to: IPv4Address) -> int:
        return largest_packet(stage, node, to, most=JUMBO)

    everything = dict.fromkeys((SMALL, FITS, FITS + 1, BLOCK), ARRIVES)

    with stage.arrange(f"the way from {server} to {partner}, and on through {cast.router} to {far}, becomes jumbo"):
        back = path(site, partner, site.address(server, cast.server.network))
        stage.make(all_take(stage, [there, back, beyond, path(site, far, site.known_by(partner).address)], JUMBO))

    with stage.healthy("it is jumbo from end to end"):
        stage.same(f"largest packet to {partner}", JUMBO, largest(server, to_partner))
        stage.same(f"largest packet, {partner} to {far}", JUMBO, largest(partner, to_far))
        judge_writes("jumbo", everything)
        judge_rate("jumbo", JUMBO)

    with stage.perturb(f"{cast.server.at}'s ports to {partner} take 8 K"):
        ports = [cable.sender for cable in there.hops[-1].segments[-1].cables]
        narrow = stage.make(together("ports of 8 K", (port_mtu(lab, p.node, p.device, LIMIT) for p in ports)))
        told_before = told(stage, server, partner)

    with stage.judge("what fits in 8 K arrives, what does not never does, and nobody is told"):
        stage.same("largest packet, 8 K port", LIMIT, largest(server, to_partner))
        judge_writes("8 K port", everything | {FITS + 1: STALLS, BLOCK: STALLS})
        stage.same("ICMP messages to either end", 0, told(stage, server, partner) - told_before)

    with stage.contrast("with the right MTU in the route everything arrives, at the rate of 8 K packets"):
        words = (str(to_partner), "dev", cast.server.host.name, "mtu", str(LIMIT))
        right = Change(
            f"{server}'s route to {partner} has an MTU",
            (Step(server, ("ip", "route", "replace", *words)),),
            (Step(server, ("ip", "route", "flush", str(to_partner))),),
        )
        made = stage.make(right)
        judge_writes("route with MTU", everything)
        judge_rate("8 K", LIMIT)
        made.undo()

    with stage.contrast("TCP that probes finds a size that passes, after some seconds of silence"):
        probing = stage.make(kernel_setting(lab, server, "net.ipv4.tcp_mtu_probing", 1))
        with nuttcp.servers(lab, [partner]):
            watch = Watch()
            stage.same(f"probing: {BLOCK} bytes", ARRIVES, one_write(stage, server, to_partner, BLOCK))
        seconds = watch.virtual_s
        probing.undo()
        stage.holds("probing: silent for more than a second", seconds > 1, f"{seconds:.1f} s")
        stage.show(Table("A write of 256 KiB", ["with", "takes s"], [["tcp_mtu_probing = 1", f"{seconds:.2f}"]]))

    with stage.contrast(f"where the 8 K are a router's, {partner} is told, and nothing stalls"):
        narrow.undo()
        out = beyond.hops[1].sender
        stage.make(interface_mtu(lab, out.node, out.device, LIMIT))
        stage.defer(lambda: lab.on(partner, "ip", "route", "flush", "cache").must(), "nobody remembers it")
        with nuttcp.servers(lab, [far]):
            stage.same(f"router: {BLOCK} bytes, {partner} to {far}", ARRIVES, one_write(stage, partner, to_far, BLOCK))
        learned = lab.on(partner, "ip", "route", "get", str(to_far)).must().split()
        stage.same(f"router: MTU that {partner} has learned", str(LIMIT), learned[learned.index("mtu") + 1])
        stage.holds(f"router: {partner} was told", told(stage, server, partner) > told_before)

    with stage.restore("every port is as before, and one stream is as fast as it is with usual packets"):
        judge_rate("afterwards", min(usual, *(site.mtu(s.cables[0].sender) for h in there.hops for s in h.segments)))
        stage.same(f"largest packet to {partner}, afterwards", usual, largest(server, to_partner))
