"""window_over_wan: who plays, and what makes each of its checks fail."""

import random
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.lab.probes.connections import Window
from causeway.model.load import load_site
from causeway.plan.delays import window_mbit
from causeway.process import Result
from causeway.scenario.cast import Ask
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words.windows import Seen
from tests.unit.here import SITE, Here, noted

DEISA = load_site(REPO / "topologies/deisa/site.yaml")
SCENARIO = load("window_over_wan")
CAST: Any = SCENARIO.cast_by(Ask(DEISA))[0]
SAID: dict[str, Any] = SCENARIO.play.__globals__


def test_who_plays_are_farthest_apart_and_one_beside() -> None:
    clusters = [DEISA.nodes[node].cluster for node in (CAST.node, CAST.nearby, CAST.far)]
    assert clusters[0] == clusters[1] != clusters[2] and CAST.trip_ms == 6


def test_where_no_cable_has_a_length_nobody_plays() -> None:
    with pytest.raises(Unsupported, match="jubl has no host with another beyond cables of some length"):
        Ask(SITE).distant()


class Way(Here):
    """1000 Mbit/s from afar and from nearby, to who offers room for 100 kB or a lot; but for what is wrong."""

    def __init__(self, wrong: str, folder: Path) -> None:
        super().__init__(DEISA, folder)
        self.wrong, self.takes = wrong, "4096 131072 6291456"

    def on(self, node: str, *argv: str, **_: Any) -> Result:  # type: ignore[override]
        assert (node, *argv) == (CAST.node, "sysctl", "-n", SAID["TAKES"])
        return Result(argv, 0, self.takes, "")

    def setting(self, _: Any, node: str, key: str, value: str) -> Change:
        before = self.takes

        def made() -> None:
            if (node, key) == (CAST.node, SAID["TAKES"]) and self.wrong != "the buffers stay wide":
                self.takes = value

        def back() -> None:
            if self.wrong != "it stays" or before != "4096 131072 6291456":
                self.takes = before

        return noted(f"{key} of {node}", made, back)

    def stream(self, _: Any, sender: str, __: str) -> Seen:
        room = 10**7 if self.takes.endswith(("8388608", "6291456")) else 100_000
        trip_ms = CAST.trip_ms if sender == CAST.far else 0.01
        wire = 1000.0
        due = rate = min(wire, window_mbit(room, trip_ms))
        if self.wrong == "it is longer than its cables" and room < 10**7 and sender == CAST.far:
            trip_ms *= 1.2
        if self.wrong == "it has less than its window" and due < wire:
            rate *= 0.8
        if self.wrong == "from afar it is never full" and sender == CAST.far and due == wire:
            rate = 900.0
        if self.wrong == "from nearby it is not full" and sender == CAST.nearby:
            rate = 900.0
        if self.wrong == "its window is not what it has under way" and due < wire:
            room *= 2
        return Seen(due, rate, Window(room, trip_ms / 1000))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("", ""),
        ("from afar it is never full", "published buffers, from afar"),
        ("it is longer than its cables", "the round trip, as TCP has measured it"),
        ("it has less than its window", "old buffers, from afar"),
        ("its window is not what it has under way", "under way at a time"),
        ("the buffers stay wide", "less than half of what the wire carries"),
        ("from nearby it is not full", "old buffers, from nearby"),
        ("it stays", "net.ipv4.tcp_rmem of"),
    ],
)
def test_each_check_can_fail(wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    way = Way(wrong, tmp_path)
    stage = Stage(way, random.Random(1))
    monkeypatch.setitem(SAID, "kernel_setting", way.setting)
    monkeypatch.setitem(SAID, "stream_in_windows", way.stream)
    if not wrong:
        SCENARIO.play(stage, CAST)
        return
    with pytest.raises(CheckFailed, match=said):
        SCENARIO.play(stage, CAST)
