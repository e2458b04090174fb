"""A change that is played: what probes read, how a node is set again, and what is made of what was seen."""

import json
import resource
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from causeway.errors import LabBroken
from causeway.folders import REPO
from causeway.lab.probes import nuttcp
from causeway.lab.probes.pairs import Pair, Seen, answered, echo, passed
from causeway.lab.probes.watch import Io, Lost, Session, Watch, Watched, _room_for
from causeway.model.load import load_site
from causeway.model.thing import Port
from causeway.play import judge, load, native, rehearsal, streams
from causeway.play.judge import Step
from causeway.play.load import Carried, Share
from causeway.play.mounts import Mounts
from causeway.play.native import Native, commands_back, differences
from causeway.play.streams import Played
from causeway.rehearse.answer import Move, Prediction
from causeway.rehearse.change import Change, read_change
from causeway.rehearse.parts import parts
from causeway.rehearse.rates import Rates, patterns
from causeway.rehearse.reach import Reach
from causeway.report.rehearsal import QUESTIONS, Answer, Done, Rehearsal, as_data, junit, page, write

SMALL = REPO / "topologies" / "small" / "site.yaml"
SITE = load_site(SMALL)
REACH = Reach(SITE)


def whole(reach: Reach = REACH) -> dict[Pair, Seen]:
    """What a lab shows that does as is predicted."""
    return {
        pair: Seen("yes", talk.mtu, *reach.routers(*pair)) if talk.works else Seen("no")
        for pair, talk in reach.talks.items()
    }


def told(answers: Any) -> list[tuple[str, str, str, str, int]]:
    return [(a.turn, a.what, a.predicted, a.played, a.count) for a in answers]


# probes


def test_an_echo_request_has_the_sum_that_rfc_1071_asks_for() -> None:
    packet = echo(0x1234, b"abc")
    assert len(packet) == 12 and packet[0] == 8
    words = [int.from_bytes(packet[i : i + 2], "big") for i in range(0, len(packet), 2)]
    total = sum(words)
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF


def test_a_reply_is_read_with_the_addresses_that_it_recorded() -> None:
    addresses = [IPv4Address(a) for a in ("10.0.0.1", "10.0.0.2", "10.0.0.1")]
    option = bytes([1, 7, 39, 4 + 12]) + b"".join(a.packed for a in addresses) + bytes(24)
    header = bytes([0x4F]) + bytes(19) + option
    assert answered(header + echo(7, b"data")) == (7, b"data", addresses)
    assert answered(bytes([0x45]) + bytes(19) + echo(7, b"data"))[2] == []
    other = bytes([68, 4, 5, 0])  # a time stamp
    assert answered(bytes([0x46]) + bytes(19) + other + echo(7, b""))[2] == []


@pytest.mark.parametrize(
    ("names", "ways"),
    [
        (["a", "b", "b", "a"], ((), ())),
        (["a", "r", "b", "b", "s", "a"], (("r",), ("s",))),
        (["a", "r", "s", "b", "b", "t", "u", "v", "w"], (("r", "s"), None)),  # there was no more room
        (["a", "r"], (None, None)),
    ],
)
def test_routers_are_those_before_and_after_the_one_who_was_asked(names: list[str], ways: object) -> None:
    assert passed(names, "a", "b") == ways


def test_pings_are_lost_from_the_first_that_nobody_answers_to_the_next_that_somebody_does() -> None:
    lost = Lost()
    for number in range(40):
        now = number / 10
        lost.late(now)
        lost.waiting[number] = now
        if not 5 <= number < 12:
            lost.answer(number)
    assert [round(seconds, 6) for seconds in lost.seconds(4.0)] == [0.7, 0.7]
    assert not lost.still
    lost.waiting[99] = 4.0
    lost.late(5.5)
    assert lost.still
    lost.answer(99)  # too late
    assert [round(seconds, 6) for seconds in lost.seconds(6.0)] == [2.7, 2.0]


def test_pings_of_many_pairs_are_sent_in_turns_each_pair_s_as_often_as_the_others() -> None:
    sent: list[bytes] = []
    targets = {("a", Port(f"n{i}", "eth0")): IPv4Address(i) for i in range(120)}
    watch = Watch(None, targets, {})  # type: ignore[arg-type]
    line = SimpleNamespace(sendto=lambda packet, _: sent.append(packet))
    for turn in range(6):
        watch._ping({"a": line}, turn, 0.0)  # type: ignore[dict-item]
        assert len(sent) == 40 * (turn + 1)
    assert {packet[8:12] for packet in sent} == {i.to_bytes(4, "big") for i in range(120)}


