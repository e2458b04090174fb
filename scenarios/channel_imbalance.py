"""Eight streams over a channel of four links rarely get a half link each.

Claim: which link a stream takes follows from its addresses and ports by the sending end's hash policy,
and how fast it is follows from who else is on that link. Streams from a server to as many peers as there is room
for on its channel get from a part of a link to a whole one, although there is as much of a link for each.

Cause: a hash spreads streams over the members as dice would, not in turn; and each end of a channel decides
by its own setting, for what it sends.

Source: Redpaper, "Multiple streams between an NSD server and several IONs", with its table of eight rates, and
Figure 3 with its four arrows: ION read, ION write, FEN read, FEN write.
"""

from dataclasses import dataclass

from causeway.lab.changes.bonds import sends_by
from causeway.scenario.cast import Ask, Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.streams import (
    RATE_TOLERANCE,
    RATE_WHY,
    arrows,
    come_elsewhere,
    draw,
    draw_onto,
    judge_streams,
    measure_streams,
    near_rate,
    one_stream,
)

BALANCED = "balanced: as many streams on every member"
IMBALANCED = "imbalanced: more streams on one member than on another"
#: By which of four links the Redpaper's eight streams went, as their rates show: two alone, two on one, four on one.
PUBLISHED = (3, 2, 3, 0, 1, 3, 2, 3)


@dataclass(frozen=True)
class Front:
    """A second channel, whose host hashes MAC addresses: hosts behind a gateway, and servers that send to it."""

    channel: Channel
    gateway: str
    far: list[str]
    senders: list[str]


@dataclass(frozen=True)
class Cast:
    """A server whose channel spreads streams by their ports, its peers, a partner, and that one's channel."""

    server: Channel
    peers: list[str]
    partner: str
    front: Front | None


def cast(ask: Ask) -> Cast:
    server = ask.channel(by_ports=True)
    count = len(server.members)
    peers = ask.peers(server, 8 // count * count, least=count)
    partner = ask.partner(server)

    def front() -> Front:
        channel = ask.channel_of(partner, by_mac=True)
        gateway, far = ask.behind(channel.node, channel.network)
        return Front(channel, gateway, far[:2], ask.senders(channel))

    return Cast(server, peers[: len(peers) // count * count], partner, ask.maybe(front))


def verdict(per_member: str) -> str:
    """The check that both halves of this scenario share."""
    return BALANCED if len(set(per_member.split())) == 1 else IMBALANCED


def is_even(counts: list[int]) -> bool:
    return len(set(counts)) == 1


def play(stage: Stage, cast: Cast) -> None:
    server, peers, partner = cast.server, cast.peers, cast.partner

    with stage.healthy(f"one stream from {server.node} to {partner} carries what a link carries"):
        near_rate(stage, "one stream", one_stream(stage, server.node, partner, to=server.network))

    with stage.perturb("source ports are picked at random, as nuttcp and GPFS pick theirs"):
        # a fair throw in 26 is even with eight streams on four links; this scenario is about the others
        dice = draw(stage, server, peers, "t", accept=lambda counts: not is_even(counts))

    with stage.observe(f"{len(peers)} streams transmit at once, and {server.at} sees by which link each comes"):
        thrown = measure_streams(stage, server.host, dice)

    with stage.judge("the imbalance is the one computed: members, rates, bytes"):
        seen, shares = thrown.per_member(thrown.observed), thrown.expected.rates.values()
        stage.same("verdict on random ports", IMBALANCED, verdict(seen))
        stage.same(f"streams per member of {server.node}'s channel", thrown.per_member(thrown.computed), seen)
        for which, pick in (("slowest", min), ("fastest", max)):
            rate = pick(thrown.rates.values())
            stage.near(f"{which} stream", round(pick(shares), 3), rate, "Mbit/s", within=RATE_TOLERANCE, why=RATE_WHY)
        judge_streams(stage, "read, random ports", thrown)

    if len(peers) == len(PUBLISHED) and len(server.members) == len(set(PUBLISHED)):
        with stage.judge("ports that put each stream where the Redpaper's had it: two alone, two and four on a link"):
            published = measure_streams(stage, server.host, draw_onto(stage, server, peers, PUBLISHED))
            stage.same("streams per member, as published", "1 1 2 4", published.per_member(published.observed))
            judge_streams(stage, "read, as published", published)

    with stage.contrast("ports chosen so that as many streams fall on each member: the same part of a link for each"):
        even = measure_streams(stage, server.host, draw(stage, server, peers, "t", accept=is_even))
        stage.same("verdict on chosen ports", BALANCED, verdict(even.per_member(even.observed)))
        judge_streams(stage, "read, chosen ports", even)

    if cast.front:
        front, far = cast.front.channel, cast.front.far * 2
        to = stage.site.known_by(far[0]).network
        with stage.judge(f"{front.node} writes: all its frames beyond go to {cast.front.gateway}'s MAC, by one member"):
            one_mac = measure_streams(stage, front.host, draw(stage, front, far, "t", to=to))
            carried = [member for member, count in one_mac.sent.items() if count > sum(one_mac.sent.values()) / 100]
            stage.same(f"members of {front.node}'s channel that carried them", 1, len(carried))
            judge_streams(stage, f"{front.node} writes through {cast.front.gateway}, layer2", one_mac)

        with stage.contrast(f"with layer3+4 at {front.node} the same streams use the members that their ports give"):
            stage.make(sends_by(stage.lab, front.host, "layer3+4"))
            streams = draw(stage, front, far, "t", to=to)
            both = measure_streams(stage, front.host, streams, policies={front.node: "layer3+4"})
            judge_streams(stage, f"{front.node} writes through {cast.front.gateway}, layer3+4", both)

    with stage.judge(f"peers write: {server.at} decides, and {server.node}'s policy has no say"):
        written = measure_streams(stage, server.switch, draw(stage, server, peers, "r"))
        judge_streams(stage, f"write, {server.at} decides", written)
        computed, observed = (
            come_elsewhere(stage, written, m, server.host) for m in (written.computed, written.observed)
        )
        stage.same(f"streams that come where {server.node} would not send", computed, observed)

    if cast.front:
        front = cast.front.channel
        with stage.judge(f"{front.node} reads from {len(cast.front.senders)} servers: {front.at} decides on its links"):
            read = measure_streams(stage, front.switch, draw(stage, front, cast.front.senders, "r"))
            judge_streams(stage, f"{front.node} reads, {front.at} decides", read)
            ways = {"read": (server.node, peers[0]), "write": (peers[0], server.node)}
            ways |= {"front reads": (server.node, front.node), "front writes": (front.node, server.node)}
            stage.show(arrows(stage, server.network, ways))

    with stage.restore("ports and policies are as before, and one stream is as fast as at first"):
        near_rate(stage, "one stream, afterwards", one_stream(stage, server.node, partner, to=server.network))
