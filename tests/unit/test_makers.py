"""The makers' own policies: the expected values are worked out by hand from what IBM and Cisco document."""

import random
from collections import Counter
from dataclasses import replace
from ipaddress import ip_address

import pytest

from causeway.model.topology import AIX_POLICIES, CISCO_POLICIES
from causeway.plan.hashing import Flow, member_for, sending_number
from causeway.plan.hashing.aix import adapter_number
from causeway.plan.hashing.cisco import bundle_value

#: A file server's daemon to an I/O node.
READ = Flow.tcp(
    "02:00:00:00:01:0a", "02:00:00:00:02:0b", ip_address("10.2.64.202"), ip_address("10.2.64.57"), 1191, 40001
)
ARP = Flow("02:00:00:00:01:0a", "02:00:00:00:02:0b", 0x0806)
FOUR = ["ent2", "ent3", "ent4", "ent5"]


@pytest.mark.parametrize(
    ("hash_mode", "number", "member"),
    [
        ("default", 57, "ent3"),  # 57 % 4 = 1
        ("src_dst_port", 20596 & 0xFF, "ent2"),  # (1191 + 40001) / 2 = 20596 = 0x5074; 0x74 % 4 = 0
        ("src_port", 1191 & 0xFF, "ent5"),  # 0x4a7; 0xa7 % 4 = 3
        ("dst_port", 40001 & 0xFF, "ent3"),  # 0x9c41; 0x41 % 4 = 1
    ],
)
def test_aix_takes_the_last_byte_of_what_its_hash_mode_names(hash_mode: str, number: int, member: str) -> None:
    assert adapter_number(READ, hash_mode) == number
    assert member_for(READ, hash_mode, FOUR) == member


def test_aix_drops_the_half_of_an_odd_sum() -> None:
    assert adapter_number(replace(READ, dst_port=40002), "src_dst_port") == adapter_number(READ, "src_dst_port")
    assert adapter_number(replace(READ, dst_port=40003), "src_dst_port") == 0x75


def test_aix_counts_active_adapters_so_a_lost_one_moves_others_connections() -> None:
    # 57 % 3 = 0
    assert member_for(READ, "default", FOUR[1:]) == "ent3"
    assert member_for(READ, "default", [*FOUR[:1], *FOUR[2:]]) == "ent2"


def test_with_three_adapters_it_is_the_last_byte_that_counts_not_the_whole_port() -> None:
    # 0xa7 = 167, 167 % 3 = 2; 1191 % 3 = 0
    assert member_for(READ, "src_port", FOUR[:3]) == "ent4"


@pytest.mark.parametrize("hash_mode", AIX_POLICIES)
def test_aix_sends_what_has_no_ports_by_the_last_byte_of_its_destination(hash_mode: str) -> None:
    assert adapter_number(ARP, hash_mode) == 0x0B
    for portless in (replace(READ, protocol=1, icmp_type=8), replace(READ, fragment=True), replace(READ, protocol=50)):
        assert adapter_number(portless, hash_mode) == 57


@pytest.mark.parametrize(
    ("distribution", "value"),
    [
        ("mac source", 0b010),  # 0x0a
        ("mac destination", 0b011),  # 0x0b
        ("mac both", 0b001),
        ("ip source", 0b010),  # 202 = 0b11001010
        ("ip destination", 0b001),  # 57 = 0b00111001
        ("ip both", 0b011),
        ("session source", 0b111),  # 1191 = 0b10010100111
        ("session destination", 0b001),  # 40001 ends in 001
        ("session both", 0b110),
    ],
)
def test_a_catalyst_takes_the_last_three_bits(distribution: str, value: int) -> None:
    assert bundle_value(READ, distribution) == value


@pytest.mark.parametrize(
    ("members", "shares"),
    [
        (2, [4, 4]),
        (3, [3, 3, 2]),
        (4, [2, 2, 2, 2]),
        (5, [2, 2, 2, 1, 1]),
        (6, [2, 2, 1, 1, 1, 1]),
        (7, [2, 1, 1, 1, 1, 1, 1]),
        (8, [1] * 8),
    ],
)
def test_the_eight_values_are_shared_as_cisco_documents(members: int, shares: list[int]) -> None:
    ports = [f"3/{n}" for n in range(members)]
    flows = [replace(READ, src_port=port) for port in range(1024, 1032)]
    taken = Counter(member_for(flow, "session source", ports) for flow in flows)
    assert [taken[port] for port in ports] == shares


