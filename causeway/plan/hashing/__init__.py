"""The member of a channel on which an end sends a frame: by a number that each maker has its own module for.

Each maker divides that number by the count of usable members, and the remainder is the member's place.
"""

from collections.abc import Sequence

from causeway.model.topology import AIX_POLICIES, CISCO_POLICIES
from causeway.plan.hashing.aix import adapter_number
from causeway.plan.hashing.cisco import bundle_value
from causeway.plan.hashing.frame import Flow
from causeway.plan.hashing.linux import bond_hash
from causeway.plan.hashing.ovs import slb_bucket, slb_member

__all__ = ["Flow", "member_for", "sending_number", "slb_bucket", "slb_member"]


def sending_number(flow: Flow, policy: str) -> int:
    """The number by which an end with this policy chooses; ValueError where it cannot be computed."""
    if policy in AIX_POLICIES:
        return adapter_number(flow, policy)
    if policy in CISCO_POLICIES:
        return bundle_value(flow, policy)
    return slb_bucket(flow.src_mac) if policy == "balance-slb" else bond_hash(flow, policy)


def member_for(flow: Flow, policy: str, members: Sequence[str]) -> str:
    """The member by which an end with this policy sends a frame: members[number % count].

    `members` are those that are usable now, in the channel's own order. Of a Linux bond it is that of the kernel's
    array: bond_update_slave_arr walks the members in the order in which they were enslaved (that of
    /proc/net/bonding/BOND) and takes those that are up and, with 802.3ad, belong to the active aggregator and may
    distribute. It does so anew at every change, so a lost member closes the gap and moves flows of the others, too.
    AIX has the order of its adapter_names, and counts active ones, too. Of balance-slb it holds where bucket i is given
    to member i mod n, as `causeway up` does it.
    Raises ValueError as sending_number, and when there are no members (the frame is dropped).
    Source: bond_update_slave_arr, bond_xmit_3ad_xor_slave_get; Redpaper, "Setting up EtherChannel on the AIX 5L NSD
    servers".
    """
    if not members:
        raise ValueError("a channel without usable members sends nothing")
    return members[sending_number(flow, policy) % len(members)]
