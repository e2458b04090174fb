"""Channels' ends that are set otherwise than the site has them."""

from causeway.lab.changes.change import Change, Step
from causeway.lab.lab import Lab
from causeway.lab.probes.channels import policy_in_force
from causeway.model.topology import LINUX_POLICIES, ChannelEnd
from causeway.render.network import BOND_POLICY


def sends_by(lab: Lab, end: ChannelEnd, policy: str) -> Change:
    """A channel's end chooses members by another hash policy: of a host (AIX's, too), or of a switch.

    What a balance-slb switch has dealt out before does not come back by itself after the undo: `deal_buckets`.
    """
    title = f"{end.node}:{end.name} sends by {policy}"
    if not lab.site.is_linux_bond(end):
        before = Step(end.node, ("ovs-vsctl", "get", "port", end.name, "bond_mode")).take(lab).strip().strip('"')
        there, back = (
            Step(end.node, ("ovs-vsctl", "set", "port", end.name, f"bond_mode={mode}")) for mode in (policy, before)
        )
    else:
        # the file has the policy's name and its number
        file = f"/sys/class/net/{end.name}/bonding/xmit_hash_policy"
        before = Step(end.node, ("cat", file)).take(lab).split()[0]
        if before in LINUX_POLICIES and policy in LINUX_POLICIES:
            setting = ("ip", "link", "set", end.name, "type", "bond", "xmit_hash_policy")
            there, back = (Step(end.node, (*setting, mode)) for mode in (policy, before))
        else:
            there, back = (
                Step(end.node, ("python3", "-", end.name, mode), stdin=BOND_POLICY.read_text())
                for mode in (policy, policy_in_force(lab, end))
            )
    return Change(title, (there,), (back,))
