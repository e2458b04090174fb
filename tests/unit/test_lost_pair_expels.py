"""lost_pair_expels: who plays, when a node is expelled, and what makes each of its checks fail."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed, LabBroken, Unsupported
from causeway.folders import REPO
from causeway.lab.changes.change import Change
from causeway.model.load import load_site
from causeway.process import Result
from causeway.scenario.cast import Ask
from causeway.scenario.runner import load
from causeway.scenario.stage import Stage
from causeway.scenario.words import leases
from mc.leases import RENEWALS
from tests.unit.here import SITE, Here

FILE = REPO / "topologies/deisa/site.yaml"
DEISA = load_site(FILE)
SCENARIO = load("lost_pair_expels")
CAST: Any = SCENARIO.cast_by(Ask(DEISA))[0]
DUE = {"home1": "3 of 3", "work": "3 of 3"}
SHORT = {"home1": "2 of 3", "work": "2 of 3"}


def test_who_plays_shares_nothing_with_whom_it_loses_and_a_network_with_its_neighbour() -> None:
    assert (CAST.node, CAST.owner, CAST.to) == ("FEN", "JUMP", "rz")
    assert {DEISA.nodes[node].cluster for node in CAST.strangers} == {"RZG"}
    assert not DEISA.mounts("JUBL").keys() & DEISA.mounts("RZG").keys()
    assert CAST.neighbour == "nsd02" != DEISA.administrator("JUMP")
    assert (str(CAST.address), str(CAST.subnet), str(CAST.bystander)) == ("10.1.33.203", "10.2.64.0/22", "10.2.64.220")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", failure_detection_s: 35", ""),
        ("mounts: [home1, work], failure_detection_s: 35", "mounts: [home1, work]"),
        ("mounts: [home], failure_detection_s: 35", "mounts: [home]"),
        ("mounts: [home1, work]", "mounts: [home1, work, home]"),  # then they share something
        ("layout: stripe, parity: 1, size_mib: 2048", "layout: whole, size_mib: 2048"),  # nobody can be spared
    ],
)
def test_a_site_that_lacks_a_part_of_it_is_told_so(old: str, new: str, tmp_path: Path) -> None:
    text = FILE.read_text()
    assert old in text
    (tmp_path / "site.yaml").write_text(text.replace(old, new))
    with pytest.raises(Unsupported, match="deisa has no host of a cluster with `failure_detection_s`"):
        Ask(load_site(tmp_path / "site.yaml")).leased()


def test_where_nobody_expels_nobody_plays() -> None:
    with pytest.raises(Unsupported, match="jubl has no host of a cluster with `failure_detection_s`"):
        Ask(SITE).leased()


def test_when_it_is_due_follows_from_how_often_leases_are_renewed() -> None:
    assert leases.RENEWALS == RENEWALS
    assert leases.due_s(35) == (28, 56)
    clusters = DEISA.topology.clusters | {
        "RZG": DEISA.topology.clusters["RZG"].model_copy(update={"failure_detection_s": 60})
    }
    slower = replace(DEISA, topology=DEISA.topology.model_copy(update={"clusters": clusters}))
    assert (leases.limit_s(slower, ["FEN", "cn01"]), leases.limit_s(slower, ["FEN", "psi01"])) == (35, 60)


class Wide(Here):
    """A lab of three clusters whose leases are kept as they should be, but for what is wrong; it has its own clock."""

    def __init__(self, wrong: str, folder: Path) -> None:
        super().__init__(DEISA, folder)
        self.wrong, self.now, self.lost_at = wrong, 0.0, 0.0
        self.faults: list[str] = []
        self.subnets: dict[str, str] = {}
        self.dead_mounts = False

    def fault(self, name: str) -> Change:
        wide = self

        class Fault(Change):
            def make(self, lab: Any) -> Any:
                if wide.wrong != "no fault is made":
                    wide.faults.append(name)
                wide.lost_at = wide.now
                return super().make(lab)

            def undo(self, _: Any) -> Any:
                return lambda: [wide.faults.remove(one) for one in wide.faults if one == name]

        return Fault(name, (), ())

    def expelled(self) -> bool:
        after = {"it takes too long": 65, "it is too soon": 20}.get(self.wrong, 40)
        by_subnets = len(self.subnets) == 2 and self.wrong != "subnets do not help"
        lost = [name for name in self.faults if not (name == "astray" and by_subnets)]
        if self.wrong == "it stays out" and "route" not in self.faults and not lost and self.lost_at:
            return True
        return bool(lost) and self.now - self.lost_at > after

    def state(self, _: Any, node: str) -> str:  # type: ignore[override]
        self.now += 1
        out = node == CAST.node and self.expelled() and self.wrong != "it is not the lease daemon"
        return "expelled" if out else "active"

    def states(self, _: Any, nodes: list[str]) -> dict[str, str]:
        said = {node: self.state(None, node) for node in nodes}
        if self.wrong == "others go, too" and self.expelled() and "psi01" in said:
            said["psi01"] = "expelled"
        if self.wrong == "somebody is out before" and "cn01" in said:
            said["cn01"] = "expelled"
        return said

    def has(self, _: Any, node: str) -> list[str]:
        self.now += 1
        return [name for name, servers in self.mounted(None, node).items() if servers[0] in "23"]

    def mounted(self, _: Any, __: str) -> dict[str, str]:
        if self.expelled() and self.wrong != "mounts stay":
            self.dead_mounts = self.wrong == "mounts do not come back"
            gone = dict.fromkeys(DUE, "not mounted")
            return gone | ({"home1": "0 of 3"} if self.wrong == "a mount stays" else {})
        if self.dead_mounts:
            return dict.fromkeys(DUE, "not mounted")
        return SHORT if "astray" in self.faults and self.wrong != "the fault does not bite" else DUE

    def pings(self, _: Any, __: str, other: Any) -> bool:
        if self.wrong == "its servers are away" and self.faults == ["route"]:
            return False
        if self.wrong == "strangers are away before" and DEISA.known_by("psi01").address == other:
            return False
        return not (other == CAST.address and "astray" in self.faults)

    def mc(self, _: Any, node: str, *argv: str) -> Result:
        if argv[0] == "mcchconfig":
            key, _, value = argv[1].partition("=")
            assert (key, node) in [("subnets", "nsd01"), ("subnets", "SN")]
            self.subnets[node] = value
            if value == "DEFAULT":
                del self.subnets[node]
        return Result(argv, 0, "", "")


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Play it where one thing is wrong."""

    def until(_: Any, what: str, probe: Callable[[], Any], *, is_: Any, within_s: float, poll_s: float) -> None:
        assert poll_s == 1
        for _try in range(round(within_s)):
            if probe() == is_:
                return
        raise CheckFailed(f"{what}, not {is_}")

    def do(wrong: str) -> None:
        wide = Wide(wrong, tmp_path)
        words = {"route_missing": lambda *_: wide.fault("route"), "route_wrong": lambda *_: wide.fault("astray")}
        for name, word in (words | {"mounted": wide.mounted, "pings": wide.pings}).items():
            monkeypatch.setitem(SCENARIO.play.__globals__, name, word)
        for name in ("state", "states", "mounted", "mc", "has"):
            monkeypatch.setattr(leases, name, getattr(wide, name))
        monkeypatch.setattr(leases, "put_back", lambda *_: None)
        monkeypatch.setattr(leases.time, "monotonic", lambda: wide.now)
        monkeypatch.setattr(Stage, "until", until)
        stage = Stage(wide, random.Random(1))
        try:
            SCENARIO.play(stage, CAST)
        finally:
            with suppress(LabBroken):  # what does not come back is not restored either
                stage.undo()
        assert (wide.faults, wide.subnets) == ([], {})

    return do


