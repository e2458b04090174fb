"""configuration_server_lost: who plays, and what makes each of its checks fail."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
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
from tests.unit.here import SITE, Here

FILE = REPO / "topologies/deisa/site.yaml"
DEISA = load_site(FILE)
SCENARIO = load("configuration_server_lost")
CAST: Any = SCENARIO.cast_by(Ask(DEISA))[0]
MEMBERS = ["nsd01", "nsd02", "nsd03", "cn01", "cn02"]


def test_who_plays_serves_no_other_and_can_be_spared() -> None:
    assert (CAST.cluster, CAST.node, CAST.successor, CAST.members) == ("JUMP", "nsd01", "nsd02", MEMBERS)
    # JUBL's is whom all I/O nodes boot from
    assert Ask(SITE).keeper().cluster == "JUMP"


def test_a_site_whose_keepers_cannot_be_spared_is_told_so(tmp_path: Path) -> None:
    text = FILE.read_text()
    for name, mib in {"home1": 1024, "work": 2048, "home": 1024}.items():
        old = f"{name}: {{owner: JUMP, servers: [nsd], layout: stripe, parity: 1, size_mib: {mib}"
        assert old in text
        text = text.replace(old, old.replace("layout: stripe, parity: 1", "layout: whole"))
    (tmp_path / "site.yaml").write_text(text)
    with pytest.raises(
        Unsupported, match="deisa has no cluster whose configuration is kept by a node that can be lost"
    ):
        Ask(load_site(tmp_path / "site.yaml")).keeper()


def test_who_forwards_for_others_is_not_cut_off() -> None:
    nsd01 = DEISA.nodes["nsd01"].model_copy(update={"forwards": True})
    busy = replace(DEISA, nodes=DEISA.nodes | {"nsd01": nsd01})
    with pytest.raises(Unsupported, match="deisa has no cluster whose configuration"):
        Ask(busy).keeper()


class Kept(Here):
    """A cluster whose configuration is kept as it should be, but for what is wrong."""

    def __init__(self, wrong: str, folder: Path) -> None:
        super().__init__(DEISA, folder)
        self.wrong, self.cut = wrong, False
        self.primary, self.secondary = "nsd01f", ""
        self.value = dict.fromkeys(MEMBERS, "none")
        self.believes = dict.fromkeys(MEMBERS, "nsd01f")

    def cable(self, *_: object) -> Change:
        kept = self

        class Cut(Change):
            def make(self, lab: Any) -> Any:
                kept.cut = kept.wrong != "it is not cut off"
                return super().make(lab)

            def undo(self, _: Any) -> Any:
                def back() -> None:
                    kept.cut = False

                return back

        return Cut("cable", (), ())

    def on(self, *_: Any, **__: Any) -> Result:  # type: ignore[override]
        return Result((), 255 if self.cut else 0, "", "")

    def has(self, _: Any, __: str) -> list[str]:
        gone = self.wrong == "mounts go" and self.cut and self.primary == "nsd02f"
        return [] if gone else ["home1"]

    def rows(self, _: Any, node: str, command: str) -> list[dict[str, str]]:
        assert command == "mclsconfig"
        value = self.value[node]
        return [{"attribute": "uidDomain", "value": value}] if value != "none" else []

    def mc(self, _: Any, node: str, *argv: str) -> Result:
        rc, said = {"mcchconfig": self._change, "mcchcluster": self._move, "mclscluster": self._about}[argv[0]](
            node, argv[1:]
        )
        return Result(argv, rc, said if rc == 0 else "", said if rc else "")

    def _about(self, node: str, _: tuple[str, ...]) -> tuple[int, str]:
        return 0, json.dumps({"about": {"configuration server": self.believes[node]}})

    def _change(self, node: str, argv: tuple[str, ...]) -> tuple[int, str]:
        name, value = f"{node}f", argv[0].partition("=")[2].replace("DEFAULT", "none")
        if node == "nsd01" and self.believes[node] != self.primary and self.wrong != "who comes back is not told":
            self.believes[node] = self.primary
            if self.wrong != "who comes back keeps the old":
                self.value[node] = self.value["nsd02"]
        allowed = name == self.believes[node] or {
            "anybody may change it": self.secondary == "",
            "the secondary may, too": name == self.secondary,
        }.get(self.wrong, False)
        if not allowed:
            hint = f"mcchcluster -p {name}" if name == self.secondary and self.wrong != "no hint" else ""
            return 1, f"is kept on {'nobody' if self.wrong == 'it says nothing' else self.believes[node]} {hint}"
        if self.wrong == "it does not change afterwards" and node == "nsd02":
            return 1, ""
        told = MEMBERS[1 if self.cut else 0 : -1 if self.wrong == "not everybody is told" else None]
        if not (self.wrong == "one keeps it for ever" and value == "none"):
            self.value |= dict.fromkeys(told, value)
        return 0, ""

    def _move(self, node: str, argv: tuple[str, ...]) -> tuple[int, str]:
        words = dict(zip(argv[::2], argv[1::2], strict=True))
        if f"{node}f" not in (self.primary, self.secondary) and self.wrong != "anybody may take it":
            return 1, "is kept elsewhere"
        if self.wrong == "the secondary cannot take it" and self.cut:
            return 1, ""
        self.primary = words.get("-p", self.primary)
        self.secondary = words.get("-s", "" if self.secondary == self.primary else self.secondary)
        self.believes |= dict.fromkeys(MEMBERS[1 if self.cut else 0 :], self.primary)
        return 0, ""


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Kept]:
    """Play it where one thing is wrong."""

    def do(wrong: str) -> Kept:
        kept = Kept(wrong, tmp_path)
        for name in ("mc", "rows", "has"):
            monkeypatch.setitem(SCENARIO.play.__globals__, name, getattr(kept, name))
        monkeypatch.setitem(SCENARIO.play.__globals__, "link_down", kept.cable)
        monkeypatch.setitem(SCENARIO.play.__globals__, "together", lambda _, changes: next(iter(changes)))
        stage = Stage(kept, random.Random(1))
        try:
            SCENARIO.play(stage, CAST)
        finally:
            stage.undo()
        return kept

    return do


def test_it_passes_where_all_is_as_it_claims_and_leaves_all_as_it_was(play: Callable[[str], Kept]) -> None:
    kept = play("")
    assert (kept.cut, kept.primary, kept.secondary) == (False, "nsd01f", "")
    assert set(kept.value.values()) == {"none"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("not everybody is told", "uidDomain of each: expected"),
        ("anybody may change it", "exit code on nsd02: expected 1"),
        ("anybody may take it", "exit code of mcchcluster on nsd02: expected 1"),
        ("the secondary may, too", "exit code on nsd02, which is only the secondary: expected 1"),
        ("no hint", "it says what would be right"),
        ("the secondary cannot take it", "exit code of mcchcluster: expected 0"),
        ("it does not change afterwards", "exit code on nsd02: expected 0"),
        ("it is not cut off", "uidDomain of nsd01: expected three, measured five"),
        ("mounts go", "what those left have mounted"),
        ("who comes back is not told", "exit code on nsd01, back: expected 1, measured 0"),
        ("it says nothing", "it says who keeps it"),
        ("who comes back keeps the old", "uidDomain of nsd01, then: expected five, measured three"),
        ("one keeps it for ever", "uidDomain of each, afterwards"),
    ],
)
def test_each_check_can_fail(wrong: str, said: str, play: Callable[[str], Kept]) -> None:
    with pytest.raises(CheckFailed, match=said):
        play(wrong)
