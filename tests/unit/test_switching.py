"""Where a switch sends frames, read from `ovs-appctl dpctl/dump-flows --names`; answers of its control socket."""

import json
import random
import socket
from itertools import accumulate, pairwise
from typing import Any

import pytest

from causeway.errors import LabBroken
from causeway.lab.probes.switching import json_objects, parse_flows, parse_table

ION = "R00-M0-NC-3"


def first_pass(port: str, packets: int, size: int) -> str:
    """A frame comes in, is hashed and goes through the datapath a second time."""
    return (
        f"recirc_id(0),in_port({port}),eth(src=02:82:cf:a0:58:8f,dst=02:7f:f4:fb:72:2a),eth_type(0x0800),"
        f"ipv4(frag=no), packets:{packets}, bytes:{size}, used:0.100s, flags:SP., actions:hash(l4(0)),recirc(0x5)"
    )


def second_pass(port: str, bucket: int, member: str, packets: int, size: int) -> str:
    return (
        f"recirc_id(0x5),dp_hash({bucket:#x}/0xff),in_port({port}),eth(),eth_type(0x0800),ipv4(frag=no), "
        f"packets:{packets}, bytes:{size}, used:0.1s, actions:{member}"
    )


def test_the_line_of_the_second_pass_names_the_member() -> None:
    text = (
        "recirc_id(0x5),dp_hash(0x45/0xff),in_port(R00-M0-NC-4),eth(),eth_type(0x0800),ipv4(frag=no), "
        "packets:10, bytes:15140, used:0.1s, actions:nsd01-2\n"
    )
    assert parse_flows(text) == {("R00-M0-NC-4", "nsd01-2"): 15140}


def test_the_first_pass_does_not_count() -> None:
    assert parse_flows(first_pass(ION, 10, 15140)) == {}


def test_each_pair_of_ports_has_its_own_bytes() -> None:
    lines = []
    for bucket, (port, member) in enumerate([(ION, "nsd01-4"), ("R00-M0-NC-4", "nsd01-1"), ("FEN-1", "nsd01-1")]):
        lines += [first_pass(port, 1000, 1_514_000), second_pass(port, bucket, member, 1000, 1_514_000 + bucket)]
    assert parse_flows("\n".join(lines)) == {
        (ION, "nsd01-4"): 1_514_000,
        ("R00-M0-NC-4", "nsd01-1"): 1_514_001,
        ("FEN-1", "nsd01-1"): 1_514_002,
    }


def test_several_buckets_of_one_pair_of_ports_count_together() -> None:
    lines = [
        second_pass(ION, 0x01, "nsd01-1", 4, 4000),
        second_pass(ION, 0x02, "nsd01-2", 3, 3000),
        second_pass(ION, 0x03, "nsd01-2", 3, 3001),
    ]
    flows = parse_flows("\n".join(lines))
    assert flows == {(ION, "nsd01-1"): 4000, (ION, "nsd01-2"): 6001}
    assert max(flows, key=lambda pair: flows[pair]) == (ION, "nsd01-2")


def test_a_link_that_is_no_channel_passes_once() -> None:
    text = (
        "recirc_id(0),in_port(nsd01-3),eth(src=02:7f:f4:fb:72:2a,dst=02:82:cf:a0:58:8f),eth_type(0x0800),"
        "ipv4(frag=no), packets:7, bytes:462, used:3.210s, flags:S., actions:R00-M0-NC-3"
    )
    assert parse_flows(text) == {("nsd01-3", ION): 462}


def test_floods_and_flows_to_nowhere_do_not_count() -> None:
    lines = [
        second_pass("R00-M0-NC-4", 0x01, "nsd01-1,nsd02-1,deisa", 10, 15140),
        second_pass(ION, 0x01, "userspace(pid=3294967295,slow_path(lacp))", 10, 1240),
        "",
    ]
    assert parse_flows("\n".join(lines)) == {}


def test_a_pair_of_ports_without_a_flow_has_carried_nothing() -> None:
    assert parse_flows("")[ION, "nsd01-1"] == 0


#: Of JSON-RPC's form; with braces in a text, an object in an object, and characters of several bytes.
ANSWERS = [
    {"id": 0, "result": "", "error": None},
    {"id": 1, "result": 'a } and a { and a " and a \\', "error": None},
    {"id": 2, "result": None, "error": {"text": "no such bond: größer, 桥", "deep": {"er": [1, {}]}}},
    {},
    {"id": 3, "result": "done\n", "error": None},
]
PARTS = [json.dumps(answer, ensure_ascii=False).encode() for answer in ANSWERS]
WIRE = b"".join(PARTS)
ENDS = list(accumulate(map(len, PARTS)))


def in_steps_of(size: int) -> list[int]:
    return list(range(size, len(WIRE), size))


def at_random(seed: int) -> list[int]:
    dice = random.Random(seed)
    return sorted(dice.sample(range(1, len(WIRE)), dice.randrange(12)))


CUTS = [in_steps_of(1), in_steps_of(2), in_steps_of(7), in_steps_of(50), ENDS[:-1], ENDS[1:4:2], [ENDS[0] + 1], []]
CUTS += [at_random(seed) for seed in range(20)]


# a stream may join what was sent piece by piece; of a packet socket each recv gives one piece
@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_SEQPACKET], ids=["stream", "packets"])
@pytest.mark.parametrize("cuts", CUTS, ids=lambda cuts: f"{len(cuts)}-cuts")
def test_each_object_comes_as_soon_as_it_is_whole_however_split_and_joined(
    cuts: list[int], kind: socket.SocketKind
) -> None:
    here, there = socket.socketpair(socket.AF_UNIX, kind)
    with here, there:
        here.settimeout(2)  # waiting for more when an object is there already would end in TimeoutError
        objects = json_objects(here)
        found: list[Any] = []
        for begin, end in pairwise([0, *cuts, len(WIRE)]):
            there.sendall(WIRE[begin:end])
            while len(found) < sum(e <= end for e in ENDS):
                found.append(next(objects))
        assert found == ANSWERS


def test_when_the_other_end_hangs_up_whole_objects_come_and_then_an_error() -> None:
    here, there = socket.socketpair()
    with here:
        there.sendall(PARTS[0] + PARTS[1] + PARTS[2][:-1])
        there.close()
        objects = json_objects(here)
        assert [next(objects), next(objects)] == ANSWERS[:2]
        with pytest.raises(LabBroken, match="hung up"):
            next(objects)


def test_a_table_is_its_rules_for_single_addresses() -> None:
    text = (
        " priority=20,dl_dst=02:f6:c7:01:74:9a actions=output:up1\n"
        ' priority=20,dl_dst=02:34:05:e2:cc:52 actions=output:"x6"\n'
        " priority=10,dl_dst=01:00:00:00:00:00/01:00:00:00:00:00 actions=output:x6,output:up1\n"
        " priority=0 actions=drop\n"
    )
    assert parse_table(text) == {"02:f6:c7:01:74:9a": "up1", "02:34:05:e2:cc:52": "x6"}
