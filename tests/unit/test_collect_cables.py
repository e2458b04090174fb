"""What LLDP, switches' tables and Linux say of cables and channels; and what is left is a question."""

from collections.abc import Mapping
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any

import pytest

from causeway.collect.bonds import Bond, Member, lacp_members, linux_bond, natural
from causeway.collect.cables import Cabling, cabling
from causeway.collect.machine import Device, Machine
from causeway.collect.openvswitch import Bridge
from causeway.collect.plant import Plant, build_plant
from causeway.collect.told import Told
from causeway.collect.writing import written


def mac(number: int) -> str:
    return f"02:00:00:00:00:{number:02x}"


def host(name: str, number: int, devices: Mapping[str, Any] | None = None, **more: Any) -> Machine:
    """A node with eth0 in 10.0.0.0/24, or with these devices."""
    own = Device("eth0", mac(number), 1500, "", None, (IPv4Interface(f"10.0.0.{number}/24"),), 1000)
    return machine(name, devices or {"eth0": own}, **more)


def machine(name: str, devices: Mapping[str, Device], **more: Any) -> Machine:
    about: dict[str, Any] = {
        "bonds": {}, "bridges": (), "routes": (), "rules": 0, "forwards": False, "hosts": {}, "name_servers": (),
        "domain": "a.example", "time_servers": (), "gives_time": False,
        "trusts": "", "tunables": {}, "neighbours": {}, "mounts": (),
    }  # fmt: skip
    return Machine(name=name, file=Path(name), devices=devices, **about | more)


def switch(name: str, reached: Mapping[int, str], by_table: bool = False, more: tuple[str, ...] = ()) -> Machine:
    """A bridge by whose ports hosts are reached."""
    ports = tuple(sorted({*reached.values(), *more}))
    devices = {port: Device(port, mac(200 + i), 1500, "", None, (), 1000) for i, port in enumerate(ports)}
    table = {mac(number): port for number, port in reached.items()}
    numbers = {mac(number): number for number in reached} if by_table else {}
    return machine(name, devices, bridges=(Bridge("br-lan", ports, {}, by_table, table, numbers),))


def plant(*machines: Machine) -> Plant:
    return build_plant({machine.name: machine for machine in machines}, Told())


def cabled(*machines: Machine) -> Cabling:
    return cabling(plant(*machines))


def wires(found: Cabling) -> dict[frozenset[str], str]:
    return {frozenset(map(str, wire.ends)): wire.question for wire in found.wires}


def wire(a: str, b: str) -> frozenset[str]:
    return frozenset((a, b))


HOSTS = [host(f"h{n}", n) for n in range(1, 6)]


def test_two_switches_that_learn_face_each_other_by_what_is_behind() -> None:
    left = switch("left", {1: "p1", 2: "p2", 3: "up", 4: "up", 5: "up"})
    right = switch("right", {1: "down", 2: "down", 3: "q3", 4: "q4", 5: "q5"})
    found = wires(cabled(*HOSTS, left, right))
    near = {wire(f"h{n}:eth0", f"left:p{n}"): "" for n in (1, 2)}
    far = {wire(f"h{n}:eth0", f"right:q{n}"): "" for n in (3, 4, 5)}
    assert found == near | far | {wire("left:up", "right:down"): ""}


def test_a_switch_at_which_nobody_is_has_heard_of_everybody_by_one_port() -> None:
    left = switch("left", dict.fromkeys(range(1, 6), "up"))
    right = switch("right", {n: f"q{n}" for n in range(1, 6)}, more=("down",))
    found = wires(cabled(*HOSTS, left, right))
    assert found[wire("left:up", "right:down")] == "" and len(found) == 6


def test_three_switches_in_a_row_are_wired_in_a_row() -> None:
    one = switch("one", {1: "p1", 2: "up", 3: "up", 4: "up", 5: "up"})
    two = switch("two", {1: "a", 2: "p2", 3: "p3", 4: "b", 5: "b"})
    three = switch("three", {1: "down", 2: "down", 3: "down", 4: "p4", 5: "p5"})
    found = wires(cabled(*HOSTS, one, two, three))
    assert {ends for ends in found if all("h" not in end.split(":")[0][:1] for end in ends)} == {
        wire("one:up", "two:a"),
        wire("two:b", "three:down"),
    }


def test_with_one_host_at_each_the_ports_names_decide_or_it_is_asked() -> None:
    named = wires(cabled(*HOSTS[:2], switch("l", {1: "h1", 2: "up"}), switch("r", {1: "up", 2: "h2"})))
    assert named[wire("l:up", "r:up")] == "" and wire("h1:eth0", "l:h1") in named
    asked = wires(cabled(*HOSTS[:2], switch("l", {1: "p1", 2: "p2"}), switch("r", {1: "p1", 2: "p2"})))
    assert "are these two wired to each other?" in asked.values()


