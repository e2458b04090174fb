"""The state of a channel's end, from what the bonding driver and Open vSwitch print."""

import pytest

from causeway.lab.probes.channels import ChannelState, parse_bonding, parse_ovs_bond
from causeway.model.topology import ChannelEnd

LINUX = ChannelEnd(node="nsd01", name="bond0", members=["eth2", "eth3", "eth4", "eth5"], hash_policy="layer3+4")
OVS = ChannelEnd(
    node="zam870",
    name="nsd01",
    members=["nsd01-1", "nsd01-2", "nsd01-3", "nsd01-4"],
    hash_policy="balance-tcp",
)

HEAD = """\
Ethernet Channel Bonding Driver: v7.3.4

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer3+4 (1)
MII Status: up
MII Polling Interval (ms): 100
Up Delay (ms): 0
Down Delay (ms): 0
Peer Notification Delay (ms): 0

802.3ad info
LACP active: on
LACP rate: fast
Min links: 0
Aggregator selection policy (ad_select): stable
System priority: 65535
System MAC address: 02:0c:6a:26:aa:50
"""
AGGREGATOR = """\
Active Aggregator Info:
\tAggregator ID: {aggregator}
\tNumber of ports: {ports}
\tActor Key: 15
\tPartner Key: {key}
\tPartner Mac Address: {partner}
"""
MEMBER = """\

Slave Interface: {device}
MII Status: {mii}
Speed: 10000 Mbps
Duplex: full
Link Failure Count: 0
Permanent HW addr: 02:0c:6a:26:aa:50
Slave queue ID: 0
Aggregator ID: {aggregator}
Actor Churn State: {churn}
Partner Churn State: {churn}
Actor Churned Count: 0
Partner Churned Count: 0
details actor lacp pdu:
    system priority: 65535
    system mac address: 02:0c:6a:26:aa:50
    port key: 15
    port priority: 255
    port number: 1
    port state: 63
details partner lacp pdu:
    system priority: 65534
    system mac address: {partner}
    oper key: 1
    port priority: 65535
    port number: 1
    port state: 63
"""
SWITCH = "02:7f:f4:fb:72:2a"
NOBODY = "00:00:00:00:00:00"


def bonding(
    *,
    mii: dict[str, str] | None = None,
    aggregators: dict[str, str] | None = None,
    devices: tuple[str, ...] = ("eth2", "eth3", "eth4", "eth5"),
    partner: str = SWITCH,
) -> str:
    """/proc/net/bonding/bond0 of nsd01; `mii` and `aggregators` say which members differ."""
    ports = [d for d in devices if (aggregators or {}).get(d, "1") == "1"]
    text = HEAD + AGGREGATOR.format(aggregator=1, ports=len(ports), key=1, partner=partner)
    for device in devices:
        aggregator = (aggregators or {}).get(device, "1")
        churn = "none" if aggregator == "1" else "churned"
        state = (mii or {}).get(device, "up")
        text += MEMBER.format(device=device, mii=state, aggregator=aggregator, churn=churn, partner=partner)
    return text


def test_a_sound_bond_is_negotiated_with_all_members() -> None:
    assert parse_bonding(LINUX, bonding()) == ChannelState(
        node="nsd01",
        name="bond0",
        mode="802.3ad",
        hash_policy="layer3+4",
        negotiated=True,
        members={"eth2": True, "eth3": True, "eth4": True, "eth5": True},
    )


@pytest.mark.parametrize("policy", ["layer2 (0)", "layer2+3 (2)", "encap3+4 (4)", "vlan+srcmac (5)"])
def test_the_policy_is_the_kernels_and_not_the_topologys(policy: str) -> None:
    text = bonding().replace("layer3+4 (1)", policy)
    assert parse_bonding(LINUX, text).hash_policy == policy.split()[0]


@pytest.mark.parametrize("state", ["down", "going down", "going back"])
def test_a_member_that_is_down_carries_nothing_and_breaks_the_channel(state: str) -> None:
    found = parse_bonding(LINUX, bonding(mii={"eth3": state}))
    assert found.members == {"eth2": True, "eth3": False, "eth4": True, "eth5": True}
    assert not found.negotiated


def test_the_first_member_being_down_is_not_hidden_by_the_bonds_own_state() -> None:
    assert not parse_bonding(LINUX, bonding(mii={"eth2": "down"})).members["eth2"]


@pytest.mark.parametrize("aggregator", ["2", "11", "N/A"])
def test_a_member_of_another_aggregator_carries_nothing_though_it_is_up(aggregator: str) -> None:
    found = parse_bonding(LINUX, bonding(aggregators={"eth5": aggregator}))
    assert found.members == {"eth2": True, "eth3": True, "eth4": True, "eth5": False}
    assert not found.negotiated


