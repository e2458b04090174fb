"""Bonds in other modes than a site has them in, and a switch that then does without LACP."""

from causeway.lab.channels import read_channel
from causeway.lab.switching import deal_buckets
from causeway.lab.wait import until
from causeway.model.topology import ChannelEnd
from causeway.scenario.stage import Stage
from causeway.scenario.streams import address

_LINES = "for words; do ip $words || exit; done"


def round_robin(stage: Stage, servers: list[ChannelEnd], switches: list[ChannelEnd]) -> None:
    """Two servers send round-robin, and the switch's ends are put together by hand, until the scenario's undo.

    Round-robin there is only without LACP (bonding.rst, mode), so the switch must not wait for any. Open vSwitch is
    then no more than nearly a channel made by hand: it takes broadcasts by one member alone, and ARP tries its luck.
    """
    stage.defer(lambda: wait_until_negotiated(stage, [*servers, *switches]))
    for end in switches:
        argv = ("ovs-vsctl", "set", "port", end.name)
        stage.lab.on(end.node, *argv, "lacp=off").must()
        stage.defer(lambda end=end, argv=argv: stage.lab.on(end.node, *argv, "lacp=active").must())  # type: ignore[misc]
    rates = {end.node: channel.lacp_rate for channel, end, _ in stage.site.channel_ends()}
    for end in servers:
        as_before = f"mode 802.3ad lacp_rate {rates[end.node]} xmit_hash_policy {end.hash_policy} miimon 100"
        _remake(stage, end, "mode balance-rr")
        stage.defer(lambda end=end, options=as_before: _remake(stage, end, options))  # type: ignore[misc]
    one, other = (end.node for end in servers)
    target = str(address(stage, other, stage.site.nodes[one].interfaces[servers[0].name].network))

    def silent() -> str:
        return "" if stage.lab.on(one, "ping", "-c", "1", "-W", "1", target).rc == 0 else "no answer"

    def disabled() -> str:
        states = (read_channel(stage.lab, end).members for end in switches)
        return ", ".join(member for state in states for member, enabled in state.items() if not enabled)

    until("the switch sends by all members", disabled, deadline_s=10)
    deal_buckets(stage.lab)
    until(f"{other} answers {one}", silent, deadline_s=60)


def _remake(stage: Stage, end: ChannelEnd, options: str) -> None:
    """A bond takes another mode only without members."""
    lines = [f"link set {end.name} down", *(f"link set {device} nomaster" for device in end.members)]
    lines.append(f"link set {end.name} type bond {options}")
    lines += [
        words for device in end.members for words in (f"link set {device} down", f"link set {device} master {end.name}")
    ]
    stage.lab.on(end.node, "sh", "-c", _LINES, "sh", *lines, f"link set {end.name} up").must()


def wait_until_negotiated(stage: Stage, ends: list[ChannelEnd]) -> None:
    """Wait until LACP has agreed at these ends, and have the switch send as it did when the lab came up."""

    def lacking() -> str:
        return ", ".join(end.node for end in ends if not read_channel(stage.lab, end).negotiated)

    until("the channels are negotiated", lacking, deadline_s=120, poll_s=1)
    deal_buckets(stage.lab)


def patch(stage: Stage, one: ChannelEnd, other: ChannelEnd) -> None:
    """A switch hands what comes by a member of one channel to the same member of another, as a cable would."""
    switch, bridge = one.node, f"br-{stage.site.nodes[one.node].switch}"
    rules = [
        f"priority=100,in_port={a},actions=output:{b}"
        for pair in zip(one.members, other.members, strict=True)
        for a, b in (pair, pair[::-1])
    ]
    for rule in rules:
        stage.lab.on(switch, "ovs-ofctl", "--names", "add-flow", bridge, rule).must()
        which = rule.split(",")[1]
        stage.defer(lambda which=which: stage.lab.on(switch, "ovs-ofctl", "--names", "del-flows", bridge, which).must())  # type: ignore[misc]