def test_several_hosts_at_a_port_are_told() -> None:
    found = cabled(*HOSTS[:3], switch("s", {1: "p1", 2: "p2", 3: "p2"}))
    assert "s:p2 leads to h2:eth0, h3:eth0: something is between that was not collected" in found.findings
    assert wires(found)[wire("h3:eth0", "s:h3")] == "where is this plugged in?"


def test_in_a_fabric_hosts_are_at_ports_of_their_own_and_uplinks_are_asked() -> None:
    leaf = switch("leaf", {1: "a", 2: "b", 3: "up1", 4: "up2", 5: "up1"}, by_table=True)
    other = switch("other", {1: "up1", 2: "up2", 3: "c", 4: "d", 5: "e"}, by_table=True)
    spines = [switch(f"s{i}", {n: "l1" if n < 3 else "l2" for n in range(1, 6)}, by_table=True) for i in (1, 2)]
    found = wires(cabled(*HOSTS, leaf, other, *spines))
    assert found[wire("h1:eth0", "leaf:a")] == "" and found[wire("h5:eth0", "other:e")] == ""
    assert found[wire("s1:l1", "leaf:up1")].startswith("which of these is wired to which?")
    assert wire("s2:l2", "other:up2") in found and len(found) == 9


def test_lldp_goes_before_tables() -> None:
    here = host("h1", 1, neighbours={"eth0": ("s", "p9")})
    found = wires(cabled(here, HOSTS[1], switch("s", {1: "p1", 2: "p2"}, more=("p9",))))
    assert wire("h1:eth0", "s:p9") in found and wire("h1:eth0", "s:p1") not in found


def test_a_switch_that_knows_nobody_is_of_the_network_of_the_one_beside() -> None:
    beside = machine(
        "spine",
        {"q": Device("q", mac(99), 1500, "", None, (), 1000)},
        bridges=(Bridge("br0", ("q",), {}, False, {}, {}),),
        neighbours={"q": ("s", "up")},
    )
    whole = plant(*HOSTS[:2], switch("s", {1: "p1", 2: "p2"}, more=("up",)), beside)
    assert whole.network_of_switch["spine"] == whole.network_of_switch["s"]
    assert wire("spine:q", "s:up") in wires(cabling(whole))


def test_two_nodes_alone_are_wired_to_each_other() -> None:
    assert wires(cabled(*HOSTS[:2])) == {wire("h1:eth0", "h2:eth0"): ""}
    assert set(wires(cabled(*HOSTS[:3])).values()) == {"where is this plugged in?"}


def test_ports_that_nobody_speaks_of_are_told() -> None:
    found = cabled(*HOSTS[:2], switch("s", {1: "p1", 2: "p2"}, more=("p3", "p4")))
    assert "s: nobody says what is plugged into p3, p4; they are left out" in found.findings


# channels

BOND = """\
Bonding Mode: load balancing (xor)
Transmit Hash Policy: layer2+3 (2)

Slave Interface: eth10
MII Status: up

Slave Interface: eth9
MII Status: up
""".splitlines()


def bonded(name: str, number: int, bond: Bond) -> Machine:
    """A node with bond0 in 10.0.0.0/24."""
    devices = {m.device: Device(m.device, mac(number), 1500, "", None, (), 1000) for m in bond.members}
    own = Device("bond0", mac(number), 1500, "bond", None, (IPv4Interface(f"10.0.0.{number}/24"),), 2000)
    return machine(name, devices | {"bond0": own}, bonds={"bond0": bond})


def test_a_bond_without_lacp_is_static_and_its_members_come_in_their_order() -> None:
    found = linux_bond("bond0", BOND)
    assert [member.device for member in found.members] == ["eth9", "eth10"]
    assert (found.protocol, found.hash_policy, found.members[0].partner) == ("static", "layer2+3", None)


def test_a_member_that_has_heard_of_nobody_has_no_partner() -> None:
    said = " member: a-1: defaulted detached\n   port_id: 1\n   actor sys_id: 02:00:00:00:00:01\n   actor port_id: 1\n"
    said += "   partner sys_id: 00:00:00:00:00:00\n   partner port_id: 0\n"
    lines = [line.removeprefix(" ") for line in said.splitlines()]
    assert lacp_members(lines) == {"a-1": Member("a-1", (mac(1), 1), None)}


def test_two_static_bonds_alone_are_a_channel_whose_members_are_asked() -> None:
    bond = linux_bond("bond0", BOND)
    draft = written(plant(bonded("a", 1, bond), bonded("b", 2, bond), HOSTS[2]), "mine")
    assert draft.data["channels"][0]["ends"][0]["protocol"] == "static"
    assert draft.data["channels"][0]["ends"][1]["hash_policy"] == "mac source"
    assert draft.questions["channels", 0].startswith("where is this plugged in?")


