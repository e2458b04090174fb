"""Switches that learn more than who is where."""

from causeway.lab.changes.change import Change, Step
from causeway.lab.faults.parameters import LearningSwitch
from causeway.lab.lab import Lab

#: With it what nobody has joined goes nowhere; Open vSwitch floods it otherwise.
_STRICT = "mcast-snooping-disable-flood-unregistered"


def snooping_on(lab: Lab, switch: LearningSwitch) -> Change:
    """A switch sends multicast only to ports from which it was heard that somebody joined (IGMP snooping).

    Injected: Open vSwitch's `mcast_snooping_enable`, and what nobody has joined is not flooded. It forgets a member
    that has not reported itself for 300 s, and nobody here asks for reports: that is a router's, or a querier's part.
    Triggers: programs that talk by multicast hear each other for five minutes from their start, then only themselves.
    Who joined before goes without at once. Unicast and broadcast are as before, 224.0.0.x, too.
    Look: count from how many others each program still hears, some minutes after its start; see what groups a switch
    has members of (`ovs-appctl mdb/show`).
    """
    bridge = f"br-{lab.site.nodes[switch].switch}"
    there = (f"mcast_snooping_enable=true other_config:{_STRICT}=true").split()
    steps = (Step(switch, ("ovs-vsctl", "set", "bridge", bridge, *there)),)
    back = (
        Step(switch, ("ovs-vsctl", "set", "bridge", bridge, "mcast_snooping_enable=false")),
        Step(switch, ("ovs-vsctl", "remove", "bridge", bridge, "other_config", _STRICT)),
    )
    return Change(f"{switch} snoops on who joins multicast groups", steps, back)
