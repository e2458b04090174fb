"""A switch's end of a channel, put together otherwise: without LACP, as a maker's switch does it; without a port."""

from causeway.lab.changes.change import Change, Step
from causeway.lab.lab import Lab
from causeway.model.topology import ChannelEnd
from causeway.render.network import BOND_POLICY

#: Linux's bond in place of Open vSwitch's, as a site's own static end has it (render/templates/switch.j2).
#: $0 is the channel's name, $1 its bridge, $2 the MTU; the others are members.
_STATIC = """
set -e
ovs-vsctl del-port "$1" "$0"
ip link add "$0" mtu "$2" type bond mode balance-xor miimon 100
name=$0 bridge=$1
shift 2
for member; do
    ip link set "$member" down
    ip link set "$member" master "$name"
done
ip link set "$name" up
ovs-vsctl -- --id=@wire create qos type=linux-noop -- add-port "$bridge" "$name" -- set port "$name" qos=@wire
"""
#: And back: $2 is the policy, $3 the rate. A member that is in a wrong port meanwhile stays there.
_BY_LACP = """
set -e
name=$0 bridge=$1 policy=$2 rate=$3
shift 3
if [ -e "/sys/class/net/$name/bonding" ]; then
    set -- $(cat "/sys/class/net/$name/bonding/slaves")
    ovs-vsctl --if-exists del-port "$bridge" "$name"
    ip link del "$name"
elif ovs-vsctl get port "$name" name >/dev/null 2>&1; then
    exit 0
fi
for member; do ip link set "$member" up; done
ovs-vsctl -- --id=@wire create qos type=linux-noop -- add-bond "$bridge" "$name" "$@" \\
    lacp=active bond_mode="$policy" other_config:lacp-time="$rate" other_config:bond-rebalance-interval=0 \\
    -- set port "$name" qos=@wire
"""
#: $0 is the channel's name, $1 the member.
_OUT = """
set -e
if [ -e "/sys/class/net/$0/bonding" ]; then
    ip link set "$1" nomaster
else
    ovs-vsctl del-bond-iface "$0" "$1"
fi
ip link set "$1" up
"""
_IN = """
set -e
if [ ! -e "/sys/class/net/$0/bonding" ]; then
    ovs-vsctl --may-exist add-bond-iface "$0" "$1"
elif [ ! -e "/sys/class/net/$1/master" ]; then
    ip link set "$1" down
    ip link set "$1" master "$0"
fi
"""


def static_switch(lab: Lab, switch: ChannelEnd, policy: str) -> Change:
    """A switch's end agrees with nobody, and sends by a policy of Cisco's: the mode `on` of a Catalyst.

    The channel has other port numbers at the bridge while it lasts, and what a balance-slb end has dealt out before
    does not come back by itself after the undo: `deal_buckets`.
    """
    network = lab.site.nodes[switch.node].switch or ""
    bridge, mtu = f"br-{network}", str(lab.site.topology.networks[network].mtu)
    rate = next(channel.lacp_rate for channel, end, _ in lab.site.channel_ends() if end == switch)
    there = (
        _sh(switch, _STATIC, bridge, mtu, *switch.members),
        Step(switch.node, ("python3", "-", switch.name, policy), stdin=BOND_POLICY.read_text()),
    )
    back = _sh(switch, _BY_LACP, bridge, switch.hash_policy, rate, *switch.members)
    return Change(f"{switch.node}:{switch.name} is static, and sends by {policy}", there, (back,))


def wrong_port(switch: ChannelEnd, member: str) -> Change:
    """The cable of a channel's member is in another port of the switch: one of no channel, where nobody else is.

    Both ends of the cable have their carrier; the port that it should be in has none, and so its channel sends by the
    others.
    """
    title = f"the cable of {switch.node}:{member} is in a port that is not of {switch.name}'s channel"
    there, back = (_sh(switch, script, member) for script in (_OUT, _IN))
    return Change(title, (there,), (back,))


def dealt_to(switch: ChannelEnd, bucket: int, member: str) -> Change:
    """A balance-slb end sends one of its buckets by a member that `causeway up` did not give it to."""
    title = f"{switch.node}:{switch.name} sends bucket {bucket} by {member}"
    own = switch.members[bucket % len(switch.members)]
    there, back = (
        Step(switch.node, ("ovs-appctl", "bond/migrate", switch.name, str(bucket), device)) for device in (member, own)
    )
    return Change(title, (there,), (back,))


def _sh(switch: ChannelEnd, script: str, *words: str) -> Step:
    return Step(switch.node, ("sh", "-c", script, switch.name, *words))
