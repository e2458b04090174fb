"""Round-robin can give one stream four links, or take it the one that it had.

Claim: with balance-rr nsd01 sends a quarter of a stream by each of its four links. Through zam870, which has no
round-robin, the stream still gets no more than one link, for the switch sends all of it to nsd02 by one. With the
members patched through one by one, and adapters that coalesce what they receive, packets arrive out of order, TCP sends
again what was never lost, and the stream loses most of the one link that it had; with adapters that hand on every frame
at once it gets four, or nearly.

Cause: the order of packets is nobody's promise once they travel on several links. The gain is the round-robin sender's
alone, and only where all links go on to the receiver.

The Redpaper quotes the bonding HOWTO of its day: "you should not expect more than 2.3x worth of bandwidth", however
many links. Today's names no number, but the reasons: "packet coalescing", and switches that choose a port by address.
Here CPUs take no time, and round trips hardly any, so that these alone decide; what is measured lies on both sides.

Source: Redpaper, "EtherChannel (or channel bonding) setup": "only the round-robin mode can improve single-stream
performance. But it also carries the risk that packets arrive out-of-order"; Linux, networking/bonding.rst, 12.1.1,
balance-rr.
"""

from dataclasses import dataclass

from causeway.lab import nuttcp
from causeway.lab.counters import difference, kernel_counters, sent_bytes
from causeway.lab.nuttcp import Stream
from causeway.model.site import Port
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import slb_member
from causeway.report.result import Table
from causeway.scenario.bonds import patch, round_robin
from causeway.scenario.stage import Stage
from causeway.scenario.streams import SECONDS, SOURCE_PORTS, address, end_of

SENDER, RECEIVER = "nsd01", "nsd02"
#: What the Redpaper has of the bonding HOWTO.
HOWTO_FACTOR = 2.3
NO_GAIN, GAIN = "no more than one link", "more than one link"


