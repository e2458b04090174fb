"""The expected values are worked out by hand, or come from the kernel's own functions.

For the latter, bond_main.c and flow_dissector.c of Linux 7.3 were compiled for x86-64 as a user program
that was fed whole frames.
"""

import random
from dataclasses import replace
from ipaddress import ip_address

import pytest

from causeway.plan.hashing import Flow, member_for, slb_member
from causeway.plan.hashing.linux import bond_hash
from causeway.plan.hashing.ovs import slb_bucket

NSD01 = "02:00:00:00:01:0a"
ION = "02:00:00:00:02:0b"
#: nsd01b's file system daemon to an I/O node.
READ = Flow.tcp(NSD01, ION, ip_address("10.2.64.202"), ip_address("10.2.64.57"), 1191, 40000)
MEMBERS = ["eth2", "eth3", "eth4", "eth5"]


def swapped(flow: Flow) -> Flow:
    return replace(
        flow,
        src_mac=flow.dst_mac,
        dst_mac=flow.src_mac,
        src_ip=flow.dst_ip,
        dst_ip=flow.src_ip,
        src_port=flow.dst_port,
        dst_port=flow.src_port,
    )


def random_flow(order: random.Random) -> Flow:
    def mac() -> str:
        return ":".join(f"{order.randrange(256):02x}" for _ in range(6))

    source, destination = (ip_address(order.getrandbits(32)) for _ in range(2))
    return Flow.tcp(mac(), mac(), source, destination, order.randrange(65536), order.randrange(65536))


def test_layer2_is_the_last_mac_bytes_and_the_ethertype() -> None:
    # 0x0b ^ 0x0a ^ 0x0800 = 0x0801, and 0x0801 % 4 = 1
    assert bond_hash(READ, "layer2") == 0x0801
    assert member_for(READ, "layer2", MEMBERS) == "eth3"


def test_layer2_3_folds_the_addresses_into_the_layer2_hash() -> None:
    # 10.2.64.202 ^ 10.2.64.57 = bytes 00 00 00 f3, read by x86 as 0xf3000000; with layer2: 0xf3000801
    # ^ its >> 16, 0x0000f300: 0xf300fb01; ^ its >> 8, 0x00f300fb: 0xf3f3fbfa; % 4 = 2
    assert bond_hash(READ, "layer2+3") == 0xF3F3FBFA
    assert member_for(READ, "layer2+3", MEMBERS) == "eth4"


def test_layer3_4_folds_ports_and_addresses_and_drops_the_lowest_bit() -> None:
    # ports 1191, 40000 = bytes 04 a7 9c 40; ^ addresses 00 00 00 f3 = 04 a7 9c b3, read as 0xb39ca704
    # ^ 0x0000b39c = 0xb39c1498; ^ 0x00b39c14 = 0xb32f888c; >> 1 = 0x5997c446; % 4 = 2
    assert bond_hash(READ, "layer3+4") == 0x5997C446
    assert member_for(READ, "layer3+4", MEMBERS) == "eth4"


def test_an_ipv6_address_counts_as_the_xor_of_its_words() -> None:
    # ::1 ^ ::2 leaves bytes 00 00 00 03, 0x03000000; ports 0x409ca704: 0x439ca704
    # ^ 0x0000439c = 0x439ce498; ^ 0x00439ce4 = 0x43df787c; >> 1 = 0x21efbc3e
    flow = Flow.tcp(NSD01, ION, ip_address("2001:db8::1"), ip_address("2001:db8::2"), 1191, 40000)
    assert bond_hash(flow, "layer3+4") == 0x21EFBC3E


def test_vlan_srcmac_is_the_xor_of_the_source_macs_halves() -> None:
    assert bond_hash(READ, "vlan+srcmac") == 0x020000 ^ 0x00010A