def test_a_session_is_silent_for_what_goes_beyond_its_pause() -> None:
    session = Session(line=None, heard_at=0.0)  # type: ignore[arg-type]
    session.hears(0.5)
    session.hears(3.5)
    session.hears(4.0)
    assert session.silent_s == 2.5


def test_more_open_files_than_are_allowed_are_asked_for_or_refused() -> None:
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(200, most), most))
        _room_for(min(300, most))
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(300, most)
        with pytest.raises(LabBroken, match="open files"):
            _room_for(2**40)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (now, most))


# how nodes are set

LINKS = [
    {"ifname": "lo", "mtu": 65536, "flags": ["LOOPBACK", "UP"]},
    {"ifname": "eth0", "mtu": 1500, "flags": ["UP"]},
    {"ifname": "bond0", "mtu": 1500, "flags": ["UP"]},
]
OWN = [{"ifname": "eth0", "addr_info": [{"local": "10.0.0.1", "prefixlen": 24}]}, {}]
ROUTES = "default via 10.0.0.9 dev eth0 linkdown \n10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.1 \n"


def read(**update: Any) -> Native:
    said = f"{json.dumps(LINKS)}\n\n{json.dumps(OWN)}\n\n{ROUTES}"
    tunables = "net.ipv4.ip_forward = 1\nnet.ipv4.tcp_rmem = 4096\t1\t2\n"
    found = native.parse(
        said, tunables, "eth9,[]\neth8,9000\n", {"bond0": "layer2"}, {"bond0": ["eth1", "eth2", "eth3"]}
    )
    return replace(found, **update)


def test_what_a_node_says_of_itself_is_read() -> None:
    found = read()
    assert found.mtus == {"lo": 65536, "eth0": 1500, "bond0": 1500}
    assert found.addresses == {"eth0": ["10.0.0.1/24"]}
    assert found.routes == ("default via 10.0.0.9 dev eth0",)
    assert found.requested == {"eth9": "[]", "eth8": "9000"}
    assert found.tunables["net.ipv4.tcp_rmem"] == "4096\t1\t2"
    assert list(differences({"a": found}, {"a": found})) == []


@pytest.mark.parametrize(
    ("now", "lines", "moved"),
    [
        ({"mtus": {"lo": 65536, "eth0": 9000, "bond0": 1500}}, ["ip link set eth0 mtu 1500"], "eth0: MTU"),
        ({"routes": ()}, ["ip route add default via 10.0.0.9 dev eth0"], "route default via 10.0.0.9 dev eth0"),
        (
            {"routes": ("default via 10.0.0.8 dev eth0",)},
            ["ip route del default via 10.0.0.8 dev eth0", "ip route add default via 10.0.0.9 dev eth0"],
            "route default via 10.0.0.8 dev eth0",
        ),
        (
            {"up": frozenset({"lo", "bond0"}), "routes": ()},
            ["ip link set eth0 up", "ip route replace default via 10.0.0.9 dev eth0"],
            "eth0: is up",
        ),
        (
            {"addresses": {"eth0": ["10.0.0.2/24"]}},
            [
                "ip address add 10.0.0.1/24 dev eth0",
                "ip address del 10.0.0.2/24 dev eth0",
                "ip route replace default via 10.0.0.9 dev eth0",
            ],
            "eth0: addresses",
        ),
        (
            {"policies": {"bond0": "layer3+4"}},
            ["echo layer2 > /sys/class/net/bond0/bonding/xmit_hash_policy"],
            "bond0: sends by",
        ),
        (
            {"members": {"bond0": ["eth1", "eth3"]}},
            [
                "ip link set eth3 nomaster",
                "ip link set eth2 down", "ip link set eth2 master bond0",
                "ip link set eth3 down", "ip link set eth3 master bond0",
                "ip link set eth2 up", "ip link set eth3 up",
                "ip route replace default via 10.0.0.9 dev eth0",
            ],
            "bond0: members in order",
        ),
        (
            {"requested": {"eth9": "9000", "eth8": "9000"}, "mtus": {"lo": 65536, "eth0": 1500, "bond0": 1500}},
            [],
            "eth9: mtu_request",
        ),
        (
            {"tunables": {"net.ipv4.ip_forward": "0", "net.ipv4.tcp_rmem": "4096\t1\t2"}},
            ['sysctl -q -w "net.ipv4.ip_forward=1"'],
            "net.ipv4.ip_forward",
        ),
    ],
)  # fmt: skip
def test_the_way_back_is_what_root_types_for_what_differs(now: dict[str, Any], lines: list[str], moved: str) -> None:
    before, after = read(), read(**now)
    assert commands_back(SITE, "pier", before, after) == lines
    assert moved in [what for _, what, _, _ in differences({"a": before}, {"a": after})]


