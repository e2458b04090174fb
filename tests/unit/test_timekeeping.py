"""chronyc's figures, from lines that chronyc 4.6.1 printed in the lab."""

import pytest

from causeway.lab.probes.timekeeping import Source, parse_offset, parse_source, parse_tracking

HAS_TIME = (
    "0A0240DC,10.2.64.220,11,1767226592.458554193,0.000000364,0.000000041,0.000000145,-0.000,-0.250,0.002,"
    "0.000000494,0.001029444,64.8,Normal\n"
)
HAS_NONE = (
    "00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,"
    "1.000000000,1.000000000,0.0,Not synchronised\n"
)


def test_a_nodes_error_bound_grows_by_skew_residual_frequency_and_what_a_clock_may_do_by_itself() -> None:
    tracking = parse_tracking(HAS_TIME)
    assert (tracking.stratum, tracking.leap, tracking.root_dispersion_s) == (11, "Normal", 0.001029444)
    assert tracking.grows_by == pytest.approx(1.252e-6)


def test_a_node_without_time_says_so() -> None:
    tracking = parse_tracking(HAS_NONE)
    assert (tracking.stratum, tracking.leap, tracking.root_dispersion_s) == (0, "Not synchronised", 1.0)


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("^,*,10.2.64.220,10,6,377,35,0.000000063,0.000000064,0.000003747\n", Source("10.2.64.220", True, 0o377)),
        ("^,?,10.1.44.202,0,6,0,4294967295,0.000000000,0.000000000,0.000000000\n", Source("10.1.44.202", False, 0)),
    ],
)
def test_the_only_source(line: str, source: Source) -> None:
    assert parse_source(line) == source


def test_none_or_several_sources_are_no_answer() -> None:
    with pytest.raises(ValueError, match="unpack"):
        parse_source("")


@pytest.mark.parametrize(
    ("text", "offset_s"),
    [
        ("^,?,10.0.0.1,0,6,0,4294967295,0.0,0.0,0.0\n^,*,10.0.0.2,10,6,377,12,-0.25,-0.25,0.01\n", -0.25),
        ("^,?,10.0.0.1,0,6,0,4294967295,0.0,0.0,0.0\n", None),
        ("", None),
    ],
)
def test_an_offset_is_that_of_the_source_that_was_chosen(text: str, offset_s: float | None) -> None:
    assert parse_offset(text) == offset_s
