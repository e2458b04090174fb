"""`causeway hash`: which member each end of the channels between two nodes chooses."""

import json
from ipaddress import ip_address

import pytest

from causeway.cli.app import main
from causeway.folders import site_file
from causeway.model.load import load_site
from causeway.model.thing import Port
from causeway.model.topology import AIX_POLICIES, CISCO_POLICIES, LINUX_POLICIES, OVS_POLICIES
from causeway.plan.choices import Party, choices, find
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import slb_member
from causeway.plan.streams import StreamEnds, expect

SITE = load_site(site_file("small"))
QUAY = Party("quay1", ip_address("10.30.0.11"), 1191)
BOAT = Party("lark", ip_address("10.20.0.31"), 40000)


def test_a_host_chooses_on_the_way_there_and_its_switch_on_the_way_back() -> None:
    there, back = choices(SITE, QUAY, BOAT)
    assert (there.end.node, there.end.name, str(there.sender), str(there.receiver)) == (
        "quay1",
        "bond0",
        "quay1:1191",
        "lark:40000",
    )
    assert (back.end.node, back.end.name, str(back.sender)) == ("basin", "quay1", "lark:40000")
    assert tuple(there.by_policy) == LINUX_POLICIES + AIX_POLICIES == SITE.nodes["quay1"].hash_policies
    assert tuple(back.by_policy) == OVS_POLICIES + CISCO_POLICIES == SITE.nodes["basin"].hash_policies


def test_the_members_are_those_that_the_plan_has_for_a_stream() -> None:
    there, back = choices(SITE, QUAY, BOAT)
    stream = StreamEnds("one", "quay1", (QUAY.address, QUAY.port), (BOAT.address, BOAT.port))
    for policy, member in there.by_policy.items():
        assert expect(SITE, [stream], policies={"quay1": policy}).member("one", "quay1") == member
    reply = StreamEnds("one", "lark", (BOAT.address, BOAT.port), (QUAY.address, QUAY.port))
    for policy, member in back.by_policy.items():
        if policy != "balance-tcp":
            assert expect(SITE, [reply], policies={"basin": policy}).member("one", "basin") == member
    assert back.by_policy["balance-tcp"] is None
    assert back.by_policy["balance-slb"] == slb_member(mac_address(SITE, Port("lark", "eth0")), back.end.members)


def test_default_sends_by_the_last_byte_of_the_boats_address() -> None:
    there, _ = choices(SITE, QUAY, BOAT)
    assert there.by_policy["default"] == there.end.members[31 % 3]
    assert there.by_policy["src_port"] == there.end.members[(1191 & 0xFF) % 3]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("quay1", ("quay1", "10.30.0.11")),  # as daemons know it
        ("quay1-sea", ("quay1", "10.20.0.11")),
        ("10.20.0.11", ("quay1", "10.20.0.11")),
        ("lark", ("lark", "10.20.0.31")),
    ],
)
def test_a_node_a_host_name_or_an_address_names_an_end(name: str, found: tuple[str, str]) -> None:
    node, address = find(SITE, name)
    assert (node, str(address)) == found


def test_both_ends_names_that_nobody_has_are_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hash", "quay9:1191", "lark:many", "--lab", "small"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "quay9:1191: small has no node, host name or address 'quay9'; name a node as in `causeway graph`",
        "lark:many: say NAME:PORT, with a port from 1 to 65535",
    ]


@pytest.mark.parametrize("words", ["lark", ":5", "lark:", "lark:0", "lark:65536", "lark:-1"])
def test_an_end_without_a_port_is_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hash", "quay1:1191", words, "--lab", "small"]) == 2
    assert "say NAME:PORT" in capsys.readouterr().err


def test_json_has_each_end_with_all_its_policies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hash", "quay1:1191", "lark:40000", "--lab", "small", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    there, back = choices(SITE, QUAY, BOAT)
    assert found["lab"] == "small"
    assert [(end["node"], end["from"], end["to"]) for end in found["ends"]] == [
        ("quay1", "quay1:1191", "lark:40000"),
        ("basin", "lark:40000", "quay1:1191"),
    ]
    assert [end["hash_policy"] for end in found["ends"]] == ["layer3+4", "balance-slb"]
    assert [end["member"] for end in found["ends"]] == [there.by_policy, back.by_policy]


def test_a_table_an_end_marks_its_own_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hash", "quay1:1191", "lark:40000", "--lab", "small"]) == 0
    out = capsys.readouterr().out
    assert "quay1:bond0 sends quay1:1191 > lark:40000 by" in out
    assert [line.split("│")[1].strip() for line in out.splitlines() if "its own" in line] == ["layer3+4", "balance-slb"]


def test_a_way_without_a_channel_is_said_to_have_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hash", "lark:1", "wren:2", "--lab", "small"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "no channel lies between lark and wren in small\n")
