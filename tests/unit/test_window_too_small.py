"""window_too_small: what ss says of windows, who plays, and what makes each of its checks fail."""

import random
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed
from causeway.lab.changes.change import Change
from causeway.lab.probes.connections import Window, parse_windows
from causeway.scenario.cast import Ask
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words.windows import Seen
from tests.unit.here import SITE, here, noted

SCENARIO = load("window_too_small")
CAST: Any = SCENARIO.cast_by(Ask(SITE))[0]
SAID: dict[str, Any] = SCENARIO.play.__globals__

LINES = """\
ESTAB 0 0 10.0.0.1:6000 10.0.0.2:5011 cubic wscale:9,9 rto:204 rtt:2.054/0.02 mss:1448 snd_wnd:114176 minrtt:1.7
ESTAB 0 0 10.0.0.1:22 10.0.0.2:40000 cubic rtt:0.2/0.1
LISTEN 0 5 0.0.0.0:5000 0.0.0.0:*
"""


def test_a_connections_window_and_round_trip_are_read_where_it_has_told_them() -> None:
    (window,) = parse_windows(LINES).values()
    assert window == Window(114176, pytest.approx(0.002054))


def test_a_leaf_has_one_cable_in_all_and_somebody_of_its_cluster_to_talk_with() -> None:
    node = CAST.port.node
    assert [port for cable in SITE.cables for port in cable.ends if port.node == node] == [CAST.port]
    assert SITE.nodes[CAST.sender].cluster == SITE.nodes[node].cluster


class Way:
    """A way of 1000 Mbit/s, as long as it is made, to who offers room for 100 kB or a lot; but for what is wrong."""

    def __init__(self, wrong: str) -> None:
        self.wrong, self.delay_ms, self.room, self.undone = wrong, 0.0, 10**7, 0

    def delayed(self, _lab: Any, _node: str, _device: str, delay_ms: float) -> Change:
        if self.wrong == "it is no longer than it was":
            delay_ms = 0.0
        if self.wrong == "it is never twice as long":
            delay_ms = min(delay_ms, 0.8)
        return self._made("delay_ms", delay_ms)

    def setting(self, _lab: Any, _node: str, key: str, value: str) -> Change:
        if key == SAID["TAKES"]:
            wide = value == SAID["PUBLISHED"] and self.wrong != "what is published does nothing"
            return self._made("room", 10**7 if wide else 100_000)
        return Change(key, (), ())

    def _made(self, what: str, value: float) -> Change:
        before = getattr(self, what)

        def back() -> None:
            if self.wrong != "it stays long" or what != "delay_ms":
                setattr(self, what, before)

        return noted(what, lambda: setattr(self, what, value), back)

    def stream(self, *_: Any) -> Seen:
        trip_s = 2e-3 * self.delay_ms + 1e-5
        rate = min(1000.0, self.room * 8e-6 / trip_s)
        if self.wrong == "more is under way than there is room for" and self.delay_ms:
            rate *= 1.2
        if self.wrong == "a short one is slow, too":
            rate = 900.0
        return Seen(1000.0, rate, Window(self.room, max(trip_s, self.room * 8e-9)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("", ""),
        ("a short one is slow, too", "old buffers, short path"),
        ("it is no longer than it was", "long: less than the wire carries"),
        ("it is never twice as long", "longer: less than on half of it"),
        ("more is under way than there is room for", "long: under way"),
        ("what is published does nothing", "published buffers, long path"),
    ],
)
def test_each_check_can_fail(wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    way, stage = Way(wrong), Stage(here(tmp_path), random.Random(1))
    monkeypatch.setitem(SAID, "link_delayed", way.delayed)
    monkeypatch.setitem(SAID, "kernel_setting", way.setting)
    monkeypatch.setitem(SAID, "stream_in_windows", way.stream)
    if not wrong:
        SCENARIO.play(stage, CAST)
        return
    with pytest.raises(CheckFailed, match=said):
        SCENARIO.play(stage, CAST)
