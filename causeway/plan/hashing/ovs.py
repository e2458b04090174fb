"""The bucket in which Open vSwitch puts a frame, with balance-slb.

With balance-tcp it hashes with a key of its own, which no frame shows.
"""

from collections.abc import Sequence

from causeway.plan.hashing.frame import mac_bytes

_WORD = 0xFFFFFFFF


def slb_bucket(src_mac: str) -> int:
    """The bucket of 256 in which Open vSwitch's balance-slb puts what comes from a MAC address, without a VLAN.

    `ovs-appctl bond/hash MAC` says the same. Source: Open vSwitch 3.5 as built for any x86-64 (without SSE 4.2),
    ofproto/bond.c, bond_hash_src; lib/hash.h, hash_uint64_basis, mhash_add, mhash_finish.
    """
    number = int.from_bytes(mac_bytes(src_mac), "big")
    mixed = _murmur(_murmur(0, number & _WORD), number >> 32) ^ 8  # bytes that were hashed
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & _WORD
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _WORD
    return (mixed ^ mixed >> 16) % 256


def slb_member(src_mac: str, members: Sequence[str]) -> str:
    """The member by which a balance-slb channel end sends what comes from a MAC address.

    Holds where bucket i is given to member i mod n, as `causeway up` does it.
    """
    return members[slb_bucket(src_mac) % len(members)]


def _murmur(mixed: int, data: int) -> int:
    """One step of MurmurHash3 with 32 bits of data."""
    data = _rotated(data * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
    return _rotated(mixed ^ data, 13) * 5 + 0xE6546B64 & _WORD


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _WORD