KERNEL = [
    (
        0x17410493,
        "layer3+4",
        Flow.tcp(NSD01, ION, ip_address("69.223.110.115"), ip_address("15.197.28.203"), 25745, 56982),
    ),
    (
        0x36F176A5,
        "layer3+4",
        Flow.tcp(
            NSD01,
            ION,
            ip_address("5b0d:6d42:662f:d2bb:50a4:8f13:ebf5:2c10"),
            ip_address("1e3c:5add:1e56:5040:4f73:332c:c4d4:1a50"),
            43953,
            45174,
        ),
    ),
    (
        0x227F1751,
        "layer2+3",
        Flow.tcp(
            "3f:5d:5e:f8:a5:79",
            "62:e0:7f:c2:0f:b2",
            ip_address("149.78.243.225"),
            ip_address("24.46.174.195"),
            9726,
            23845,
        ),
    ),
    (
        0x2226599C,
        "layer2+3",
        Flow.tcp(
            "d9:e8:8c:3d:92:d9",
            "43:ac:cc:ab:bc:82",
            ip_address("9394:f4e0:c03d:4d9f:163e:ced5:1427:19f6"),
            ip_address("7db8:2b89:56bb:6631:6067:7395:592d:5453"),
            30530,
            5374,
        ),
    ),
    (  # an AH packet
        0x798840B4,
        "layer3+4",
        Flow(
            NSD01,
            ION,
            0x86DD,
            ip_address("e33b:58c3:d40c:ea98:4d7a:19da:e1cc:f96e"),
            ip_address("1425:20dd:eb40:8661:af62:4dc3:7145:3789"),
            51,
            spi=1397911018,
        ),
    ),
    (  # a UDP fragment: the ports do not count
        0x573F1F0E,
        "layer3+4",
        Flow(
            NSD01,
            ION,
            0x0800,
            ip_address("90.88.163.45"),
            ip_address("120.24.115.131"),
            17,
            11424,
            56924,
            fragment=True,
        ),
    ),
    (  # an echo request with identifier 0, which counts as 1
        0x41C71A81,
        "layer3+4",
        Flow(
            NSD01,
            ION,
            0x0800,
            ip_address("141.217.201.35"),
            ip_address("178.170.197.160"),
            1,
            icmp_type=8,
            icmp_code=200,
        ),
    ),
    (  # an ICMPv6 echo request
        0x09914BC7,
        "layer3+4",
        Flow(
            NSD01,
            ION,
            0x86DD,
            ip_address("d892:3b0c:e0ec:105c:34d3:182b:58cb:2a7b"),
            ip_address("4aff:b5b8:5b4b:bc89:d30d:eaa2:ecf:ca80"),
            58,
            icmp_type=128,
            icmp_code=165,
        ),
    ),
    (  # an error that quotes a TCP packet
        0x195A45B6,
        "layer3+4",
        Flow(
            NSD01,
            ION,
            0x0800,
            ip_address("223.128.159.88"),
            ip_address("179.241.14.15"),
            1,
            icmp_type=4,
            icmp_code=42,
            quoted=Flow.tcp(ION, NSD01, ip_address("175.132.187.205"), ip_address("154.180.195.33"), 53775, 65246),
        ),
    ),
    (  # an error that quotes an echo request: its identifier does not count
        576333835,
        "layer3+4",
        Flow(
            NSD01,
            ION,
            0x0800,
            ip_address("196.161.180.244"),
            ip_address("131.133.25.230"),
            1,
            icmp_type=5,
            quoted=Flow(
                ION,
                NSD01,
                0x0800,
                ip_address("30.245.124.150"),
                ip_address("89.17.140.210"),
                1,
                icmp_type=8,
                icmp_id=1,
            ),
        ),
    ),
]


@pytest.mark.parametrize(("expected", "policy", "flow"), KERNEL)
def test_the_hash_is_the_one_that_the_kernels_functions_compute(expected: int, policy: str, flow: Flow) -> None:
    assert bond_hash(flow, policy) == expected


@pytest.mark.parametrize("policy", ["layer2", "layer2+3", "layer3+4"])
@pytest.mark.parametrize("count", [2, 4, 8])
def test_both_directions_of_a_connection_take_the_same_of_2_4_or_8_members(policy: str, count: int) -> None:
    order = random.Random(1)
    members = [f"eth{n}" for n in range(count)]
    for _ in range(300):
        flow = random_flow(order)
        assert member_for(flow, policy, members) == member_for(swapped(flow), policy, members)


def test_the_directions_may_part_on_3_members_by_layer3_4() -> None:
    # the ports stand in different bytes of the word, and 3 does not divide a power of two
    order = random.Random(1)
    flows = [random_flow(order) for _ in range(100)]
    three = MEMBERS[:3]
    assert any(member_for(f, "layer3+4", three) != member_for(swapped(f), "layer3+4", three) for f in flows)


@pytest.mark.parametrize(
    ("policy", "ignored"),
    [
        ("layer2", {"src_port": 4711, "dst_ip": ip_address("10.2.64.58"), "dst_mac": "06:ff:ff:ff:ff:0b"}),
        ("layer2+3", {"src_port": 4711, "dst_port": 4712, "protocol": 17}),
        ("layer3+4", {"src_mac": "06:00:00:00:00:99", "dst_mac": "06:00:00:00:00:98", "src_port": 1190}),
        ("vlan+srcmac", {"dst_mac": "06:00:00:00:00:98", "dst_ip": ip_address("10.2.64.58")}),
    ],
)
def test_a_field_outside_of_the_policy_does_not_change_the_member(policy: str, ignored: dict[str, object]) -> None:
    # 1190 and 1191 differ in the bit that layer3+4 drops
    for field, value in ignored.items():
        changed = replace(READ, **{field: value})  # type: ignore[arg-type]
        assert member_for(changed, policy, MEMBERS) == member_for(READ, policy, MEMBERS), field