def test_switches_and_makers_policies_are_set_by_their_own_commands() -> None:
    before = Native(mtus={"p1": 1500}, policies={"quay1": "balance-slb"}, requested={"p1": "[]", "p2": "[]"})
    now = Native(mtus={"p1": 9000}, policies={"quay1": "balance-tcp"}, requested={"p1": "9000", "p2": "[]"})
    assert commands_back(SITE, "basin", before, now) == [
        "ovs-vsctl clear interface p1 mtu_request",
        "ip link set p1 mtu 1500",
        "ovs-vsctl set port quay1 bond_mode=balance-slb",
    ]
    before, now = (Native(policies={"bond0": p}, members={"bond0": []}) for p in ("src_dst_port", "layer2"))
    assert commands_back(SITE, "quay1", before, now) == ['bond-policy bond0 "src_dst_port"']


# what is made of what was seen


def change(tmp_path: Path, text: str) -> tuple[Change, Reach]:
    (tmp_path / "change.txt").write_text(text)
    found = read_change(SMALL, None, tmp_path / "change.txt")
    return found, Reach(found.after)


def test_a_lab_that_does_as_predicted_has_no_answers_and_no_differences() -> None:
    seen = whole()
    assert list(judge.reach(SITE, seen, seen, REACH)) == []
    assert list(judge.unlike(seen, REACH, "before")) == []
    assert list(judge.between(seen, [Step("one", seen, REACH)], seen)) == []


def test_who_is_cut_off_is_worse_and_told_beside_the_prediction(tmp_path: Path) -> None:
    _, due = change(tmp_path, "pier# ip route del default\n")
    answers = list(judge.reach(SITE, whole(), whole(due), due))
    (found,) = (answer for answer in answers if "pier" in answer.pairs)
    (other,) = (answer for answer in answers if "lark" in answer.pairs)
    assert found.pairs["pier"] == ["quay1:bond0", "quay2:bond0", "lark:eth0", "wren:eth0", "gull:eth0", "lock:eth0"]
    assert (found.turn, found.before, found.predicted, found.played) == (
        "worse",
        "yes",
        "no: pier has no route to quay1",
        "no",
    )
    assert other.predicted.startswith("no: there, and not back: pier has no route to")
    assert found.see[0] == f"pier# ip route get {SITE.nodes['quay1'].interfaces['bond0'].address}"
    assert list(judge.unlike(whole(due), due, "afterwards")) == []


def test_what_comes_otherwise_than_predicted_is_said_of_each_thing() -> None:
    seen = whole()
    pair = "lark", Port("quay1", "eth0")
    for is_, what in (
        (Seen("no"), "reaches afterwards"),
        (Seen("stalls", 1500, (), ()), "reaches afterwards"),
        (replace(seen[pair], mtu=9000), "size of full packets afterwards"),
        (replace(seen[pair], there=("lock",)), "way afterwards"),
        (replace(seen[pair], back=("lock",)), "way back afterwards"),
    ):
        (answer,) = judge.unlike({**seen, pair: is_}, REACH, "afterwards")
        assert (answer.question, answer.turn, answer.what, answer.count) == ("prediction", "worse", what, 1)
    assert list(judge.unlike({pair: replace(seen[pair], there=None, back=None)}, REACH, "")) == []


