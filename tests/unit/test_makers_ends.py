"""Channels' ends with other makers' policies, and without LACP: what nodes get, what is asked of them, who plays."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from here import Here

from causeway.errors import BadInput, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.bonds import sends_by
from causeway.lab.probes.channels import parse_bonding, read_channel
from causeway.model.load import load_site
from causeway.model.topology import ChannelEnd
from causeway.plan.streams import StreamEnds, expect
from causeway.render.network import BOND_POLICY, files
from causeway.scenario.cast import Ask

SITE = load_site(REPO / "tests/sites/makers.yaml")
SMALL = load_site(REPO / "topologies/small/site.yaml")
SCRIPT = BOND_POLICY.read_text()


def end(node: str, peer: str) -> ChannelEnd:
    return SITE.end_of(node, peer)


def test_a_static_hosts_bond_is_balance_xor_and_sends_by_aixs_policy() -> None:
    found = files(SITE, "aix")
    lines = [line.strip() for line in found["etc/network/interfaces"].text.splitlines()]
    assert "bond-mode balance-xor" in lines
    assert 'up bond-policy bond0 "src_dst_port"' in lines
    assert not [line for line in lines if "lacp" in line or "xmit" in line]
    assert found["usr/local/sbin/bond-policy"].text == SCRIPT
    assert found["usr/local/sbin/bond-policy"].mode == 0o755


def test_a_host_may_speak_lacp_and_send_by_aixs_policy() -> None:
    text = files(SITE, "other")["etc/network/interfaces"].text
    assert "bond-mode 802.3ad" in text and "bond-lacp-rate fast" in text
    assert 'up bond-policy bond0 "default"' in text


def test_a_switchs_end_with_a_policy_of_ciscos_is_a_linux_bond_and_a_plain_port_of_its_bridge() -> None:
    switch = files(SITE, "cat")["etc/openvswitch/switch"].text
    before, ovs = switch.split("exec ovs-vsctl")
    lines = before.splitlines()
    assert "set -e" in lines
    assert "ip link add aix mtu 1500 type bond mode balance-xor miimon 100" in lines
    assert "ip link add other mtu 1500 type bond mode 802.3ad lacp_rate fast miimon 100" in lines
    for member in ("aix-1", "aix-4", "other-3"):
        bond = member.split("-")[0]
        assert lines.index(f"ip link set {member} down") + 1 == lines.index(f"ip link set {member} master {bond}")
    assert 'bond-policy aix "session both"' in lines and 'bond-policy other "ip both"' in lines
    assert "add-bond" not in ovs and "aix-1" not in ovs
    assert "add-port br-lan aix " in ovs and "add-port br-lan one " in ovs


def test_a_site_without_them_has_nothing_of_it() -> None:
    for node in SMALL.nodes:
        found = files(SMALL, node)
        assert "usr/local/sbin/bond-policy" not in found
        assert not any("bond-policy" in file.text for file in found.values())


def test_the_plan_computes_both_ends() -> None:
    # (1191 + 40000) / 2 = 20595 = 0x5073, 0x73 % 4 = 3; back 40000 ^ 1191 ends in 111, 7 % 4 = 3
    there = StreamEnds("there", "aix", (SITE.address("aix", "lan"), 1191), (SITE.address("one", "lan"), 40000))
    back = StreamEnds("back", "one", there.destination, there.source)
    assert expect(SITE, [there]).member("there", "aix") == "eth4"
    assert expect(SITE, [back]).member("back", "cat") == "aix-4"


class Answers(Here):
    """A node that says what a bond's files and bond-policy say, and keeps what it was asked."""

    asked: list[list[str]]

    def enter(self, node: str, argv: Sequence[str]) -> list[str]:  # noqa: ARG002
        self.asked.append(list(argv))
        files = {"/proc/net/bonding/bond0": XOR, "/sys/class/net/bond0/bonding/xmit_hash_policy": "encap3+4 4"}
        return ["echo", files.get(argv[1], "src_dst_port")]


XOR = """\
Bonding Mode: load balancing (xor)
Transmit Hash Policy: encap3+4 (4)

Slave Interface: eth1
MII Status: up

Slave Interface: eth2
MII Status: up

Slave Interface: eth3
MII Status: up

Slave Interface: eth4
MII Status: {last}
"""


@pytest.fixture
def node(tmp_path: Path) -> Answers:
    made = Answers(SITE, tmp_path)
    object.__setattr__(made, "asked", [])
    return made


def test_a_bond_that_takes_a_frames_own_hash_is_asked_whose_policy_that_is(node: Answers) -> None:
    assert read_channel(node, end("aix", "cat")).hash_policy == "src_dst_port"
    assert node.asked == [["cat", "/proc/net/bonding/bond0"], ["python3", "-", "bond0"]]


@pytest.mark.parametrize(("last", "sound"), [("up", True), ("down", False)])
def test_a_static_channel_is_sound_when_all_members_are_up(last: str, sound: bool) -> None:
    found = parse_bonding(end("aix", "cat"), XOR.format(last=last))
    assert found.negotiated is sound
    assert found.members == {"eth1": True, "eth2": True, "eth3": True, "eth4": sound}


@pytest.mark.parametrize("policy", ["dst_port", "layer2"])
def test_another_makers_policy_is_set_and_taken_back_by_its_program(policy: str, node: Answers) -> None:
    change = sends_by(node, end("aix", "cat"), policy)
    for steps, mode in ((change.there, policy), (change.back, "src_dst_port")):
        (step,) = steps
        assert (step.node, step.argv, step.stdin) == ("aix", ("python3", "-", "bond0", mode), SCRIPT)


def test_scenarios_about_open_vswitchs_ends_are_not_cast_with_others() -> None:
    with pytest.raises(Unsupported, match="makers has no channel of two members or more"):
        Ask(SITE).channel()


def test_an_etherchannel_has_eight_members_at_most(tmp_path: Path) -> None:
    text = (REPO / "tests/sites/makers.yaml").read_text()
    for few, more in (("[eth1, eth2, eth3, eth4]", "eth{}"), ("[aix-1, aix-2, aix-3, aix-4]", "aix-{}")):
        text = text.replace(few, f"[{', '.join(more.format(n) for n in range(1, 10))}]")
    (tmp_path / "site.yaml").write_text(text)
    with pytest.raises(BadInput) as caught:
        load_site(tmp_path / "site.yaml")
    said = str(caught.value)
    assert said.count("9 members, and an EtherChannel has at most 8") == 2
    assert "name fewer, or a hash policy of Linux's or Open vSwitch's" in said
