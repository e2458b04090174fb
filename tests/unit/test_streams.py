"""Cables and rates of streams that run at the same time, on the jubl topology."""

from collections import Counter
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from causeway.model.load import load_site
from causeway.model.thing import Port
from causeway.model.topology import ChannelEnd
from causeway.plan.fairshare import tcp_goodput_mbit
from causeway.plan.hardware import mac_address
from causeway.plan.hashing import Flow, member_for, slb_member
from causeway.plan.streams import StreamEnds, expect

FILE = Path(__file__).parents[2] / "topologies/jubl/site.yaml"
JUBL = load_site(FILE)
IONS = JUBL.diskless()
NSD01_B = IPv4Address("10.2.64.202")
FEN_B = IPv4Address("10.2.64.221")
WIRE = tcp_goodput_mbit(1000, 1500)
MEMBERS = ["eth2", "eth3", "eth4", "eth5"]


def address(node: str, device: str) -> IPv4Address:
    return JUBL.nodes[node].interfaces[device].address


def reads(base: int = 5101) -> list[StreamEnds]:
    """nsd01 sends to each of the eight I/O nodes."""
    return [
        StreamEnds(ion, "nsd01", (NSD01_B, base + index), (address(ion, "eth0"), 5001))
        for index, ion in enumerate(IONS)
    ]


def writes() -> list[StreamEnds]:
    """Each of the eight I/O nodes sends to nsd01."""
    return [
        StreamEnds(ion, ion, (address(ion, "eth0"), 5001), (NSD01_B, 5101 + index)) for index, ion in enumerate(IONS)
    ]


def fen_writes(count: int = 8) -> list[StreamEnds]:
    """FEN sends to cn01 and cn02 in turn, by their f addresses."""
    return [
        StreamEnds(
            f"{node}.{index}",
            "FEN",
            (FEN_B, 5101 + index),
            (address(node, "eth0"), 5001 + index),
        )
        for index, node in zip(range(count), ["cn01", "cn02"] * count, strict=False)
    ]


def member_by_hand(stream: StreamEnds, ion: str, policy: str = "layer3+4") -> str:
    flow = Flow.tcp(
        mac_address(JUBL, Port("nsd01", "eth2")),
        mac_address(JUBL, Port(ion, "eth0")),
        *(stream.source[0], stream.destination[0]),
        *(stream.source[1], stream.destination[1]),
    )
    return member_for(flow, policy, MEMBERS)


def test_the_redpapers_eight_streams_go_where_the_servers_hash_sends_them() -> None:
    streams = reads()
    expected = expect(JUBL, streams)
    for stream in streams:
        member = member_by_hand(stream, stream.label)
        assert expected.member(stream.label, "nsd01") == member
        assert [str(cable.sender) for cable in expected.cables[stream.label]] == [
            f"nsd01:{member}",
            f"zam870:{stream.label}",
        ]
        assert str(expected.cables[stream.label][1].receiver) == f"{stream.label}:eth0"


@pytest.mark.parametrize("base", [5101, 20000, 40007])
def test_streams_on_one_member_share_its_wire_and_others_have_it_alone(base: int) -> None:
    expected = expect(JUBL, reads(base))
    users = Counter(expected.member(ion, "nsd01") for ion in IONS)
    assert sum(users.values()) == 8
    for ion in IONS:
        assert expected.rates[ion] == pytest.approx(WIRE / users[expected.member(ion, "nsd01")])
    for member in MEMBERS:
        sent = sum(expected.rates[ion] for ion in expected.on(Port("nsd01", member)))
        assert sent == pytest.approx(WIRE if users[member] else 0)


def test_the_streams_on_a_port_are_those_whose_member_it_is() -> None:
    expected = expect(JUBL, reads())
    for member in MEMBERS:
        on = expected.on(Port("nsd01", member))
        assert on == [ion for ion in IONS if expected.member(ion, "nsd01") == member]
    assert expected.on(Port("zam870", IONS[3])) == [IONS[3]]
    assert expected.on(Port("nsd02", "eth2")) == []


def test_fens_layer2_sends_all_that_passes_deisa_through_one_member() -> None:
    streams = fen_writes()
    expected = expect(JUBL, streams)
    members = {expected.member(stream.label, "FEN") for stream in streams}
    flow = Flow.tcp(
        mac_address(JUBL, Port("FEN", "eth6")),
        mac_address(JUBL, Port("deisa", "eth0")),
        *(FEN_B, IPv4Address("10.1.33.11"), 1, 2),
    )
    assert members == {member_for(flow, "layer2", ["eth6", "eth7"])}


def test_the_inter_switch_link_bounds_what_passes_deisa() -> None:
    streams = fen_writes()
    expected = expect(JUBL, streams)
    labels = [stream.label for stream in streams]
    assert expected.on(Port("zam870", "deisa")) == labels
    assert expected.rates == pytest.approx(dict.fromkeys(labels, WIRE / 8))
    for stream in streams:
        path = [str(cable.sender) for cable in expected.cables[stream.label]]
        node = stream.label.partition(".")[0]
        assert path[1:] == ["zam870:deisa", f"deisa:{node}"]


