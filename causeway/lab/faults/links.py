"""Cables that are pulled, silent, lossy, late or slow, and ports for small packets.

One member of a channel is a cable like any other.
"""

import json

from causeway.errors import BadInput
from causeway.lab.changes.change import Change, Step
from causeway.lab.faults.parameters import Device, MbitPerSecond, Milliseconds, Mtu, NodeName, Percent
from causeway.lab.lab import Lab
from causeway.model.site import Cable
from causeway.model.thing import Port
from causeway.plan.bounds import bounds, leaves_mbit, mbit

#: How adapters queue below their shaper (nodes/base/adapters; tests/unit compares).
FAIR_QUEUE = "parent 1: handle 10: fq_codel flows 16384"
#: The shaper itself, which is the wire's rate (nodes/base/adapters).
SHAPER = "root handle 1: tbf rate {rate}mbit burst 32k latency 10ms overhead 24"
#: Below it, in a long cable, what holds each frame back, and the queue below that (nodes/base/adapters). The limit is
#: of frames under way: a second of full ones at 100 Gbit/s.
LONG = "parent 1: handle 20: netem limit 10000000 delay {ms:g}ms"
LONG_QUEUE = "parent 20: handle 30: fq_codel flows 16384"
#: The handle of a fault's.
_FAULT = "21:"


def link_down(lab: Lab, node: NodeName, device: Device) -> Change:
    """A cable is pulled: both of its ends lose their carrier.

    Injected: one end is set down, the one without an address of its own, for the other would lose its routes, too.
    Triggers: `ip link` shows NO-CARRIER or DOWN at both ends; a channel takes the member out at once (MII Status: down)
    and shares what it sends among those that are left. What a balance-slb switch has moved does not move back by
    itself after the undo (`ovs-appctl bond/migrate`; in scenarios `deal_buckets`).
    Look: compare what each end of each cable says of its carrier, and of a channel how many members carry.
    """
    end = min(_cable(lab, node, device).ends, key=lambda end: end.device in lab.site.nodes[end.node].interfaces)
    return Change(f"the cable of {node}:{device} is pulled", (_ip(end, "down"),), (_ip(end, "up"),))


def link_silent(lab: Lab, node: NodeName, device: Device) -> Change:
    """A cable carries nothing, in neither direction, and both of its ends keep their carrier.

    Injected: each end sends and counts what it sends as before, and drops all that arrives (a tc filter) before
    anything sees it but the adapter's own counter and tcpdump.
    Triggers: what goes over the cable is lost. A channel hashes on to the silent member until LACP, whose frames are
    lost like all others, has missed three of them (3 s in fast rate, 90 s in slow), while MII Status stays up. Where
    there is no LACP nothing notices. After the undo LACP takes up to 30 s: an end that knows of no partner speaks no
    oftener.
    Look: compare what each hop counts while traffic flows, and what each end of a channel has heard of its partner.
    """
    ends = _cable(lab, node, device).ends
    drop = ("filter replace", "ingress pref 1 handle 1 matchall action drop")
    there = tuple(step for end in ends for step in (_tc(end, "qdisc replace", "clsact"), _tc(end, *drop)))
    # replaced first, as `del` fails where there is nothing
    back = tuple(_tc(end, f"qdisc {verb}", "clsact") for end in ends for verb in ("replace", "del"))
    return Change(f"the cable of {node}:{device} is silent", there, back)


def link_lossy(lab: Lab, node: NodeName, device: Device, percent: Percent) -> Change:
    """A cable loses frames at random, as many in each direction.

    Injected: netem below the shaper, at both ends; what it loses is not counted as sent.
    Triggers: TCP sends again (`nuttcp` counts it, `ss -ti` shows it) and slows down by far more than the loss;
    pings are lost. LACP misses a frame now and then.
    Look: send many small packets over each cable and count those that come back; see how often TCP sends again.
    """
    return _impaired(lab, node, device, f"loss {percent:g}%", 0, f"loss {percent:g}%")


def link_delayed(lab: Lab, node: NodeName, device: Device, delay_ms: Milliseconds) -> Change:
    """A cable is longer than it should be: every frame arrives later.

    Injected: netem below the shaper, at both ends, so a round trip takes twice as much more.
    Triggers: ping shows it; a stream gets its window for each round trip and no more, which for long delays is less
    than the wire's rate.
    Look: compare round trips to each neighbour with those of like cables.
    """
    return _impaired(lab, node, device, f"delay {delay_ms:g}ms", delay_ms, "")