@pytest.mark.parametrize("state", [7, 15, 135])  # out of sync; synchronised; expired
def test_a_member_that_lacp_has_taken_out_carries_nothing_though_it_is_up_and_in_its_aggregator(state: int) -> None:
    text = bonding()
    text = text.replace("port state: 63", f"port state: {state}", 1)  # eth2's own; its partner's is as before
    assert parse_bonding(LINUX, text).members == {"eth2": False, "eth3": True, "eth4": True, "eth5": True}


def test_without_a_partner_a_bond_is_not_negotiated_whatever_is_up() -> None:
    # each port is then an aggregator of its own, and the first is the active one
    alone = {"eth3": "2", "eth4": "3", "eth5": "4"}
    found = parse_bonding(LINUX, bonding(aggregators=alone, partner=NOBODY))
    assert not found.negotiated
    assert found.members == {"eth2": True, "eth3": False, "eth4": False, "eth5": False}
    assert not parse_bonding(LINUX, bonding(partner=NOBODY)).negotiated


def test_without_a_partner_the_active_aggregators_member_carries_though_it_does_not_say_that_it_distributes() -> None:
    others = {"eth2": "2", "eth3": "3", "eth4": "4"}
    text = bonding(aggregators=others, partner=NOBODY).replace("port state: 63", "port state: 79")
    found = parse_bonding(LINUX, text)
    assert found.members == {"eth2": False, "eth3": False, "eth4": False, "eth5": True}
    assert not found.negotiated


def test_without_an_active_aggregator_no_member_carries_anything() -> None:
    text = HEAD + "bond bond0 has no active aggregator\n"
    for device in LINUX.members:
        text += MEMBER.format(device=device, mii="down", aggregator="N/A", churn="none", partner=NOBODY)
    found = parse_bonding(LINUX, text)
    assert not found.negotiated
    assert not any(found.members.values())


def test_a_bond_that_lacks_a_member_is_not_negotiated() -> None:
    found = parse_bonding(LINUX, bonding(devices=("eth2", "eth3", "eth4")))
    assert found.members == {"eth2": True, "eth3": True, "eth4": True}
    assert not found.negotiated


def test_another_mode_is_said_as_the_kernel_names_it() -> None:
    text = """\
Ethernet Channel Bonding Driver: v7.3.4

Bonding Mode: load balancing (xor)
Transmit Hash Policy: layer2 (0)
MII Status: up
MII Polling Interval (ms): 100

Slave Interface: eth2
MII Status: up
Speed: 10000 Mbps
Duplex: full
"""
    found = parse_bonding(LINUX, text)
    assert found.mode == "load balancing (xor)"
    assert not found.negotiated


def ovs(*states: str, lacp: str = "negotiated", mode: str = "balance-tcp") -> str:
    """`ovs-appctl bond/show nsd01` on zam870."""
    text = f"""\
---- nsd01 ----
bond_mode: {mode}
bond may use recirculation: yes, Recirc-ID : 1
bond-hash-basis: 0
lb_output action: disabled, bond-id: -1
all members active: false
updelay: 0 ms
downdelay: 0 ms
lacp_status: {lacp}
lacp_fallback_ab: false
active-backup primary: <none>
active member mac: 02:15:26:37:48:59(nsd01-1)
"""
    for number, state in enumerate(states, 1):
        active = "  active member\n" if number == 1 and state == "enabled" else ""
        may = "true" if state == "enabled" else "false"
        text += f"\nmember nsd01-{number}: {state}\n{active}  may_enable: {may}\n"
        text += "  hash 12: 3 kB load\n" if number == 2 else ""
    return text + "\n"


def test_a_sound_ovs_bond_is_negotiated_with_all_members() -> None:
    assert parse_ovs_bond(OVS, ovs(*["enabled"] * 4)) == ChannelState(
        node="zam870",
        name="nsd01",
        mode="802.3ad",
        hash_policy="balance-tcp",
        negotiated=True,
        members={"nsd01-1": True, "nsd01-2": True, "nsd01-3": True, "nsd01-4": True},
    )


def test_the_policy_of_an_ovs_bond_is_the_one_in_force() -> None:
    assert parse_ovs_bond(OVS, ovs(*["enabled"] * 4, mode="balance-slb")).hash_policy == "balance-slb"


def test_a_disabled_member_of_an_ovs_bond_carries_nothing_and_breaks_the_channel() -> None:
    found = parse_ovs_bond(OVS, ovs("enabled", "enabled", "disabled", "enabled"))
    assert found.members == {"nsd01-1": True, "nsd01-2": True, "nsd01-3": False, "nsd01-4": True}
    assert not found.negotiated


@pytest.mark.parametrize("lacp", ["configured", "off"])
def test_an_ovs_bond_without_a_partner_is_not_negotiated(lacp: str) -> None:
    assert not parse_ovs_bond(OVS, ovs(*["enabled"] * 4, lacp=lacp)).negotiated


def test_an_ovs_bond_without_members_is_not_negotiated() -> None:
    assert not parse_ovs_bond(OVS, ovs()).negotiated
