"""A channel of which one end speaks LACP and the other does not has all its lights on, and is none.

Claim: where a host speaks LACP and its switch's end is just on, the host takes up one member, and exactly those who
are answered by another cannot be reached. The other way round the switch takes up none, and nobody can. Both static,
all is well, until a cable is in a wrong port: then exactly the connections that the host sends by it are lost, for
ever. With LACP at both ends that cable is left out, and none is lost. No carrier says a word of any of it.

Cause: a static end sends by every member that has a carrier. LACP sends by those alone whose other end has said that
it belongs to the same channel; where nobody says anything a host may take one port by itself, and a switch none.

Source: Redpaper, "Setting up EtherChannel on the AIX 5L NSD servers" (modes standard and 8023ad), "Setting up Linux
bonding on the SN and FEN(s)" (balance-xor), "EtherChannel on Cisco" ("Make sure that you use LACP"); bonding.rst,
802.3ad; IEEE 802.1AX.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from causeway.lab.changes.lacp import static_host
from causeway.lab.changes.switch_ends import static_switch, wrong_port
from causeway.scenario.cast import Ask, Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.channels import TRIED_PORTS, Try, agreed, lights, lost, members_up, steady, tries

#: What a Catalyst sends by when nobody has set anything else, in hardware that looks at MAC addresses alone.
BY = "mac source"
#: LACP gives an end up after three frames, of which in slow rate one comes in 30 s; and it begins anew as slowly.
WITHIN_S = 200


@dataclass(frozen=True)
class Cast:
    """A server's channel, and the peers that it opens connections to."""

    server: Channel
    peers: list[str]


def cast(ask: Ask) -> Cast:
    return Cast(*ask.remade(16, by=BY))


def play(stage: Stage, cast: Cast) -> None:
    lab, server = stage.lab, cast.server

    def judge(when: str, lose: Callable[[Try], bool]) -> list[Try]:
        """Who asked for an address while nobody heard gives up after three seconds, and asks anew: tried until then."""
        of, due, seen = list[Try](), list[str](), list[str]()

        def otherwise() -> list[str]:
            nonlocal of, due, seen
            of = tries(stage, server, cast.peers, BY, TRIED_PORTS)
            due, seen = sorted(each.label for each in of if lose(each)), lost(stage, server, of)
            return sorted(set(due) ^ set(seen))

        stage.until(f"otherwise than computed, {when}", otherwise, is_=[], within_s=15)
        stage.same(f"connections that cannot be opened, {when}", due, seen)
        return of

    def up() -> list[str]:
        return members_up(stage, server.host)

    def agreeing() -> list[str]:
        return up() + members_up(stage, server.switch)

    stage.defer(lambda: agreed(stage, server), "the channel has agreed again")
    with stage.healthy("both ends speak LACP, all members are in, and every connection can be opened"):
        stage.same("members in, LACP at both ends", server.members, up())
        judge("LACP at both ends", lambda _: False)

    with stage.perturb(f"{server.at}'s end is made static, and {server.node} goes on speaking LACP"):
        switch = stage.make(static_switch(lab, server.switch, BY))

    with stage.observe(f"{server.node} hears of no partner, and takes up one member"):
        taken = stage.until("members in", up, is_=lambda seen: len(seen) == 1, within_s=WITHIN_S)

    with stage.judge("whoever is answered by another member is lost, and every carrier is there"):
        judge(f"{server.at} static", lambda each: each.back not in taken)
        stage.same(f"members with a carrier, {server.at} static", server.members, lights(stage, server))

    with stage.perturb(f"the other way round: {server.at} speaks LACP, and {server.node} is made static"):
        switch.undo()
        host = stage.make(static_host(lab, server.host))

    with stage.observe(f"{server.at} hears of no partner, and takes up nothing"):
        stage.until("members in at the switch", lambda: members_up(stage, server.switch), is_=[], within_s=WITHIN_S)

    with stage.judge("nobody is reached, and every carrier is there"):
        judge(f"{server.node} static", lambda _: True)
        stage.same(f"members with a carrier, {server.node} static", server.members, lights(stage, server))

    with stage.contrast("with both ends static every connection can be opened"):
        switch = stage.make(static_switch(lab, server.switch, BY))
        steady(stage, "members in, both static", up, is_=server.members)
        both = judge("both static", lambda _: False)

    with stage.perturb("both ends are static, and a cable is in a wrong port"):
        wrong = Counter(each.there for each in both).most_common(1)[0][0]
        stage.make(wrong_port(server.switch, server.opposite(wrong)))
        steady(stage, "members with a carrier", lambda: lights(stage, server), is_=server.members)

    with stage.judge("what the host sends by it is lost, and nothing notices"):
        judge("wrong port, both static", lambda each: each.there == wrong)
        stage.same("members in, wrong port, both static", server.members, up())

    with stage.contrast("with LACP at both ends the cable in the wrong port is left out, and nothing is lost"):
        host.undo()
        switch.undo()
        left = [member for member in server.members if member != wrong]
        theirs = [server.opposite(member) for member in left]
        steady(stage, "members in at both ends, wrong port, LACP", agreeing, is_=left + theirs, within_s=WITHIN_S)
        judge("wrong port, LACP at both ends", lambda _: False)
        stage.same("members with a carrier, wrong port, LACP", server.members, lights(stage, server))

    with stage.restore("all members are in, and every connection can be opened"):
        stage.same("members in, afterwards", server.members, up())
        judge("afterwards", lambda _: False)