def test_where_one_member_takes_smaller_packets_both_may_be_seen(tmp_path: Path) -> None:
    hosts = "quay?# ip link set bond0 mtu 9000\nboat# ip link set eth0 mtu 9000\n".replace("boat", "lark")
    ports = "".join(f"basin# ip link set {port} mtu 9000\n" for port in ("lark", "quay1-1", "quay1-2"))
    _, due = change(tmp_path, hosts + ports)
    pair = "lark", Port("quay1", "bond0")
    assert due.talks[pair].state == "stalls" and due.by_member(*pair)
    for state in ("stalls", "yes"):
        assert list(judge.unlike({pair: Seen(state, 9000, (), ())}, due, "afterwards")) == []  # type: ignore[arg-type]
    _, whole_ones = change(tmp_path, hosts)
    assert not whole_ones.by_member(*pair)
    assert len(list(judge.unlike({pair: Seen("yes", 9000, (), ())}, whole_ones, "afterwards"))) == 1


def test_packets_and_ways_that_are_others_are_told_apart(tmp_path: Path) -> None:
    _, due = change(tmp_path, "lark# ip route del 10.30.0.11\nlark# ip link set eth0 mtu 1400\n")
    found = told(judge.reach(due.site, whole(), whole(due), due))
    assert ("worse", "size of full packets", "1400 bytes", "1400 bytes", 15) in found
    assert ("other", "way", "by lock", "by lock", 1) in found
    back = told(judge.reach(SITE, whole(due), whole(), REACH))
    assert ("better", "size of full packets", "1500 bytes", "1500 bytes", 15) in back


def test_who_is_cut_off_between_two_steps_is_found() -> None:
    seen = whole()
    cut = {pair: Seen("stalls", 1500) if pair[0] == "lark" else is_ for pair, is_ in seen.items()}
    (found,) = judge.between(seen, [Step("line 3", cut, None), Step("line 4", seen, None)], seen)
    assert (found.what, found.played, list(found.pairs)) == (
        "reaches after line 3",
        "large packets are lost",
        ["lark"],
    )
    assert list(judge.between(seen, [Step("line 3", cut, None)], cut)) == []


def test_what_is_lost_meanwhile_is_a_cost_and_what_breaks_or_fails_is_worse() -> None:
    pair = "lark", Port("quay1", "eth0")
    files = [Io("a", "home", 2.0, 1.5, ""), Io("b", "home", 0.0, 0.0, "Input/output error")]
    watched = Watched(0.1, 9.0, {pair: (1.5, 1.0)}, {pair: "Connection reset by peer"}, {pair: 3.0}, files)
    found = {(a.question, a.turn): a for a in judge.meanwhile(watched, whole(), "during the change", calm=False)}
    assert found["lost", "other"].played == "1.5 s, at most 1.0 s at once"
    assert found["sessions", "worse"].played == "Connection reset by peer"
    assert found["files", "worse"].pairs == {"b": []}
    assert found["files", "other"].pairs == {"a": []}
    assert found["files", "other"].played == "2.0 s, at most 1.5 s at once"
    assert "lost" not in {a.question for a in judge.meanwhile(watched, {pair: Seen("no")}, "", calm=False)}
    quiet = replace(watched, lost={}, broke={}, files=[])
    assert [a.what for a in judge.meanwhile(quiet, whole(), "", calm=False)] == ["sessions that were silent "]


def test_a_change_that_costs_nothing_says_so_of_every_pair_and_mount() -> None:
    seen = whole()
    files = [Io("a", "home", 0.0, 0.0, ""), Io("b", "home", 0.0, 0.0, "")]
    watched = Watched(0.1, 9.0, dict.fromkeys(seen, (0.0, 0.0)), {}, {}, files)
    lost, hung = judge.meanwhile(watched, seen, "during the change", calm=True)
    assert (lost.question, lost.turn, lost.played, lost.count) == ("lost", "other", "0.0 s", len(seen))
    assert (hung.what, hung.turn, hung.played, hung.count) == (
        "writes to home hung during the change", "other", "0.0 s", 2,
    )  # fmt: skip
    stalled = replace(watched, lost={}, files=[Io("a", "home", 2.0, 2.0, "")])
    for calm, turn, due in ((True, "worse", "0.0 s"), (False, "other", "")):
        (found,) = judge.meanwhile(stalled, seen, "", calm=calm)
        assert (found.turn, found.predicted, found.played) == (turn, due, "2.0 s")


def test_pings_that_are_still_lost_of_a_pair_that_can_talk_are_worse() -> None:
    seen, pair = whole(), ("lark", Port("quay1", "eth0"))
    watched = Watched(0.1, 9.0, {pair: (5.0, 5.0)}, {}, {}, [], frozenset({pair}))
    (found,) = judge.meanwhile(watched, seen, "during the change", calm=True)
    assert (found.turn, found.what) == ("worse", "pings lost during the change, and afterwards")
    assert list(judge.meanwhile(watched, {**seen, pair: Seen("no")}, "", calm=True)) == []


