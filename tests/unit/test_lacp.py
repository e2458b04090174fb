"""Times of LACP's frames, from what tcpdump prints."""

from causeway.lab.probes.lacp import parse_times

PRINTED = """\
1795204867.843552 LACPv1, length 110
1795204868.843569 LACPv1, length 110
17952048"""


def test_a_line_that_is_half_written_has_no_time_yet() -> None:
    assert parse_times(PRINTED) == [1795204867.843552, 1795204868.843569]
    assert parse_times("") == []
