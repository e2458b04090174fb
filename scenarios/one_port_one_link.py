"""A daemon serves all its clients from one port; a channel that hashes that port alone serves them by one link.

Claim: a server sends by AIX's src_port. All streams from its daemon's port 1191 leave by one link of its channel, and
share it, while the others stand idle. By dst_port the same becomes of what it sends to port 1191 of others, as it does
where they own the filesystem. By src_dst_port both ways take several links, as computed.

Cause: a hash is of what it looks at. A well-known port is the same for all connections, and only the other side's is
random; which of the two is the source depends on who sends.

Source: Redpaper, "Setting up EtherChannel on the AIX 5L NSD servers": "the source port will always be 1191 [...]. But
using both the source and destination port also supports the reverse case"; IBM, AIX 7.3, "EtherChannel load-balancing
options".
"""

from dataclasses import dataclass

from causeway.lab.changes.bonds import sends_by
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import Outcome, judge_members, measure_streams, one_port

#: Where the filesystem's daemons listen.
PORT = 1191
SERVES, ASKS = f"from port {PORT}", f"to port {PORT}"
BOTH = "src_dst_port"
ONE, SEVERAL = "one link", "several links"


@dataclass(frozen=True)
class Cast:
    """A server's channel, and the peers that it sends to."""

    server: Channel
    peers: list[str]


def cast(ask: Ask) -> Cast:
    server = ask.channel()
    return Cast(server, ask.peers(server, 8, least=2))


def play(stage: Stage, cast: Cast) -> None:
    server, rows = cast.server, []

    def sent(way: str, policy: str) -> Outcome:
        """Ports as they fall on several links by src_dst_port, whatever the server sends by."""
        direction = "s" if way == SERVES else "t"
        streams = one_port(stage, server, cast.peers, PORT, direction, BOTH)
        seen = measure_streams(stage, server.host, streams, policies={server.node: policy})
        split, total = seen.per_member(seen.observed), sum(seen.rates.values())
        rows.append([policy, way, split, f"{total:.1f}"])
        return seen

    def judge(way: str, policy: str, due: str, seen: Outcome) -> None:
        """The check that all parts share."""
        used = set(seen.observed.values())
        stage.same(f"{policy}, {way}", due, ONE if len(used) == 1 else SEVERAL)
        stage.same(f"{policy}, {way}: streams per member", *map(seen.per_member, (seen.computed, seen.observed)))
        judge_members(stage, f"{policy}, {way}", seen)

    with stage.arrange(f"{server.node} sends by AIX's {BOTH}, as the Redpaper's servers did"):
        stage.make(sends_by(stage.lab, server.host, BOTH))

    with stage.healthy("what its daemon sends, and what it sends to others' daemons, takes several links"):
        for way in (SERVES, ASKS):
            judge(way, BOTH, SEVERAL, sent(way, BOTH))

    with stage.perturb("it sends by src_port"):
        other = stage.make(sends_by(stage.lab, server.host, "src_port"))

    with stage.observe("its daemon sends to all its clients"):
        served = sent(SERVES, "src_port")

    with stage.judge("all of it leaves by one link, and the others stand idle"):
        judge(SERVES, "src_port", ONE, served)

    with stage.perturb("it sends by dst_port"):
        other.undo()
        other = stage.make(sends_by(stage.lab, server.host, "dst_port"))

    with stage.observe("it sends to others' daemons"):
        asked = sent(ASKS, "dst_port")

    with stage.judge("all of that leaves by one link"):
        judge(ASKS, "dst_port", ONE, asked)

    with stage.contrast(f"with both ports in the hash, {BOTH}, both ways take several links"):
        other.undo()
        for way in (SERVES, ASKS):
            judge(way, BOTH, SEVERAL, sent(way, BOTH))
        columns = ["policy", "streams", f"on {', '.join(server.members)}", "all together, Mbit/s"]
        stage.show(Table("Streams on each link", columns, rows))

    with stage.restore("it sends by its own policy, and its daemon's streams are where that says"):
        own = sent(SERVES, server.host.hash_policy)
        stage.same("streams per member, afterwards", *map(own.per_member, (own.computed, own.observed)))