@dataclass(frozen=True)
class Seen:
    """What one stream did: its rate, what each cable had of it, and what TCP made of the order of its packets."""

    rate_mbit: float
    sent: dict[str, int]  # by the sender's members
    handed_on: dict[str, int]  # by the switch's, towards the receiver
    again: int  # segments of it that TCP sent again
    needless: int  # those of them of which the receiver says that it had them
    out_of_order: int  # segments that the receiver kept until an earlier one came

    def shares(self, sent: dict[str, int]) -> str:
        """Hundredths of the bytes by each member."""
        return " ".join(f"{100 * count / sum(sent.values()):.0f}" for count in sent.values())


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    servers = [end_of(stage, node, "zam870") for node in (SENDER, RECEIVER)]
    switches = [end_of(stage, "zam870", node) for node in (SENDER, RECEIVER)]
    links = len(servers[0].members)
    wire = tcp_goodput_mbit(1000, site.topology.networks["b"].mtu)

    def stream() -> Seen:
        port = stage.random.choice(SOURCE_PORTS)
        alone = Stream(SENDER, RECEIVER, address(stage, RECEIVER, "b"), f"{SENDER}:t:{RECEIVER}", "t", port, 5011)
        before, told, kept = sent_by(), needless(), out_of_order()
        with nuttcp.servers(lab, [RECEIVER]), nuttcp.running(lab, [alone], SECONDS) as transmitting:
            (measured,) = transmitting.results()
        sent, handed_on = (difference(*counts) for counts in zip(before, sent_by(), strict=True))
        counts = (measured.retransmits, needless() - told, out_of_order() - kept)
        return Seen(measured.rate_mbit, sent, handed_on, *counts)

    def needless() -> int:
        return kernel_counters(lab, SENDER)["TcpExtTCPDSACKRecvSegs"]

    def out_of_order() -> int:
        return kernel_counters(lab, RECEIVER)["TcpExtTCPOFOQueue"]

    def sent_by() -> tuple[dict[str, int], dict[str, int]]:
        return sent_bytes(lab, SENDER, servers[0].members), sent_bytes(lab, "zam870", switches[1].members)

    def verdict(seen: Seen) -> str:
        """The check that all parts share."""
        return GAIN if seen.rate_mbit > 1.01 * wire else NO_GAIN

    rows = []

    def note(how: str, seen: Seen) -> None:
        counts = (seen.again, seen.needless, seen.out_of_order)
        rows.append([how, f"{seen.rate_mbit:.1f}", f"{seen.rate_mbit / wire:.2f}", *map(str, counts)])

    def coalesce(gro: str, flush_ns: int, defer: int) -> None:
        """Whether, and how long, receiving adapters gather packets before they hand them on (images/base/adapters)."""
        settings = f"echo {flush_ns} >gro_flush_timeout; echo {defer} >napi_defer_hard_irqs; ethtool -K $d gro {gro}"
        for end in servers:
            lab.on(end.node, "sh", "-c", f"for d; do cd /sys/class/net/$d; {settings}; done", "sh", *end.members).must()

    with stage.healthy("by LACP and a hash one stream takes one member, and one link's rate"):
        hashed = stream()
        stage.compare("one stream, LACP", wire, hashed.rate_mbit, "Mbit/s", 0.001, "the wire's own rate")
        stage.compare("segments sent again, LACP", 0, hashed.again, "segments", 0)
        note("LACP, layer3+4", hashed)

    with stage.perturb("both servers send round-robin, and zam870's ends of their channels do without LACP"):
        round_robin(stage, servers, switches)

    with stage.observe("one stream through the switch"):
        switched = stream()
        note("round-robin through zam870", switched)

    with stage.judge(
        "a quarter leaves by each link, all of it arrives by one, and the rate is no more than that one's"
    ):
        due = " ".join([f"{100 / links:.0f}"] * links)
        stage.compare("per cent by each of nsd01's members", due, switched.shares(switched.sent), "", 0)
        chosen = slb_member(mac_address(site, Port(SENDER, "bond0")), switches[1].members)
        due = " ".join("100" if member == chosen else "0" for member in switches[1].members)
        stage.compare("per cent by each of zam870's members to nsd02", due, switched.shares(switched.handed_on), "", 0)
        stage.compare("round-robin through zam870", NO_GAIN, verdict(switched), "", 0)

    with stage.perturb("zam870 patches each member of nsd01's channel through to the same one of nsd02's"):
        patch(stage, *switches)

    with stage.observe("one stream over four links of its own"):
        scrambled = stream()
        note("round-robin, patched through, coalescing", scrambled)

    with stage.judge("TCP takes disorder for loss, and the stream gets no more than one link, although it has four"):
        stage.compare("patched through, adapters coalesce", NO_GAIN, verdict(scrambled), "", 0)
        stage.compare("less than half a link is left", True, scrambled.rate_mbit < wire / 2, "", 0)
        stage.compare("packets came out of order", True, scrambled.out_of_order > 0, "", 0)
        why = "the last ones' acknowledgements may be under way"
        stage.compare("sent again: of what was never lost", scrambled.again, scrambled.needless, "segments", 0.05, why)

    with stage.contrast("with adapters that hand on every frame at once it gets four links"):
        stage.defer(lambda: coalesce("on", 100_000, 20))
        coalesce("off", 0, 0)
        ordered = stream()
        note("round-robin, patched through, no coalescing", ordered)
        stage.compare("patched through, no coalescing", GAIN, verdict(ordered), "", 0)
        why = "the wires are full; what is sent again takes its part of them, a fifteenth at most in six runs"
        stage.compare("one stream, four links", round(links * wire, 3), ordered.rate_mbit, "Mbit/s", 0.1, why)
        rows.append(["bonding HOWTO, as in the Redpaper", "", f"at most {HOWTO_FACTOR}", "", "", ""])
        columns = ["how", "Mbit/s", "links' worth", "sent again", "needlessly", "out of order"]
        stage.show(Table("One stream", columns, rows))

    with stage.restore("LACP has agreed again, and one stream gets one link's rate"):
        again = stream()
        stage.compare("one stream, afterwards", wire, again.rate_mbit, "Mbit/s", 0.001, "the wire's own rate")
        stage.compare("segments sent again, afterwards", 0, again.again, "segments", 0)
