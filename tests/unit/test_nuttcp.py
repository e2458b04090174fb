"""The arithmetic behind every Mbit/s: what nuttcp prints, and the part of it in which all streams transmit."""

from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import LabBroken
from causeway.lab.lab import Lab
from causeway.lab.probes import nuttcp
from causeway.lab.probes.nuttcp import Socket, Stream, is_its, parse, rate_between, running
from causeway.process import Background, Result, start
from tests.unit.here import Here, here

#: As nuttcp 6.1.2 prints a stream of a second, told every quarter.
PRINTED = """\
nsd01:t:fen:    28.0625 MB /   0.25 sec =  941.4946 Mbps     0 retrans
nsd01:t:fen:    28.0625 MB /   0.25 sec =  941.6201 Mbps     2 retrans
nsd01:t:fen:    28.0625 MB /   0.25 sec =  941.5883 Mbps     0 retrans
nsd01:t:fen:    28.0625 MB /   0.25 sec =  941.5773 Mbps     0 retrans
nsd01:t:fen:   112.4375 MB /   1.00 sec =  941.3731 Mbps 1 %TX 2 %RX 2 retrans 0.14 msRTT
"""


def test_the_last_line_is_of_the_whole_stream_and_the_others_are_its_intervals() -> None:
    printed = parse(PRINTED)
    assert printed.intervals == [(28.0625, 0.25)] * 4
    assert (printed.megabytes, printed.retransmits) == (112.4375, 2)
    assert printed.line == "nsd01:t:fen:   112.4375 MB /   1.00 sec =  941.3731 Mbps 1 %TX 2 %RX 2 retrans 0.14 msRTT"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nuttcp printed ''"),
        ("nuttcp-t: Info: connect refused\n", "nuttcp printed 'nuttcp-t: Info"),
        (PRINTED.splitlines()[-1], "nuttcp printed"),  # a whole without intervals
        (PRINTED.rpartition("nsd01")[0], ""),  # cut off: an interval in the whole's place is read as that
        (PRINTED.replace(" 2 retrans 0.14", " 0.14"), "did not say what TCP sent again"),
    ],
)
def test_what_is_not_as_nuttcp_prints_it_is_refused_with_its_text(text: str, said: str) -> None:
    if not said:
        assert parse(text).megabytes == 28.0625
        return
    with pytest.raises(LabBroken, match=said):
        parse(text)


MEBI = 2**20 * 8 / 1e6  # Mbit in one of nuttcp's MB


def test_the_rate_is_of_the_intervals_that_lie_wholly_within() -> None:
    parts = [(10.0, 0.25), (20.0, 0.25), (30.0, 0.25), (40.0, 0.25)]
    assert rate_between(parts, 0, 0, 1) == pytest.approx(100 * MEBI)
    assert rate_between(parts, 0, 0.25, 0.75) == pytest.approx(50 * MEBI / 0.5)  # at its very edges
    assert rate_between(parts, 0, 0.26, 0.99) == pytest.approx(30 * MEBI / 0.25)  # those that are cut do not count
    assert rate_between(parts, 100.0, 100.5, 101.0) == pytest.approx(70 * MEBI / 0.5)  # from where the stream began
    assert rate_between([(10.0, 1.0), (2.0, 0.1)], 0, 0, 2) == pytest.approx(12 * MEBI / 1.1)  # intervals differ


def test_a_wire_of_a_gigabit_with_packets_of_1500_gives_the_rate_that_the_plan_has() -> None:
    assert rate_between([(28.0625, 0.25)] * 8, 0, 1, 2) == pytest.approx(941.6, abs=0.1)


@pytest.mark.parametrize(("begin_s", "end_s"), [(2, 3), (0, 0.2), (0.3, 0.4), (0.6, 0.4)])
def test_streams_that_never_transmit_together_have_no_rate(begin_s: float, end_s: float) -> None:
    with pytest.raises(LabBroken, match="at no time did all streams transmit"):
        rate_between([(28.0, 0.25)] * 4, 0, begin_s, end_s)