def test_a_filesystem_that_is_gone_somewhere_or_refused_is_worse_and_another_key_is_told() -> None:
    both = frozenset({("lark", "home"), ("wren", "home")})
    before = Mounts(both, dict.fromkeys(both, ""), {"Fleet": "aa"})
    assert list(judge.mounts(SITE, before, before, {})) == []
    gone = replace(before, on=frozenset({("lark", "home")}))
    assert [(a.turn, a.what, a.pairs) for a in judge.mounts(SITE, before, gone, {})] == [
        ("worse", "mounts home", {"wren": []})
    ]
    shut = replace(before, anew=dict.fromkeys(sorted(both), "refused in the handshake"), keys={"Fleet": "bb"})
    due = {("Fleet", "home"): "Harbour does not know the key that Fleet shows"}
    refused, key = judge.mounts(SITE, before, shut, due)
    assert (refused.turn, refused.what, refused.count) == ("worse", "new mounts of home", 2)
    assert (refused.predicted, refused.played) == (due["Fleet", "home"], "refused in the handshake")
    assert (key.turn, key.what, key.before, key.played) == ("other", "key of Fleet", "aa", "bb")
    assert [a.turn for a in judge.mounts(SITE, shut, before, {})] == ["better", "other"]


def test_new_mounts_that_go_otherwise_than_predicted_are_said() -> None:
    due = {("Fleet", "home"): "Harbour does not know the key that Fleet shows"}
    let_in, shut = (Mounts(anew={("lark", "home"): why}) for why in ("", "refused in the handshake"))
    assert list(judge.unlike_mounts(SITE, shut, due, "")) == list(judge.unlike_mounts(SITE, let_in, {}, "")) == []
    for seen, expected in ((let_in, due), (shut, {})):
        (found,) = judge.unlike_mounts(SITE, seen, expected, "afterwards")
        assert (found.question, found.turn, found.what) == ("prediction", "worse", "new mounts of home afterwards")


def test_rates_turn_by_their_distribution_and_differ_by_the_ports_that_were_drawn() -> None:
    pattern = next(p for p in patterns(REACH) if p.through)
    many, few = Rates((2000.0,) * 9), Rates((1000.0,) * 9)
    good = Played(2000.0, 1990.0, {"eth1": 50.0, "eth2": 50.0}, {"eth1": 50.4, "eth2": 49.6})
    (answer,) = judge.rates([(pattern, many, few)], {pattern.name: good}, {pattern.name: good})
    assert (answer.turn, answer.predicted) == ("worse", "2000 > 1000 Mbit/s over all draws")
    slow = replace(good, mbit=1900.0)
    uneven = replace(good, parts={"eth1": 100.0, "eth2": 0.0})
    for bad in (slow, uneven):
        found = list(judge.rates([(pattern, few, many)], {pattern.name: good}, {pattern.name: bad}))
        assert [(a.question, a.turn) for a in found] == [("rates", "better"), ("prediction", "worse")]
    assert list(judge.rates([(pattern, many, few)], {}, {})) == []


def test_what_only_computation_knows_is_told_and_what_is_played_is_not_told_twice() -> None:
    moves = [
        Move("reaches", "worse", "yes", "no"),
        Move("reaches after line 3", "worse", "yes", "no"),
        Move("hangs on", "worse", "nothing else", "lock", {"a": ["b:eth0"]}),
        Move("6 streams", "better", "1", "2"),
    ]
    prediction = Prediction("small", "x", moves, [], {}, [])
    assert [a.what for a in judge.computed(prediction, ["6 streams"])] == ["hangs on"]