def test_it_passes_where_all_is_as_it_claims(play: Callable[[str], None]) -> None:
    play("")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("no fault is made", "FEN loses its mounts"),
        ("somebody is out before", "who is not active: expected none, measured cn01: expelled"),
        ("strangers are away before", "those that FEN does not reach: expected none, measured psi01"),
        ("it takes too long", "no route to strangers: expelled 28 to 56 s later: expected yes"),
        ("it is too soon", "no route to strangers: expelled 28 to 56 s later: expected yes"),
        ("others go, too", "no route to strangers: who is not active: expected FEN: expelled, measured"),
        ("mounts stay", "FEN loses its mounts"),
        (
            "a mount stays",
            "no route to strangers: mounts of FEN: expected home1: not mounted, work: not mounted",
        ),
        (
            "it is not the lease daemon",
            "no route to strangers: who is not active: expected FEN: expelled, measured none",
        ),
        (
            "its servers are away",
            "no route to strangers: servers that FEN reaches: expected nsd01, nsd02",
        ),
        ("it stays out", "FEN mounts again"),
        ("mounts do not come back", "FEN mounts again"),
        ("subnets do not help", "FEN mounts again"),
        ("the fault does not bite", "FEN has all servers"),
    ],
)
def test_each_check_can_fail(wrong: str, said: str, play: Callable[[str], None]) -> None:
    with pytest.raises(CheckFailed, match=said):
        play(wrong)
