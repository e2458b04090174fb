"""name_server_dead: who plays, and what makes each of its checks fail."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.model.load import load_site
from causeway.process import Result
from causeway.scenario.cast import Ask
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from tests.unit.here import SITE, Here, noted

SCENARIO = load("name_server_dead")
DEISA = load_site(REPO / "topologies/deisa/site.yaml")
CAST: Any = SCENARIO.cast_by(Ask(DEISA))[0]


def test_who_plays_asks_its_clusters_three_or_another_clusters_one_first() -> None:
    assert (CAST.administrator, CAST.servers) == ("SN", ["ns1", "ns2", "ns3"])
    assert SCENARIO.cast_by(Ask(SITE))[0].servers == ["nsd01", "SN"]


def test_a_site_with_one_name_server_is_told_so(tmp_path: Path) -> None:
    text = (REPO / "topologies/jubl/site.yaml").read_text()
    assert "dns: nsd01" in text
    (tmp_path / "site.yaml").write_text(text.replace("dns: nsd01", "dns: SN"))
    with pytest.raises(Unsupported, match="jubl has no second name server that SN reaches"):
        Ask(load_site(tmp_path / "site.yaml")).several_name_servers("SN")


class Asked(Here):
    """A node that asks for names as it should, but for what is wrong; it has its own clock."""

    def __init__(self, wrong: str, folder: Path) -> None:
        super().__init__(DEISA, folder)
        self.wrong, self.now = wrong, 0.0
        self.silent: list[str] = []
        self.refusing = False

    def hangs(self, server: str, daemon: str) -> Change:
        assert daemon == "named"
        return noted("change", lambda: self.silent.append(server), lambda: self.silent.remove(server))

    def stopped(self, *_: object) -> Change:
        return noted("change", lambda: setattr(self, "refusing", True), lambda: setattr(self, "refusing", False))

    def waits(self, command: str) -> int:
        """A lookup's; 255 where nobody answers."""
        slow = CAST.servers[0] in self.silent and self.wrong != f"{command} does not wait"
        slow |= self.refusing and self.wrong == "a refusal takes as long"
        self.now += (5 if command == "getent" else 10) * slow + 0.1
        if len(set(self.silent)) == len(CAST.servers) and self.wrong != "it is found all the same":
            return 1
        return int(bool(self.silent) and self.wrong == f"{command} does not find it")

    def on(self, _: str, *argv: str, timeout_s: float = 0) -> Result:  # type: ignore[override] # noqa: ARG002
        if argv[0] == "getent" and "-s" not in argv:
            return Result(argv, int(self.wrong == "it is not in /etc/hosts"), "", "")
        if argv[0] == "host" and not self.silent and not self.refusing and self.wrong == "it stays away" and self.over:
            return Result(argv, 1, "", "")
        return Result(argv, self.waits(argv[0]), "", "")

    over = False

    def add(self, *_: object) -> str:
        self.over = len(set(self.silent)) == len(CAST.servers)
        return "not added: no servers could be reached" if self.waits("mcaddnode") else "added to the cluster"

    def state(self, *_: object) -> str:
        return "down" if self.wrong == "its daemon is down" else "active"


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Play it where one thing is wrong."""

    def do(wrong: str) -> None:
        asked = Asked(wrong, tmp_path)

        class Clock:
            def __init__(self) -> None:
                self.began = asked.now

            @property
            def virtual_s(self) -> float:
                return asked.now - self.began

        words = {
            "hangs": asked.hangs,
            "service_stopped": asked.stopped,
            "file_changed": lambda *_: noted("change", lambda: None, lambda: None),
            "take_out": lambda *_: None,
            "delete": lambda *_: None,
            "add": asked.add,
            "state": asked.state,
            "Watch": Clock,
        }
        for name, word in words.items():
            monkeypatch.setitem(SCENARIO.play.__globals__, name, word)
        stage = Stage(asked, random.Random(1))
        try:
            SCENARIO.play(stage, CAST)
        finally:
            stage.undo()
        assert (asked.silent, asked.refusing) == ([], False)

    return do


def test_it_passes_where_all_is_as_it_claims(play: Callable[[str], None]) -> None:
    play("")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("getent does not wait", "ns1 is silent: getent takes 5 s more"),
        ("host does not wait", "ns1 is silent: host takes 10 s more"),
        ("mcaddnode does not wait", "ns1 is silent: mcaddnode takes 10 s more"),
        ("getent does not find it", "ns1 is silent: getent by DNS alone, exit code: expected 0"),
        ("host does not find it", "ns1 is silent: host -t a .*, exit code: expected 0"),
        ("mcaddnode does not find it", "mcaddnode .*: expected added to the cluster"),
        ("a refusal takes as long", "ns1 refuses: getent takes 0 s more"),
        ("it is found all the same", "mcaddnode .* is refused"),
        ("it is not in /etc/hosts", "getent hosts .*, exit code: expected 0"),
        ("it stays away", "afterwards, exit code: expected 0"),
        ("its daemon is down", "mcgetstate -w .*: expected active, measured down"),
    ],
)
def test_each_check_can_fail(wrong: str, said: str, play: Callable[[str], None]) -> None:
    with pytest.raises(CheckFailed, match=said):
        play(wrong)