def test_streams_are_put_beside_what_is_computed_for_their_ports() -> None:
    pattern = next(p for p in patterns(REACH) if p.through and p.out)
    assert streams.playable(SITE, pattern)
    assert pattern.through is not None
    end, _ = pattern.through
    drawn = streams.drawn(SITE, pattern, Random("x"))
    measured = [
        nuttcp.Measured(s, "", 100.0, 400.0, 0, (SITE.nodes[end.node].interfaces[end.name].address, s.source_port),
                        (s.address, s.data_port))
        for s in drawn
    ]  # fmt: skip
    found = streams.beside(SITE, end, measured, dict.fromkeys(end.members, 10))
    assert found.mbit == 400.0 * len(drawn)
    assert round(sum(found.due_parts.values())) == 100
    assert set(found.parts.values()) == {100 / 3}
    channels = [c.model_copy(update={"ends": [e.model_copy(update={"hash_policy": "balance-tcp"}) for e in c.ends]})
                for c in SITE.channels]  # fmt: skip
    assert not streams.playable(replace(SITE, channels=tuple(channels)), pattern)
    inwards = next(p for p in patterns(REACH) if p.through and p.through[0] == end and not p.out)
    secret = [c.model_copy(update={"ends": [
        e.model_copy(update={"hash_policy": "balance-tcp"}) if (e.node, e.name) == ("basin", end.node) else e
        for e in c.ends]}) for c in SITE.channels]  # fmt: skip
    site = replace(SITE, channels=tuple(secret))
    assert (streams.playable(site, pattern), streams.playable(site, inwards)) == (True, False)
    assert not streams.playable(SITE, replace(pattern, through=None))


SS = """\
ESTAB 0 0 10.20.0.31:6001 10.20.0.11:5101 cubic wscale:7,7 bytes_sent:900 bytes_acked:800 segs_out:3 data_segs_out:2
ESTAB 0 0 10.20.0.31:4907 10.20.0.11:4909 cubic wscale:7,7 bytes_sent:9 bytes_acked:9
ESTAB 0 0 10.20.0.31:6002 10.20.0.11:5103 cubic wscale:7,7
"""


def test_what_a_stream_has_carried_is_read_by_its_ports() -> None:
    ends = (("one", 6000, 5101), ("gone", 6002, 5103), ("other", 6000, 5105))
    own = [
        nuttcp.Stream("lark", "quay1", IPv4Address("10.20.0.11"), name, "t", here, there) for name, here, there in ends
    ]
    assert load.parse_sockets(SS, own) == {"one": 800}


def test_streams_that_run_all_the_time_show_what_moved_and_one_that_ends_is_worse() -> None:
    pattern = next(p for p in patterns(REACH) if p.through)
    rates = [(pattern, Rates((800.0,)), Rates((900.0,)))]
    before, after = (Share({"a": 400.0, "b": b}, {"eth1": part}) for b, part in ((300.0, 60.0), (500.0, 50.0)))
    found = list(judge.load(Carried(pattern.name, before, 650.0, after, [], 7), rates))
    assert {a.turn for a in found} == {"other"} and {a.question for a in found} == {"load"}
    assert (found[0].before, found[0].predicted, found[0].played) == (
        "700.0 Mbit/s: eth1 60 %", "800 > 900 Mbit/s over all draws", "900.0 Mbit/s: eth1 50 %",
    )  # fmt: skip
    assert [(a.what, a.before, a.played) for a in found[1:]] == [
        (f"{pattern.name}, during the change", "", "650.0 Mbit/s"),
        ("stream a", "400.0 Mbit/s", "400.0 Mbit/s"),
        ("stream b", "300.0 Mbit/s", "500.0 Mbit/s"),
        ("packets that their senders' TCP sent again meanwhile", "", "7"),
    ]
    ended = judge.load(Carried(pattern.name, before, 650.0, after, ["b"], 7), rates)
    assert [a.what for a in ended if a.turn == "worse"] == ["stream b ended"]


def test_the_streams_that_run_all_the_time_are_those_that_move_most() -> None:
    own = [p for p in patterns(REACH) if p.through]
    moved = [(p, Rates((100.0,)), Rates((100.0 + i,))) for i, p in enumerate(own)]
    assert streams.moves_most(Change(SITE, SITE), moved) is own[-1]
    assert streams.moves_most(Change(SITE, SITE), [(own[0], Rates((1.0,)), Rates())]) is None


def test_of_many_nodes_two_stand_for_all_that_are_alike() -> None:
    assert rehearsal.chosen(Change(SITE, SITE)) == [n for n, about in SITE.nodes.items() if about.interfaces]
    big = load_site(REPO / "topologies" / "jubl" / "site.yaml", {"io": 288})
    few = rehearsal.chosen(Change(big, big))
    assert len(few) < 40
    assert sum(name in big.diskless() for name in few) <= 8


