#!/usr/bin/env python3
"""Have a Linux bond send by another maker's policy, or by one of its own: bond-policy BOND [POLICY]. Alone: say which.

With encap3+4 a bond takes the hash that a frame brings, where that is one of addresses and ports (bond_xmit_hash in
bond_main.c, Linux 7.3), and sends by usable member number hash % count. So a BPF program where frames enter the bond
(tcx, egress) gives each the number of the policy, and the rest is the bond's own doing: who is usable, and in what
order. One of Linux's own policies takes the program away.

The same hash tells the queues below which frames are one stream's. So the number comes with a multiple of 840 that is
the frame's own: each count of members up to 8, which is the makers' most, divides 840, and the remainder is the same.

The numbers are an AIX EtherChannel's (IBM, "Standard or 802.3ad algorithm") and a Catalyst's (Cisco, document 12023);
what these documents leave open is said in causeway/plan/hashing.
"""

import ctypes
import os
import socket
import struct
import sys
from dataclasses import dataclass

SOURCE, DESTINATION, BOTH, HALF_OF_SUM = "source", "destination", "both", "half of sum"
BROUGHT = "encap3+4"


@dataclass(frozen=True)
class Policy:
    """Which bits of a frame make the number: of its ports, else of its IP addresses, else of its MAC addresses.

    ports, ip: None where the next ones count in any case.
    """

    ports: str | None
    ip: str | None
    mac: str
    mask: int


POLICIES = {
    "default": Policy(None, DESTINATION, DESTINATION, 0xFF),
    "src_dst_port": Policy(HALF_OF_SUM, DESTINATION, DESTINATION, 0xFF),
    "src_port": Policy(SOURCE, DESTINATION, DESTINATION, 0xFF),
    "dst_port": Policy(DESTINATION, DESTINATION, DESTINATION, 0xFF),
}
for _whose in SOURCE, DESTINATION, BOTH:
    POLICIES[f"mac {_whose}"] = Policy(None, None, _whose, 0b111)
    POLICIES[f"ip {_whose}"] = Policy(None, _whose, _whose, 0b111)
    POLICIES[f"session {_whose}"] = Policy(_whose, _whose, _whose, 0b111)

# Instructions (kernel: Documentation/bpf/standardization/instruction-set.rst)
LOAD_BYTE, LOAD_HALF, LOAD_HALF_AT = 0x30, 0x28, 0x48
MOVE, SET, ADD, XOR, AND, LEFT, RIGHT, TIMES = 0xBF, 0xB7, 0x0F, 0xAF, 0x57, 0x67, 0x77, 0x27
GO, IF_EQUAL, IF_NOT_EQUAL, IF_ANY_BIT, CALL, EXIT = 0x05, 0x15, 0x55, 0x45, 0x85, 0x95
GET_HASH, SET_HASH = 34, 48  # the helpers bpf_get_hash_recalc and bpf_set_hash
#: What leaves every remainder as it is, and how many multiples of it 32 bits have room for.
STEP, STEPS = 840, 2**22
#: r6 has the frame; r7 and r8 what is loaded of source and destination, and r7 in the end the number.
FRAME, ONE, OTHER, AT = 6, 7, 8, 9