def test_another_policy_spreads_them_and_the_inter_switch_link_still_bounds() -> None:
    streams = fen_writes()
    spread = expect(JUBL, streams, policies={"FEN": "layer3+4"})
    assert {spread.member(stream.label, "FEN") for stream in streams} == {"eth6", "eth7"}
    assert sum(spread.rates.values()) == pytest.approx(WIRE)
    assert spread.rates == pytest.approx(expect(JUBL, streams).rates)


def test_a_policy_in_force_replaces_that_of_its_own_node_only() -> None:
    streams = reads()
    layer2 = expect(JUBL, streams, policies={"nsd01": "layer2"})
    for stream in streams:
        assert layer2.member(stream.label, "nsd01") == member_by_hand(stream, stream.label, "layer2")
    assert expect(JUBL, streams, policies={"nsd02": "layer2"}) == expect(JUBL, streams)


def test_what_balance_slb_chooses_is_computed_where_it_is_not_given() -> None:
    streams = writes()
    expected = expect(JUBL, streams)
    members = JUBL.channels[0].ends[1].members
    for stream in streams:
        source = mac_address(JUBL, Port(stream.sender, "eth0"))
        assert expected.member(stream.label, "zam870") == slb_member(source, members)


def test_a_choice_of_balance_tcp_must_be_given_where_several_streams_pass_it() -> None:
    ends = [end.model_copy(update={"hash_policy": "balance-tcp"}) if end.node == "zam870" else end
            for end in JUBL.channels[0].ends]  # fmt: skip
    channels = [JUBL.channels[0].model_copy(update={"ends": ends}), *JUBL.channels[1:]]
    site = replace(JUBL, channels=tuple(channels))
    with pytest.raises(KeyError) as caught:
        expect(site, writes())
    assert caught.value.args == ((IONS[0], "zam870"),)
    given = {(ion, "zam870"): "nsd01-1" for ion in IONS[:-1]}
    with pytest.raises(KeyError) as caught:
        expect(site, writes(), given)
    assert caught.value.args == ((IONS[-1], "zam870"),)


def test_balance_tcp_needs_no_choice_where_each_stream_has_a_channel_for_itself() -> None:
    def tcp(end: ChannelEnd) -> ChannelEnd:
        return end.model_copy(update={"hash_policy": "balance-tcp"}) if end.node == "zam870" else end

    channels = tuple(c.model_copy(update={"ends": [tcp(end) for end in c.ends]}) for c in JUBL.channels)
    site = replace(JUBL, channels=channels)
    streams = [
        StreamEnds(f"{ion}>{server}", ion, (JUBL.known_by(ion).address, 6000), (JUBL.known_by(server).address, 5011))
        for ion, server in zip(IONS, ("nsd01", "nsd02"), strict=False)
    ]
    assert expect(site, streams).rates == pytest.approx({stream.label: 795 for stream in streams})


def test_a_switchs_choices_decide_what_the_server_receives() -> None:
    choices = {(ion, "zam870"): f"nsd01-{1 + index // 4}" for index, ion in enumerate(IONS)}
    expected = expect(JUBL, writes(), choices)
    for ion in IONS:
        assert expected.member(ion, "zam870") == choices[ion, "zam870"]
        assert expected.cables[ion][-1].receiver == Port("nsd01", f"eth{1 + int(choices[ion, 'zam870'][-1])}")
    assert expected.rates == pytest.approx(dict.fromkeys(IONS, WIRE / 4))


def test_the_servers_policy_does_not_change_what_it_receives() -> None:
    choices = {(ion, "zam870"): "nsd01-3" for ion in IONS}
    assert expect(JUBL, writes(), choices) == expect(JUBL, writes(), choices, {"nsd01": "layer2"})


def test_one_stream_alone_needs_no_choice_and_has_a_whole_wire() -> None:
    (stream, *_) = fen_writes()
    expected = expect(JUBL, [stream])
    assert expected.rates == pytest.approx({stream.label: WIRE})
    assert expected.bounding_node(stream.label) == ""


def test_jumbo_frames_make_every_stream_faster(tmp_path: Path) -> None:
    file = tmp_path / "jumbo.yaml"
    file.write_text(FILE.read_text().replace("mtu: 1500", "mtu: 9000"))
    site = load_site(file)
    rates = expect(site, reads()).rates
    for ion, rate in expect(JUBL, reads()).rates.items():
        assert rates[ion] == pytest.approx(rate * tcp_goodput_mbit(1000, 9000) / WIRE)


def test_packets_are_no_larger_than_the_smallest_mtu_on_the_way(tmp_path: Path) -> None:
    file = tmp_path / "jumbo.yaml"
    file.write_text(FILE.read_text().replace("mtu: 1500", "mtu: 9000"))
    site = load_site(file)
    through_deisa = StreamEnds(
        "FEN:t:cn01", "FEN", (IPv4Address("10.2.64.221"), 40000), (IPv4Address("10.1.33.11"), 5011)
    )
    expected = expect(site, [through_deisa])
    assert expected.mtus == {"FEN:t:cn01": 1500}
    assert expected.rates == pytest.approx({"FEN:t:cn01": WIRE})