def test_a_lab_that_is_not_what_the_site_says_is_broken_before_anything_is_changed() -> None:
    seen = whole()
    pair = next(iter(seen))
    own = SimpleNamespace(was=REACH)
    rehearsal._Rehearsal._sound(own, seen)  # type: ignore[arg-type]
    with pytest.raises(LabBroken, match="before anything is changed"):
        rehearsal._Rehearsal._sound(own, {**seen, pair: Seen("no")})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "calm"),
    [
        ("SN# mcauth genkey new\n", True),
        ("FEN# mcshutdown\n", False),  # what that does is not predicted
        ("SN# mcauth genkey commit\n", False),  # it fails
        ("nsd01# ip link set bond0 down\nnsd01# ip link set bond0 up\n", False),  # a server is away for a while
    ],
)
def test_no_write_may_hang_where_every_line_leaves_the_servers_in_reach(tmp_path: Path, text: str, calm: bool) -> None:
    (tmp_path / "change.txt").write_text(text)
    found = read_change(REPO / "topologies" / "jubl" / "site.yaml", None, tmp_path / "change.txt")
    own = SimpleNamespace(wanted=SimpleNamespace(change=found, parts=parts(found)), due=Reach(found.after))
    assert rehearsal._Rehearsal._calm(own, Mounts(frozenset({("FEN", "work")}))) is calm  # type: ignore[arg-type]
    assert not rehearsal._Rehearsal._calm(
        SimpleNamespace(wanted=SimpleNamespace(change=Change(SITE, SITE))),  # type: ignore[arg-type]
        Mounts(),
    )  # of files nobody computes what happens between


# the answer


def result(*answers: Answer) -> Rehearsal:
    parts = [Done("line 1: <true>", 1.5, ["a# <true>"], "2 of 2 pairs can talk")]
    head = ("ID", "small", "change.txt", "virtual", 1, "2026-11-22T18:00:00+00:00", 60.0, 300.0)
    return Rehearsal(*head, list(answers), parts, ["a line"], list(QUESTIONS))


WORSE = Answer("reach", "worse", "reaches", "yes", "no: <why>", "no", {"a": ["b:eth0", "c:eth0"]}, ["a# ping b"])


def test_the_exit_code_is_the_verdict() -> None:
    assert (result().exit_code, result().summary) == (0, "no regression: 0 worse, 0 better")
    assert (result(WORSE).exit_code, result(WORSE).verdict) == (1, "regression")
    other = replace(WORSE, turn="other")
    assert (result(other).exit_code, result(replace(WORSE, turn="better")).count("better")) == (0, 1)


def test_the_page_json_and_junit_have_what_was_found(tmp_path: Path) -> None:
    found = result(replace(WORSE, turn="better"), WORSE)
    assert [a.turn for a in found.of("reach")] == ["worse", "better"]
    write(found, tmp_path, "<svg id='site-drawing'/>")
    text = (tmp_path / "rehearsal.html").read_text()
    assert text == page(found, "<svg id='site-drawing'/>")
    assert "regression: 1 worse, 1 better" in text and "no: &lt;why&gt;" in text and "a# ping b" in text
    assert "<svg id='site-drawing'/>" in text and "http" not in text
    data = json.loads((tmp_path / "rehearsal.json").read_text())
    assert data == as_data(found)
    assert (data["verdict"], data["answers"][1]["pairs"]) == ("regression", {"a": ["b:eth0", "c:eth0"]})
    suite = ET.fromstring(junit(found))
    assert (suite.get("tests"), suite.get("failures")) == (str(len(QUESTIONS)), "1")
    (failure,) = suite.iter("failure")
    assert failure.get("message") == (
        "worse: reaches: before: yes, predicted: no: <why>, played: no (a > b:eth0, c:eth0)"
    )


def test_a_comment_for_a_merge_request_has_the_verdict_and_the_worst_first(tmp_path: Path) -> None:
    write(result(replace(WORSE, turn="better", what="a|b"), WORSE), tmp_path)
    script = [sys.executable, str(REPO / "docs" / "rehearsal-comment"), str(tmp_path / "rehearsal.json")]
    lines = subprocess.run(script, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[0] == "**change.txt on small: regression** (1 worse, 1 better, 0 other)"
    assert lines[4] == "| worse | reaches | yes | no: &lt;why> | no | 2 |"
    assert lines[5].startswith("| better | a\\|b |")
