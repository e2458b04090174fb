"""Streams from all gateways at servers with two interfaces each: what all interfaces carry, or half if half are used.

Claim: where streams are mapped to the servers' interfaces as fairly as can be, all of them together have what these
carry, in either direction; mapped to half of the servers they have what is there, however many senders there are. With
fewer senders than interfaces it is what the senders' links carry.

Cause: each interface's link is shared by the streams that end there, and by no other.

Source: LLNL, milestone 464, "Demonstration Details" (netperf from all pairs of ends, summed up: 3301 MB/s written
for 14 servers with two Gigabit interfaces each) and Appendix A ("we map each client to an interface on the server as
fairly as possible"; two clients on each of the routers).
"""

from causeway.plan.filesystems.spread import DIRECTIONS, Direction
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Platforms
from causeway.scenario.stage import Stage
from causeway.scenario.words.platforms import Stream, carried_mb, fairly, leg_mb

WITHIN = 0.01
WHY = "the start and end of streams are not at the very same moment"


def cast(ask: Ask) -> Platforms:
    return ask.platforms()


def play(stage: Stage, cast: Platforms) -> None:
    site, servers = stage.site, cast.servers
    link_mb = leg_mb(stage, cast)
    rows: list[list[str]] = []

    def links(title: str, streams: list[Stream], due: int, ways: tuple[Direction, ...] = DIRECTIONS) -> None:
        """What streams have together, in links' rates."""
        for way in ways:
            seen = carried_mb(stage, title, streams, way)
            stage.near(f"{title}, {way}: in links", due, round(seen / link_mb, 2), "", within=WITHIN, why=WHY)
            rows.append([title, way, f"{due * link_mb:.1f}", f"{seen:.1f}"])

    fair = fairly(site, cast, cast.gateways, servers)
    interfaces = len(servers) * len(cast.networks)
    with stage.healthy(f"from {len(cast.gateways)} gateways to all {interfaces} interfaces of {len(servers)} servers"):
        links("fairly", fair, min(len(fair), interfaces))

    half = servers[: len(servers) // 2]
    with stage.perturb(f"the streams go to {len(half)} servers alone"):
        unfair = fairly(site, cast, cast.gateways, half)

    with stage.judge("they have what the interfaces of these carry, and the others are idle"):
        links("to half of the servers", unfair, min(len(unfair), len(half) * len(cast.networks)))

    with stage.contrast("clients with a link each, fewer than interfaces, have what their own links carry"):
        direct = fairly(site, cast, cast.direct, servers)
        links("directly", direct, min(len(direct), interfaces))

    with stage.restore("fairly again"):
        links("afterwards", fair, min(len(fair), interfaces), ("write",))
        stage.show(Table("MB/s of all streams", ["mapped", "", "computed", "measured"], rows))
