"""Each hash policy puts every kind of frame on the member that the kernel's own arithmetic names.

Claim: for layer2, layer2+3 and layer3+4 the member that nsd01's channel sends a frame by is computed
exactly from the frame, for TCP, UDP, ICMP and other IPv4, fragments, ARP and what is no IP at all.

Cause: bonding's bond_xmit_hash() looks at certain fields of a frame and at nothing else.

Source: Redpaper, "EtherChannel (or channel bonding) setup": which hash policies the platforms offer;
the Linux kernel's bonding.rst, xmit_hash_policy.
"""

from causeway.lab.hash_probe import send_through
from causeway.plan.hashing import bond_member
from causeway.scenario.frames import crafted
from causeway.scenario.stage import Stage
from causeway.scenario.streams import end_of, set_policy

FRAMES = 240
POLICIES = ("layer2", "layer2+3", "layer3+4")


def play(stage: Stage) -> None:
    channel = end_of(stage, "nsd01", "zam870")
    frames = crafted(stage, FRAMES)
    flows, wire = [flow for flow, _ in frames], [data for _, data in frames]

    def seen() -> list[str | None]:
        return send_through(stage.lab, channel.node, channel.name, channel.members, wire)

    def agreement(policy: str, members: list[str | None]) -> int:
        computed = [bond_member(flow, policy, channel.members) for flow in flows]
        return sum(a == b for a, b in zip(computed, members, strict=True))

    with stage.healthy("every crafted frame leaves by one member, and none of the four stays idle"):
        first = seen()
        stage.compare("frames that left by a member", FRAMES, sum(m is not None for m in first), "frames", 0)
        stage.compare("members used", len(channel.members), len(set(first)), "members", 0)

    for policy in POLICIES:
        with stage.perturb(f"nsd01 sends by {policy}"):
            stage.defer(set_policy(stage, channel, policy))
        with stage.judge(f"{policy}: all frames are where they were computed to be"):
            measured = seen()
            stage.compare(f"{policy}: frames as computed", FRAMES, agreement(policy, measured), "frames", 0)

        with stage.contrast(f"{policy}: another policy's arithmetic does not explain what was seen"):
            for other in POLICIES:
                if other != policy:
                    explained = agreement(other, measured)
                    what = f"{policy}: {other} would explain every frame, too"
                    stage.compare(what, False, explained == FRAMES, "", 0)

    with stage.restore("nsd01 sends by its own policy again, and all is as at first"):
        stage.compare(
            "frames where they were at first",
            FRAMES,
            sum(a == b for a, b in zip(first, seen(), strict=True)),
            "frames",
            0,
        )
