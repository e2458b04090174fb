"""A switch's processor has a node's address, too: who hears it call takes it for the node.

Claim: an address that two have harms nobody while neighbours know the one and the other is silent; a broadcast for it
finds two. While the other knows its neighbours its calls from there are not answered, for the answers go to the owner.
Once it asks for them anew, each takes its hardware address for the owner's, and the owner's connections are refused;
they come back when the owner announces itself, and go with the next call. With an address of its own the other may call
whom it likes.

Cause: who is asked for its hardware address learns the asker's, whatever it knew before (RFC 826).

Source: CITA, "Xe cluster details": the switch has a local address 192.168.1.3, which is x3ib's; from the switch no node
can be pinged, while nodes ping the switch. That its pings are sent from that address is ours.
"""

from causeway.lab.faults import address_twice
from causeway.scenario.cast import Ask, Twice
from causeway.scenario.stage import Stage
from causeway.scenario.words.neighbours import announce, answered, answering, forget_all, reaching
from causeway.scenario.words.routes import pings

#: Until a neighbour that was answered is known for certain (seconds; arp(7): delay_first_probe_time, then a question).
KNOWN_S = 8


def cast(ask: Ask) -> Twice:
    return ask.twice()


def play(stage: Stage, cast: Twice) -> None:
    network, host, other, callers = cast.network, cast.host, cast.other, cast.callers
    own = stage.site.address(other, network)

    def reached() -> list[str]:
        return reaching(stage, network, callers, cast.address)

    with stage.healthy(f"all {len(callers)} callers reach {host}'s sshd, and it alone answers for {cast.address}"):
        stage.same(f"who reaches {host}", callers, reached())
        stage.same(f"who answers for {cast.address}", [host], answering(stage, callers[0], network, cast.address))

    with stage.perturb(f"{other} has {cast.address}, too"):
        twice = stage.make(address_twice(stage.lab, other, str(cast.address)))

    with stage.judge("a broadcast finds two; who knows the owner still reaches it"):
        found = answering(stage, callers[0], network, cast.address)
        stage.same(f"who answers for {cast.address}", sorted([host, other]), found)
        announce(stage, host, network)
        stage.same(f"who reaches {host}, {other} silent", callers, reached())

    with stage.judge(f"callers ping {other}, and the pings of {other} from {cast.address} are answered to {host}"):
        stage.same(f"who pings {other}", callers, [caller for caller in callers if pings(stage, caller, own)])
        stage.let_pass(KNOWN_S, f"{other} makes sure of the neighbours that have called it")
        stage.same(f"who answers {other}", [], answered(stage, other, cast.address, network, callers))

    with stage.perturb(f"{other} asks for its neighbours anew, and calls them from {cast.address}"):
        forget_all(stage, other, network)
        heard = answered(stage, other, cast.address, network, callers)

    with stage.judge(f"now they answer {other}, and nobody reaches {host}"):
        stage.same(f"who answers {other}, which has asked", callers, heard)
        stage.same(f"who reaches {host}, {other} has called", [], reached())

    with stage.contrast(f"{host} announces itself, and is reached; with an address of its own {other} takes nobody's"):
        announce(stage, host, network)
        stage.same(f"who reaches {host}, which has announced itself", callers, reached())
        twice.undo()
        forget_all(stage, other, network)
        stage.same(f"who answers {other} at {own}", callers, answered(stage, other, own, network, callers))
        stage.same(f"who reaches {host}, {other} has called from {own}", callers, reached())

    with stage.restore(f"{host} alone answers for {cast.address}"):
        stage.same("who answers, afterwards", [host], answering(stage, callers[0], network, cast.address))