def link_rate(lab: Lab, node: NodeName, device: Device, rate_mbit: MbitPerSecond) -> Change:
    """A cable's wire has another rate, as one that has negotiated less than it can.

    Injected: another rate for the shaper, at both ends, which stays at what the nodes there can send and receive where
    that is less. ethtool goes on showing the rate that the wire should have.
    Triggers: streams over the cable share that rate; those that a channel's hash puts on other members keep theirs.
    Look: measure a stream over each cable alone; in a channel, compare the members' counters while many transmit.
    """
    ends = _cable(lab, node, device).ends
    least = {end: min([rate_mbit, *(bound.wire_mbit for bound in bounds(lab.site, end))]) for end in ends}
    there = tuple(_tc(end, "qdisc change", SHAPER.format(rate=mbit(least[end]))) for end in ends)
    back = tuple(_tc(end, "qdisc change", SHAPER.format(rate=mbit(leaves_mbit(lab.site, end)))) for end in ends)
    return Change(f"the cable of {node}:{device} has {rate_mbit:g} Mbit/s", there, back)


def port_mtu(lab: Lab, node: NodeName, device: Device, mtu: Mtu) -> Change:
    """A port takes smaller packets than those who send through it believe.

    Injected: `ip link set mtu` at this one end of the cable. An adapter drops larger frames that arrive, and a switch
    also those that would leave by it; neither says a word.
    Triggers: pings, logins and small requests work, and what fills packets stalls for ever, for TCP sends them again as
    they were. Only at a router's interface, for what leaves by it, the sender is told and packs smaller.
    Look: find the largest packet that comes back (`ping -M do -s`), for each pair of nodes and each hop.
    """
    here = Port(node, device)
    _cable(lab, node, device)
    (shown,) = json.loads(Step(node, ("ip", "-j", "link", "show", device), plugged=True).take(lab))
    there, back = (_ip(here, "mtu", str(size)) for size in (mtu, shown["mtu"]))
    return Change(f"{here} takes packets of {mtu} bytes", (there,), (back,))


def _impaired(lab: Lab, node: str, device: str, what: str, more_ms: float, how: str) -> Change:
    """Frames go through another netem below the shaper, on both ends; the queue is fair there, too.

    What a long cable holds frames back by anyway (ms) stays in it.
    """
    cable = _cable(lab, node, device)
    for end in cable.ends:
        if f"netem {_FAULT}" in _tc(end, "qdisc show", "").take(lab):
            raise BadInput(f"{end} loses or delays frames already; undo that first")
    own, queue = LONG.format(ms=cable.delay_ms), LONG_QUEUE
    worse = f"{LONG.format(ms=cable.delay_ms + more_ms)} {how}".replace("handle 20:", f"handle {_FAULT}")
    # a netem again, for a fair queue that is there already refuses to be replaced by its like
    as_it_was = (own, queue) if cable.delay_ms else (own, FAIR_QUEUE)
    below = queue.replace("parent 20:", f"parent {_FAULT}")
    there = tuple(_tc(end, "qdisc replace", words) for end in cable.ends for words in (worse, below))
    back = tuple(_tc(end, "qdisc replace", words) for end in cable.ends for words in as_it_was)
    return Change(f"the cable of {node}:{device} has {what}", there, back)


def _cable(lab: Lab, node: str, device: str) -> Cable:
    """The cable at a node's device. BadInput when there is none."""
    for cable in lab.site.cables:
        if Port(node, device) in cable.ends:
            return cable
    devices = [end.device for cable in lab.site.cables for end in cable.ends if end.node == node]
    raise BadInput(f"{node}:{device} has no cable; those of {node} are at {', '.join(devices) or 'no device'}")


def _ip(end: Port, *state: str) -> Step:
    return Step(end.node, ("ip", "link", "set", end.device, *state), plugged=True)


def _tc(end: Port, verb: str, words: str) -> Step:
    return Step(end.node, ("tc", *verb.split(), "dev", end.device, *words.split()), plugged=True)
