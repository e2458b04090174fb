"""A channel that loses a link loses no stream, and its share of the rate.

Claim: when one of the cables of a server's channel is pulled, the streams that were on it go on over another member,
and the streams to all peers get what the hash policy gives them on the members that are left. With the cable back it
is all of them again.

Cause: both ends see the carrier go; the bond takes the member out of its table, and the same hash is now taken
modulo one less, so that streams on other members may move, too.

Source: Redpaper, "EtherChannel setup" and "Multiple streams between an NSD server and several IONs"; bonding.rst
(miimon, xmit_hash_policy).
"""

from dataclasses import dataclass

from causeway.lab.faults import link_down
from causeway.plan.paths import without_member
from causeway.scenario.cast import Ask, Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.channels import agreed, members_up
from causeway.scenario.words.streams import draw, judge_streams, measure_streams, transmitting


@dataclass(frozen=True)
class Cast:
    """A server's channel, and the peers that it sends to."""

    server: Channel
    peers: list[str]


def cast(ask: Ask) -> Cast:
    server = ask.channel()
    return Cast(server, ask.peers(server, 8))


def play(stage: Stage, cast: Cast) -> None:
    server, peers = cast.server, cast.peers
    pulled = server.members[1]
    left = [member for member in server.members if member != pulled]

    def up() -> list[str]:
        return members_up(stage, server.host)

    def judge(title: str, channel: Channel = server) -> None:
        judge_streams(stage, title, measure_streams(stage, channel.host, draw(stage, channel, peers, "t")))

    with stage.healthy(f"all {len(server.members)} members are up, and {len(peers)} streams get what is computed"):
        stage.same("members up", server.members, up())
        judge("all members")

    with stage.perturb(f"the cable of {server.node}'s {pulled} is pulled while they transmit"):
        streams = draw(stage, server, peers, "t")
        with transmitting(stage, streams) as running:
            cable = stage.make(link_down(stage.lab, server.node, pulled))
            results = running.results()

    with stage.observe("the bond goes on with the others"):
        stage.until("the member is out", up, is_=left, within_s=10)

    with stage.judge("no stream was lost, and they get what is computed for the members that are left"):
        stage.same("streams that went on to their end", len(streams), len(results))
        stage.same("members up, cable pulled", left, up())
        with stage.as_if(without_member(stage.site, server.port(pulled))):
            judge("one member less", server.without(pulled))

    with stage.contrast("with the cable back it is all members again, as computed"):
        cable.undo()
        stage.until("the member is in", up, is_=server.members, within_s=10)
        agreed(stage, server)  # what the switch sends has moved, too, and does not move back by itself
        judge("all members again")

    with stage.restore("all members are up"):
        stage.same("members up, afterwards", server.members, up())
