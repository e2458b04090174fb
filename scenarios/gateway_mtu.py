"""Behind a gateway whose adapter takes 8 K, reads stall and writes do not, until the nodes' routes say 8 K.

Claim: with the gateway's MTU in its route a node reads and writes. Without it what the server sends in larger packets
never arrives, and nobody is told; what fits does. What the node writes arrives: its gateway tells it. Who is behind a
gateway that takes all is not touched, and pays nothing; the shorter packets cost a thousandth.

Cause: both ends agree on packets by their own adapters' sizes; a packet that is too large for the gateway's adapter is
dropped where it comes in, while one that the gateway should send on is refused with a message.

Source: GPFS at NERSC, section V: "we had to set different MTUs for the nodes that accessed NGF through the nodes with
the NetXen cards and for nodes which access NGF through nodes with the Chelsio cards".
"""

from causeway.lab.changes.change import Change, Step
from causeway.lab.probes import nuttcp
from causeway.plan.paths import Ways
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Short
from causeway.scenario.stage import Stage
from causeway.scenario.words.packets import ARRIVES, SEGMENT, STALLS, largest_packet, one_write, told
from causeway.scenario.words.streams import near_rate, one_stream

#: A GPFS block of the smallest usual size, and what is a small request.
BLOCK, SMALL = 256 * 1024, 4096
#: An adapter takes packets that are longer by a VLAN tag.
TAG = 4


def cast(ask: Ask) -> Short:
    return ask.short()


def play(stage: Stage, cast: Short) -> None:
    lab, site, client, server, other = stage.lab, stage.site, cast.client, cast.server, cast.other
    to = {node: site.known_by(node).address for node in (client, server, other)}
    fits, larger, rows = cast.mtu - SEGMENT, cast.mtu - SEGMENT + TAG + 1, list[list[str]]()
    everything = dict.fromkeys((SMALL, fits, larger, BLOCK), ARRIVES)

    def judge(when: str, sender: str, receiver: str, sizes: dict[int, str]) -> None:
        """What becomes of writes of some sizes from one to the other."""
        with nuttcp.servers(lab, [receiver]):
            seen = {size: one_write(stage, sender, to[receiver], size) for size in sizes}
        stage.same(f"{when}: {sender} to {receiver}, by bytes", sizes, seen)
        rows.append([when, f"{sender} to {receiver}", *seen.values()])

    def judge_both(when: str, node: str) -> None:
        judge(when, server, node, everything)
        judge(when, node, server, everything)

    def judge_rate(when: str, node: str) -> None:
        near_rate(stage, f"one stream to {node}, {when}", one_stream(stage, server, node))

    with stage.healthy("both read and write"):
        for node, mtu in ((client, cast.mtu), (other, site.mtu(Ways(site).path(other, to[server]).hops[0].sender))):
            stage.same(f"largest packet from {node}", mtu, largest_packet(stage, node, to[server], most=mtu + 64))
            judge_both("as built", node)

    leaving = Ways(site).leaves(client, to[server])
    with stage.perturb(f"{client}'s route to {server} has no MTU"):
        words = [str(site.destination(leaving.route)), "via", str(leaving.next_hop)] if leaving.route else []
        steps = (
            Step(client, ("ip", "route", "replace", *words, *mtu), plugged=True) for mtu in ((), ("mtu", str(cast.mtu)))
        )
        missing = stage.make(Change(f"{client}'s route has no MTU", (next(steps),), (next(steps),)))
        before = {node: told(stage, node) for node in (client, server)}

    with stage.judge("what it reads stalls where it does not fit, and nobody is told"):
        judge("no MTU, it reads", server, client, everything | {larger: STALLS, BLOCK: STALLS})
        stage.same("ICMP messages to the server", 0, told(stage, server) - before[server])

    with stage.judge(f"what it writes arrives: {cast.gateway} tells it"):
        judge("no MTU, it writes", client, server, everything)
        stage.holds(f"{client} was told", told(stage, client) > before[client])
        learned = lab.on(client, "ip", "route", "get", str(to[server])).must().split()
        stage.same("the MTU that it has learned", str(cast.mtu), learned[learned.index("mtu") + 1])
        judge_both("no MTU", other)

    with stage.contrast("with the MTU in its route it reads and writes, at the rate of its packets"):
        missing.undo()
        judge_both("MTU back", client)
        judge_rate("8 K", client)
        judge_rate("full packets", other)
        stage.show(Table("One write", ["when", "way", *(f"{size} bytes" for size in everything)], rows))

    with stage.restore("as before"):
        most = cast.mtu + 64
        stage.same(f"largest packet from {client}", cast.mtu, largest_packet(stage, client, to[server], most=most))
