"""Counters as the kernel prints them."""

import pytest

from causeway.lab.probes.counters import parse_counters

NETSTAT = """\
TcpExt: SyncookiesSent IPReversePathFilter
TcpExt: 0 3
IpExt: InNoRoutes InOctets
IpExt: 1 75640
"""


def test_counters_have_nstats_names() -> None:
    assert parse_counters(NETSTAT) == {
        "TcpExtSyncookiesSent": 0,
        "TcpExtIPReversePathFilter": 3,
        "IpExtInNoRoutes": 1,
        "IpExtInOctets": 75640,
    }


def test_a_name_without_a_value_is_no_counter_of_zero() -> None:
    with pytest.raises(ValueError, match="shorter"):
        parse_counters("Tcp: InSegs OutSegs\nTcp: 5\n")