NSD, FEN = IPv4Address("10.2.64.202"), IPv4Address("10.2.64.221")


@pytest.mark.parametrize(
    ("direction", "here", "there", "its"),
    [
        ("t", 6000, 5011, True), ("t", 6001, 5011, True), ("t", 6002, 5011, False), ("t", 6000, 5012, False),
        ("s", 5011, 6000, True), ("s", 5011, 6001, True), ("s", 5011, 6002, False), ("s", 5010, 6000, False),
    ],
)  # fmt: skip
def test_who_opens_a_streams_connection_has_its_port_or_the_next_one(
    direction: str, here: int, there: int, its: bool
) -> None:
    ports = (6000, 5011) if direction == "t" else (5011, 6000)
    nodes = ("nsd01", "FEN") if direction == "t" else ("FEN", "nsd01")
    stream = Stream(*nodes, FEN, "a label", direction, *ports)
    assert is_its(stream, ((NSD, here), (FEN, there), "ESTABLISHED")) is its
    assert not is_its(stream, ((NSD, here), (FEN, there), "LISTEN"))
    assert (stream.sender, stream.opener) == ("nsd01", nodes[0])


def test_who_transmits_to_a_client_opens_the_connection_unless_it_serves() -> None:
    assert Stream("FEN", "nsd01", NSD, "a label", "r", 6000, 5011).opener == "nsd01"


class Started(Here):
    """Whose programs end as told, one after the other."""

    ends: tuple[str, ...] = ()
    asked = 0

    def on(self, node: str, *argv: str, timeout_s: float = 60, **_: Any) -> Result:  # noqa: ARG002
        return Result(argv, 0, "32768 60999\n", "")

    def start_on(self, *_: str) -> Background:
        end = self.ends[Started.asked]
        Started.asked += 1
        return nuttcp_like(end)


def nuttcp_like(end: str) -> Background:
    return start(["sh", "-c", f"echo '{end}' >&2; exit 1"] if end else ["sleep", "60"])


def started(folder: Path, monkeypatch: pytest.MonkeyPatch, ends: tuple[str, ...], looks: int) -> list[str]:
    """Two streams, of whose ports somebody has one for so many looks; the ranges of ports that are set."""
    streams = [Stream("FEN", "nsd01", NSD, f"s{n}", "t", 20000 + 2 * n, 5011 + 2 * n) for n in range(2)]
    ranges, Started.asked, Started.ends = list[str](), 0, ends

    def sockets(_: Lab, node: str) -> Iterator[Socket]:
        nonlocal looks
        assert node == "FEN"
        if looks:
            assert Started.asked == 0
            looks -= 1
            yield (FEN, 20003), (NSD, 53), "06"
        if Started.asked and not ends[Started.asked - 1]:
            number = Started.asked - 1
            yield (FEN, 20000 + 2 * number), (NSD, 5011 + 2 * number), "ESTABLISHED"

    monkeypatch.setattr(nuttcp, "sockets", sockets)
    monkeypatch.setattr(nuttcp, "_set_range", lambda _, __, ports: ranges.append(ports))
    with running(Started(here(folder).site, folder), streams, 1):
        assert (Started.asked, looks) == (2, 0)
    return ranges


def test_streams_begin_when_nobody_has_their_ports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(tmp_path, monkeypatch, ("", ""), 2) == ["20000 20001", "20002 20003", "32768 60999"]


def test_who_keeps_a_port_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nuttcp, "_FREE_S", 0.1)
    with pytest.raises(LabBroken, match="FEN 20003 to "):
        started(tmp_path, monkeypatch, ("", ""), 1000)


@pytest.mark.parametrize("said", ["bind: Address already in use", "connection refused"])
def test_a_stream_that_ends_at_once_is_no_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    with pytest.raises(LabBroken, match=said):
        started(tmp_path, monkeypatch, ("", said), 0)
