"""The BPF programs that have a bond send by a maker's policy, run by a small interpreter, beside the plan."""

import struct

import pytest

from causeway.model.topology import AIX_POLICIES, CISCO_POLICIES
from causeway.plan.hashing import sending_number
from causeway.scenario.words.frames import crafted
from nodes.bonding.bond_policy import POLICIES, called, main, program

FRAMES = 400


class Dice:
    """What `crafted` takes of a stage."""

    def __init__(self) -> None:
        import random

        self.random = random.Random(1)


FLOWS = crafted(Dice(), FRAMES)  # type: ignore[arg-type]


def interpreted(code: bytes, frame: bytes, own: int = 0) -> int | None:
    """The hash that a program gives a frame, whose own it was; None where it gives none."""
    lines = list(struct.iter_unpack("<BBhi", code))
    register = [0] * 10
    at, given = 0, None
    while True:
        operation, places, jump, value = lines[at]
        to, source = places & 15, places >> 4
        at += 1
        if operation in (0x30, 0x28, 0x48):
            offset = value + (register[source] if operation == 0x48 else 0)
            width = 1 if operation == 0x30 else 2
            if offset + width > len(frame):
                return None
            register[0] = int.from_bytes(frame[offset : offset + width], "big")
            register[1:6] = [0xDEAD] * 5  # a load clobbers them
        elif operation == 0xBF:
            register[to] = register[source]
        elif operation == 0xB7:
            register[to] = value
        elif operation == 0x0F:
            register[to] += register[source]
        elif operation == 0xAF:
            register[to] ^= register[source]
        elif operation == 0x57:
            register[to] &= value
        elif operation == 0x67:
            register[to] <<= value
        elif operation == 0x77:
            register[to] >>= value
        elif operation == 0x05:
            at += jump
        elif operation == 0x15:
            at += jump if register[to] == value else 0
        elif operation == 0x55:
            at += jump if register[to] != value else 0
        elif operation == 0x45:
            at += jump if register[to] & value else 0
        elif operation == 0x27:
            register[to] *= value
        elif operation == 0x85 and value == 34:
            assert register[1] == register[6]
            register[0] = own
            register[1:6] = [0xDEAD] * 5
        elif operation == 0x85:
            assert (value, register[1]) == (48, register[6])
            given = register[2]
        elif operation == 0x95:
            return given
        else:
            raise AssertionError(f"no such instruction: {operation:#x}")


def test_the_nodes_know_the_policies_that_a_site_may_have() -> None:
    assert sorted(POLICIES) == sorted(AIX_POLICIES + CISCO_POLICIES)


@pytest.mark.parametrize("policy", AIX_POLICIES + CISCO_POLICIES)
def test_each_frame_gets_the_number_that_the_plan_computes(policy: str) -> None:
    code = program(POLICIES[policy])
    wrong = [flow for flow, frame in FLOWS if interpreted(code, frame) != sending_number(flow, policy)]
    assert wrong == []


@pytest.mark.parametrize("policy", AIX_POLICIES + CISCO_POLICIES)
def test_streams_differ_in_their_hash_and_not_in_their_member(policy: str) -> None:
    code = program(POLICIES[policy])
    for flow, frame in FLOWS[:40]:
        hashes = [interpreted(code, frame, own) for own in (0, 1, 0x12345678, 0xFFFFFFFF)]
        assert len(set(hashes)) == len(hashes)
        for given in hashes:
            assert given is not None and given < 2**32
            assert [given % count for count in range(1, 9)] == [
                sending_number(flow, policy) % count for count in range(1, 9)
            ]


@pytest.mark.parametrize("policy", AIX_POLICIES + CISCO_POLICIES)
def test_no_other_policys_program_does(policy: str) -> None:
    code = program(POLICIES[policy])
    for other in POLICIES:
        if other != policy:
            assert any(interpreted(code, frame) != sending_number(flow, other) for flow, frame in FLOWS), other


def test_a_header_with_options_is_longer() -> None:
    flow, frame = next((flow, frame) for flow, frame in FLOWS if flow.protocol == 6 and flow.ethertype == 0x0800)
    longer = frame[:14] + bytes([0x46]) + frame[15:34] + bytes(4) + frame[34:]
    assert interpreted(program(POLICIES["src_dst_port"]), longer) == sending_number(flow, "src_dst_port")


def test_a_frame_that_ends_too_early_is_given_nothing() -> None:
    assert interpreted(program(POLICIES["src_port"]), bytes(12) + b"\x08\x00" + bytes(8)) is None


@pytest.mark.parametrize("policy", POLICIES)
def test_every_jump_stays_in_the_program_and_goes_on(policy: str) -> None:
    # the kernel takes no program that jumps out, or has what nobody reaches
    lines = list(struct.iter_unpack("<BBhi", program(POLICIES[policy])))
    reached, waiting = set(), [0]
    while waiting:
        at = waiting.pop()
        if at in reached:
            continue
        reached.add(at)
        operation, _, jump, _ = lines[at]
        assert jump >= 0
        if operation in (0x05, 0x15, 0x55, 0x45):
            waiting.append(at + 1 + jump)
        if operation not in (0x05, 0x95):
            waiting.append(at + 1)
    assert reached == set(range(len(lines)))


def test_the_kernel_has_another_name_for_each() -> None:
    names = {called(policy) for policy in POLICIES}
    assert len(names) == len(POLICIES)
    assert all(len(name) <= 15 and name.replace("_", "").isalnum() for name in names)


@pytest.mark.parametrize("words", [[], ["bond0", "layer2", "more"]])
def test_a_wrong_call_says_how(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "usage: bond-policy BOND [POLICY]" in capsys.readouterr().err