@pytest.mark.parametrize(
    ("mode", "policy", "kept", "asked"),
    [
        ("IEEE 802.3ad Dynamic link aggregation", "layer3+4", "layer3+4", ""),
        ("IEEE 802.3ad Dynamic link aggregation", "encap3+4", "layer3+4", "it says encap3+4"),
        ("fault-tolerance (active-backup)", "", "layer2", "its ends are of modes fault-tolerance (active-backup)"),
    ],
)
def test_what_a_lab_does_not_send_by_is_asked(mode: str, policy: str, kept: str, asked: str) -> None:
    lines = [line.replace("load balancing (xor)", mode).replace("layer2+3", policy) for line in BOND]
    lines = [line for line in lines if not line.startswith("Transmit Hash Policy:  ")]
    draft = written(plant(bonded("a", 1, linux_bond("bond0", lines)), *HOSTS[1:3]), "mine")
    (channel,) = draft.data["channels"]
    assert channel["ends"][0]["hash_policy"] == kept
    assert asked in draft.questions["channels", 0]


def test_names_are_sorted_by_their_numbers() -> None:
    assert sorted(["eth10", "eth9", "p", "1"], key=natural) == ["1", "eth9", "eth10", "p"]


# legs and routes


def test_what_a_site_has_no_place_for_is_told() -> None:
    lan, other = (IPv4Interface(text) for text in ("10.0.0.1/24", "10.9.0.1/24"))
    devices = {
        "eth0": Device("eth0", mac(1), 1500, "", None, (lan, other), 1000),
        "eth1": Device("eth1", mac(9), 1500, "", None, (), 1000),
        "eth1.7": Device("eth1.7", mac(9), 1500, "vlan", "eth1", (IPv4Interface("10.7.0.1/24"),), None),
        "docker0": Device("docker0", mac(8), 1500, "bridge", None, (IPv4Interface("172.17.0.1/16"),), None),
    }
    routes: list[dict[str, Any]] = [
        {"dst": "10.5.0.0/24", "gateway": "10.0.0.2", "metrics": [{"mtu": 1400}], "metric": 5},
        {"dst": "10.6.0.0/24", "nexthops": [{"gateway": "10.0.0.2"}, {"gateway": "10.0.0.3"}], "protocol": "static"},
        {"dst": "10.8.0.0/24", "gateway": "10.0.0.2", "table": "100"},
        {"dst": "10.8.1.0/24", "dev": "eth0", "protocol": "boot"},
        {"dst": "10.8.2.0/24", "gateway": "10.0.0.2", "protocol": "bird"},
        {"dst": "10.8.3.0/24", "gateway": "10.3.0.2"},
        {"dst": "10.8.4.0/24", "type": "blackhole"},
        {"dst": "10.8.5.0/24", "nexthops": [{"gateway": "10.0.0.2", "weight": 2}, {"gateway": "10.0.0.3"}]},
    ]
    node = machine("h1", devices, routes=tuple(routes), rules=2)
    draft = written(plant(node, *HOSTS[1:3]), "mine")
    assert list(draft.data["nodes"]["h1"]["interfaces"]) == ["eth0", "eth1"]
    assert draft.data["nodes"]["h1"]["routes"] == [
        {"to": "10.5.0.0/24", "via": "10.0.0.2", "metric": 5, "mtu": 1400},
        {"to": "10.6.0.0/24", "via": ["10.0.0.2", "10.0.0.3"]},
    ]
    told = "\n".join(draft.findings)
    for words in (
        "10.9.0.1/24 is left out", "eth1.7: a vlan; its address is given to eth1 itself",
        "docker0 is left out; it is of kind bridge", "2 rules choose", "10.8.0.0/24 is left out: it is in table 100",
        "10.8.1.0/24 is left out: it has no gateway", "a daemon has set it (bird)", "10.3.0.2 is in none of",
        "it is of type blackhole", "different weights",
    ):  # fmt: skip
        assert words in told, told


def test_what_is_told_by_a_bridge_is_the_networks_name_and_a_fabrics_numbers_are_kept() -> None:
    leaf = switch("leaf", {1: "a", 2: "b"}, by_table=True)
    draft = written(plant(*HOSTS[:3], leaf), "mine")
    assert list(draft.data["networks"]) == ["lan"]
    assert draft.data["nodes"]["h2"]["interfaces"]["eth0"]["lid"] == 2
    assert draft.data["nodes"]["h3"]["interfaces"]["eth0"]["lid"] == 3
    assert draft.questions == {
        ("nodes", "h3", "interfaces", "eth0"): "what is its LID?",
        **{where: what for where, what in draft.questions.items() if where[0] in ("links", "clusters")},
    }