@pytest.mark.parametrize(("links", "bits"), [(2, 0b1), (4, 0b11), (8, 0b111)])
def test_of_2_4_8_ports_as_many_last_bits_count_of_the_xor(links: int, bits: int) -> None:
    dice = random.Random(1)
    for _ in range(100):
        source, destination = dice.randrange(65536), dice.randrange(65536)
        flow = replace(READ, src_port=source, dst_port=destination)
        member = member_for(flow, "session both", [str(n) for n in range(links)])
        assert int(member) == (source ^ destination) & bits


@pytest.mark.parametrize("whose", ["source", "destination", "both"])
def test_what_a_frame_has_not_is_replaced_by_the_layer_below(whose: str) -> None:
    echo = replace(READ, protocol=1, icmp_type=8)
    assert bundle_value(echo, f"session {whose}") == bundle_value(READ, f"ip {whose}")
    assert (
        bundle_value(ARP, f"session {whose}") == bundle_value(ARP, f"ip {whose}") == bundle_value(READ, f"mac {whose}")
    )


@pytest.mark.parametrize("policy", ["round_robin", "ip", "port both", "ip-vlan-session both", "", "mac neither"])
def test_a_policy_that_no_maker_has_is_refused(policy: str) -> None:
    with pytest.raises(ValueError, match="AIX has no"):
        adapter_number(READ, policy)
    with pytest.raises(ValueError, match="Catalyst has no"):
        bundle_value(READ, policy)
    with pytest.raises(ValueError, match="cannot be computed"):
        sending_number(READ, policy)


@pytest.mark.parametrize("policy", ["src_dst_port", "session both"])
def test_a_tcp_flow_without_ports_is_refused(policy: str) -> None:
    with pytest.raises(ValueError, match="needs src_port"):
        sending_number(replace(READ, dst_port=None), policy)


#: What the policies look at.
LOOKS_AT = {
    "default": {"dst_ip"},
    "src_dst_port": {"src_port", "dst_port"},
    "src_port": {"src_port"},
    "dst_port": {"dst_port"},
    "mac source": {"src_mac"},
    "mac destination": {"dst_mac"},
    "mac both": {"src_mac", "dst_mac"},
    "ip source": {"src_ip"},
    "ip destination": {"dst_ip"},
    "ip both": {"src_ip", "dst_ip"},
    "session source": {"src_port"},
    "session destination": {"dst_port"},
    "session both": {"src_port", "dst_port"},
}


@pytest.mark.parametrize("policy", AIX_POLICIES + CISCO_POLICIES)
def test_a_policy_looks_at_its_own_fields_and_at_no_other(policy: str) -> None:
    dice = random.Random(policy)
    moved = set()
    for _ in range(64):
        other = {
            "src_mac": f"02:00:00:00:00:{dice.randrange(256):02x}",
            "dst_mac": f"02:00:00:00:00:{dice.randrange(256):02x}",
            "src_ip": ip_address(dice.getrandbits(32)),
            "dst_ip": ip_address(dice.getrandbits(32)),
            "src_port": dice.randrange(65536),
            "dst_port": dice.randrange(65536),
        }
        for field, value in other.items():
            changed = replace(READ, **{field: value})  # type: ignore[arg-type]
            if sending_number(changed, policy) != sending_number(READ, policy):
                moved.add(field)
    assert moved == LOOKS_AT[policy]


def test_src_port_puts_all_that_one_daemon_sends_on_one_adapter() -> None:
    # Redpaper: the source port is always 1191 where the server owns the filesystem
    flows = [replace(READ, dst_port=port) for port in range(32768, 32768 + 64)]
    assert len({member_for(flow, "src_port", FOUR) for flow in flows}) == 1
    assert Counter(member_for(flow, "src_dst_port", FOUR) for flow in flows) == dict.fromkeys(FOUR, 16)
    assert Counter(member_for(flow, "dst_port", FOUR) for flow in flows) == dict.fromkeys(FOUR, 16)