@pytest.mark.parametrize(
    ("policy", "field", "value"),
    [
        ("layer2", "dst_mac", "02:00:00:00:02:0c"),
        ("layer2+3", "dst_ip", ip_address("10.2.64.58")),
        ("layer2+3", "src_mac", "02:00:00:00:01:0b"),
        ("layer3+4", "src_port", 1193),
        ("layer3+4", "dst_ip", ip_address("10.2.64.59")),
    ],
)
def test_a_field_of_the_policy_does_change_the_member(policy: str, field: str, value: object) -> None:
    changed = replace(READ, **{field: value})  # type: ignore[arg-type]
    assert member_for(changed, policy, MEMBERS) != member_for(READ, policy, MEMBERS)


@pytest.mark.parametrize("policy", ["layer2+3", "layer3+4"])
def test_arp_is_hashed_as_by_layer2_under_every_policy(policy: str) -> None:
    arp = Flow(NSD01, ION, 0x0806)
    assert bond_hash(arp, policy) == 0x0B ^ 0x0A ^ 0x0806


def test_an_icmp_error_that_quotes_too_little_is_hashed_as_by_layer2() -> None:
    error = replace(READ, protocol=1, icmp_type=3, quoted=None)
    assert bond_hash(error, "layer3+4") == bond_hash(READ, "layer2")


def test_a_fragment_of_an_icmp_error_is_hashed_by_its_own_addresses() -> None:
    error = replace(READ, protocol=1, icmp_type=3, fragment=True, quoted=READ)
    # no ports: 0xf3000000 ^ its >> 16 = 0xf300f300; ^ 0x00f300f3 = 0xf3f3f3f3; >> 1 = 0x79f9f9f9
    assert bond_hash(error, "layer3+4") == 0x79F9F9F9


@pytest.mark.parametrize("protocol", [17, 33, 132, 136])
def test_udp_dccp_sctp_and_udp_lite_are_hashed_like_tcp(protocol: int) -> None:
    assert bond_hash(replace(READ, protocol=protocol), "layer3+4") == bond_hash(READ, "layer3+4")


@pytest.mark.parametrize("protocol", [0, 2, 44, 47, 89])
def test_a_protocol_without_ports_is_hashed_by_its_addresses(protocol: int) -> None:
    assert bond_hash(replace(READ, protocol=protocol), "layer3+4") == 0x79F9F9F9


def test_an_icmp_error_follows_the_connection_that_it_is_about() -> None:
    error = Flow(
        "02:00:00:00:00:77",
        NSD01,
        0x0800,
        ip_address("10.1.44.1"),
        ip_address("10.2.64.202"),
        1,
        icmp_type=3,
        icmp_code=4,
        quoted=READ,
    )
    assert bond_hash(error, "layer3+4") == bond_hash(READ, "layer3+4")


@pytest.mark.parametrize("policy", ["src_dst_port", "encap3+4", "encap2+3", "balance-tcp", ""])
def test_a_policy_that_cannot_be_computed_is_refused(policy: str) -> None:
    with pytest.raises(ValueError, match="cannot be computed"):
        bond_hash(READ, policy)


@pytest.mark.parametrize(
    ("policy", "lacking"),
    [
        ("layer3+4", {"src_port": None}),
        ("layer3+4", {"dst_ip": None}),
        ("layer3+4", {"protocol": 50}),
        ("layer3+4", {"protocol": 1}),
        ("layer2", {"dst_mac": "02:00:00"}),
    ],
)
def test_a_flow_that_lacks_a_hashed_field_is_refused(policy: str, lacking: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"needs|no MAC address"):
        bond_hash(replace(READ, **lacking), policy)  # type: ignore[arg-type]


def test_a_bond_without_members_is_refused() -> None:
    with pytest.raises(ValueError, match="without usable members"):
        member_for(READ, "layer2", [])


@pytest.mark.parametrize(
    ("mac", "bucket"), [("02:00:00:00:00:01", 38), ("02:aa:bb:cc:dd:ee", 92), ("0a:11:22:33:44:55", 7)]
)
def test_a_switchs_bucket_is_what_ovs_appctl_says(mac: str, bucket: int) -> None:
    # `ovs-appctl bond/hash` of Open vSwitch 3.5.0 on zam870
    assert slb_bucket(mac) == bucket
    assert slb_member(mac, ["a", "b", "c", "d"]) == "abcd"[bucket % 4]
