"""Each hash policy puts every kind of frame on the member that the kernel's own arithmetic names.

Claim: for layer2, layer2+3 and layer3+4 the member that a host's channel sends a frame by is computed
exactly from the frame, for TCP, UDP, ICMP and other IPv4, fragments, ARP and what is no IP at all.

Cause: bonding's bond_xmit_hash() looks at certain fields of a frame and at nothing else.

Source: Redpaper, "EtherChannel (or channel bonding) setup": which hash policies the platforms offer;
the Linux kernel's bonding.rst, xmit_hash_policy.
"""

from causeway.lab.changes.bonds import sends_by
from causeway.lab.probes.hash_probe import send_through
from causeway.plan.hashing import member_for
from causeway.scenario.cast import Ask, Channel
from causeway.scenario.stage import Stage
from causeway.scenario.words.frames import crafted

FRAMES = 240
POLICIES = ("layer2", "layer2+3", "layer3+4")


def cast(ask: Ask) -> Channel:
    return ask.channel()


def play(stage: Stage, channel: Channel) -> None:
    frames = crafted(stage, FRAMES)
    flows, wire = [flow for flow, _ in frames], [data for _, data in frames]

    def seen() -> list[str | None]:
        return send_through(stage.lab, channel.node, channel.host.name, channel.members, wire)

    def agreement(policy: str, members: list[str | None]) -> int:
        computed = [member_for(flow, policy, channel.members) for flow in flows]
        return sum(a == b for a, b in zip(computed, members, strict=True))

    with stage.healthy("every crafted frame leaves by one member, and none of the members stays idle"):
        first = seen()
        stage.same("frames that left by a member", FRAMES, sum(m is not None for m in first))
        # by the source MAC address alone they may all be one member's
        stage.same("frames as computed", FRAMES, agreement(channel.host.hash_policy, first))

    for policy in POLICIES:
        with stage.perturb(f"{channel.node} sends by {policy}"):
            stage.make(sends_by(stage.lab, channel.host, policy))
        with stage.judge(f"{policy}: all frames are where they were computed to be, on all members"):
            measured = seen()
            stage.same(f"{policy}: frames as computed", FRAMES, agreement(policy, measured))
            stage.same(f"{policy}: members used", len(channel.members), len(set(measured)))

        with stage.contrast(f"{policy}: another policy's arithmetic does not explain what was seen"):
            for other in POLICIES:
                if other != policy:
                    explained = agreement(other, measured)
                    stage.holds(f"{policy}: {other} does not explain every frame", explained < FRAMES, explained)

    with stage.restore(f"{channel.node} sends by its own policy again, and all is as at first"):
        again = sum(a == b for a, b in zip(first, seen(), strict=True))
        stage.same("frames where they were at first", FRAMES, again)