class Program:
    """A BPF program under way: instructions, and the places that they jump to."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, int, int, str, int]] = []
        self._places: dict[str, int] = {}

    def add(self, code: int, to: int = 0, source: int = 0, value: int = 0, place: str = "") -> None:
        self._lines.append((code, to, source, place, value))

    def here(self, place: str) -> None:
        self._places[place] = len(self._lines)

    def load(self, code: int, into: int, offset: int, at: int = 0) -> None:
        """What is at an offset of the frame (plus a register); a frame that ends before it passes as it is."""
        self.add(code, 0, at, offset)
        self.add(MOVE, into, 0)

    def combine(self, how: str) -> None:
        if how == DESTINATION:
            self.add(MOVE, ONE, OTHER)
        elif how == BOTH:
            self.add(XOR, ONE, OTHER)
        elif how == HALF_OF_SUM:
            self.add(ADD, ONE, OTHER)
            self.add(RIGHT, ONE, value=1)
        self.add(GO, place="done")

    def instructions(self) -> bytes:
        return b"".join(
            struct.pack("<BBhi", code, to | source << 4, self._places[place] - number - 1 if place else 0, value)
            for number, (code, to, source, place, value) in enumerate(self._lines)
        )


def program(policy: Policy) -> bytes:
    """The instructions that give a frame its number. Ethernet without a VLAN tag, IPv4, IPv6 without extensions."""
    made = Program()
    made.add(MOVE, FRAME, 1)
    if policy.ip:
        made.load(LOAD_HALF, ONE, 12)
        made.add(IF_EQUAL, ONE, value=0x0800, place="IPv4")
        made.add(IF_EQUAL, ONE, value=0x86DD, place="IPv6")
    made.load(LOAD_BYTE, ONE, 11)
    made.load(LOAD_BYTE, OTHER, 5)
    made.combine(policy.mac)
    if policy.ip:
        made.here("IPv4")
        if policy.ports:
            made.load(LOAD_HALF, ONE, 20)
            made.add(IF_ANY_BIT, ONE, value=0x3FFF, place="IPv4 addresses")  # a fragment
            made.load(LOAD_BYTE, ONE, 23)
            made.add(IF_EQUAL, ONE, value=socket.IPPROTO_TCP, place="IPv4 ports")
            made.add(IF_NOT_EQUAL, ONE, value=socket.IPPROTO_UDP, place="IPv4 addresses")
            made.here("IPv4 ports")
            made.load(LOAD_BYTE, AT, 14)  # the header's length, in words
            made.add(AND, AT, value=0x0F)
            made.add(LEFT, AT, value=2)
            made.load(LOAD_HALF_AT, ONE, 14, AT)
            made.load(LOAD_HALF_AT, OTHER, 16, AT)
            made.combine(policy.ports)
        made.here("IPv4 addresses")
        made.load(LOAD_BYTE, ONE, 29)
        made.load(LOAD_BYTE, OTHER, 33)
        made.combine(policy.ip)
        made.here("IPv6")
        if policy.ports:
            made.load(LOAD_BYTE, ONE, 20)
            made.add(IF_EQUAL, ONE, value=socket.IPPROTO_TCP, place="IPv6 ports")
            made.add(IF_NOT_EQUAL, ONE, value=socket.IPPROTO_UDP, place="IPv6 addresses")
            made.here("IPv6 ports")
            made.load(LOAD_HALF, ONE, 54)
            made.load(LOAD_HALF, OTHER, 56)
            made.combine(policy.ports)
        made.here("IPv6 addresses")
        made.load(LOAD_BYTE, ONE, 37)
        made.load(LOAD_BYTE, OTHER, 53)
        made.combine(policy.ip)
    made.here("done")
    made.add(AND, ONE, value=policy.mask)
    made.add(MOVE, 1, FRAME)
    made.add(CALL, value=GET_HASH)
    made.add(AND, 0, value=STEPS - 1)
    made.add(TIMES, 0, value=STEP)
    made.add(ADD, ONE, 0)
    made.add(MOVE, 1, FRAME)
    made.add(MOVE, 2, ONE)
    made.add(CALL, value=SET_HASH)
    made.add(SET, 0, value=0)
    made.add(EXIT)
    return made.instructions()


# bpf(2): commands, a program for a device's traffic, and where frames leave the stack (include/uapi/linux/bpf.h)
LOAD, ATTACH, DETACH, OPEN_ID, ABOUT, QUERY = 5, 8, 9, 13, 15, 16
FOR_TRAFFIC, EGRESS = 3, 47
MOST = 16
_LIBC = ctypes.CDLL(None, use_errno=True)


def bpf(command: int, asked: bytes) -> tuple[int, bytes]:
    """The system call: its result, and the attributes that it may have changed. Raises OSError."""
    attributes = ctypes.create_string_buffer(asked.ljust(128, b"\0"), 128)
    result = _LIBC.syscall(321, command, attributes, 128)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command}): {os.strerror(ctypes.get_errno())}")
    return result, attributes.raw


def called(policy: str) -> str:
    """What the kernel calls a policy's program: it has room for 15 characters."""
    return policy.replace(" ", "_")[:15]


def load(policy: str) -> int:
    code, licence = program(POLICIES[policy]), b"GPL"
    kept = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(licence)
    where = [ctypes.addressof(buffer) for buffer in kept]
    head = struct.pack("<IIQQIIQII", FOR_TRAFFIC, len(code) // 8, *where, 0, 0, 0, 0, 0)
    return bpf(LOAD, head + called(policy).encode())[0]


def loaded(device: int) -> dict[str, int]:
    """The programs at a device, by name, each opened."""
    ids = (ctypes.c_uint32 * MOST)()
    _, reply = bpf(QUERY, struct.pack("<IIIIQI", device, EGRESS, 0, 0, ctypes.addressof(ids), MOST))
    found = {}
    for number in ids[: struct.unpack_from("<I", reply, 24)[0]]:
        opened, _ = bpf(OPEN_ID, struct.pack("<I", number))
        info = ctypes.create_string_buffer(128)
        bpf(ABOUT, struct.pack("<IIQ", opened, len(info), ctypes.addressof(info)))
        found[info.raw[64:80].rstrip(b"\0").decode()] = opened
    return found


def main(words: list[str]) -> int:
    if not words or len(words) > 2:
        print("usage: bond-policy BOND [POLICY]", file=sys.stderr)
        return 2
    bond = words[0]
    own = f"/sys/class/net/{bond}/bonding/xmit_hash_policy"
    device = socket.if_nametoindex(bond)
    before = loaded(device)
    if len(words) == 1:
        by_name = {called(policy): policy for policy in POLICIES}
        print(next((by_name[name] for name in before if name in by_name), open(own).read().split()[0]))
        return 0
    policy = words[1]
    if policy in POLICIES and called(policy) not in before:
        bpf(ATTACH, struct.pack("<IIII", device, load(policy), EGRESS, 0))
    for name, opened in before.items():
        if name != called(policy):
            bpf(DETACH, struct.pack("<IIII", device, opened, EGRESS, 0))
    with open(own, "w") as file:
        file.write(BROUGHT if policy in POLICIES else policy)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as error:
        print(f"bond-policy: {error}", file=sys.stderr)
        sys.exit(1)
