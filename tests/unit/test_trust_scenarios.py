"""The scenarios of forged names and of broken-off denials: each check fails where what it checks is not so."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causeway.errors import CheckFailed
from causeway.lab.changes.change import Change
from causeway.lab.changes.files import file_changed
from causeway.process import Result
from causeway.report.result import Comparison
from causeway.scenario.cast.clusters import Mounts
from causeway.scenario.runner import load
from causeway.scenario.words import trust as words
from mc import keys
from tests.unit.here import compared, stand_in

CAST = Mounts(["work"], "JUMP", "JUBL", "SN", "FEN")
GRANTED = "rw, root allowed"


def test_the_keys_that_scenarios_make_are_for_what_clusters_keys_are() -> None:
    for name, value in keys.EXTENSIONS.items():
        assert f"-addext {name}={value}" in words._ENDS
        assert f"-addext {name}={value}" in words._ANOTHER


class Owner:
    """An owner and its client as Trust has them; `wrong` names what does not hold of its commands."""

    owner_name, client_name, owner_node, update = "JUMP.site.example", "JUBL.site.example", "nsd01", ("mcauth",)

    def __init__(self, shown: Path, wrong: str) -> None:
        self.shown, self.wrong = shown, wrong
        self.let_in, self.listed = True, GRANTED
        self.trusts_authority = wrong == "an authority is trusted"
        self.given: list[str] = []
        self.broken_off = 0

    # keys_forged_name

    def direct_mount(self, _node: str) -> str:
        if self.shown.exists() and self.shown.read_text() == "the owner's":
            return words.NOT_GRANTED if self.wrong == "the owner needs a grant, too" else words.MOUNTED
        if self.wrong == "its own key is no longer known" and self.shown.exists():
            return words.HANDSHAKE
        if self.shown.exists() and self.shown.read_text() == "forged":
            return words.MOUNTED if self.trusts_authority else words.HANDSHAKE
        return words.MOUNTED if self.let_in or self.wrong == "a denial is not enforced" else words.NOT_GRANTED

    def authority(self) -> str:
        return "authority"

    def owners_keys(self) -> str:
        return "owner's"

    def trusting(self, keys: str) -> Change:
        assert keys == "owner'sauthority"
        owner = self

        class Trusting(Change):
            def make(self, lab: Any) -> Any:
                owner.trusts_authority = owner.wrong != "no forged key can work"
                return super().make(lab)

            def undo(self, lab: Any) -> Any:
                undo = super().undo(lab)

                def back() -> None:
                    owner.trusts_authority = owner.wrong == "what is trusted stays"
                    undo()

                return back

        return Trusting("authority", (), ())

    def at_owner(self, *argv: str) -> Result:
        if argv[:2] == ("mcauth", "deny"):
            return self._deny()
        refused = {
            "authority": "it could be used for more than a cluster's key may be",
            "forged": f"this is the public key of {self.owner_name}",
        }[self.given[-1]]
        taken = self.wrong == f"{self.given[-1]} is taken"
        return Result(argv, 0 if taken else 1, "", "" if taken else refused)

    # keys_private_server

    def pair_changed(self, lab: Any, node: str, path: str, _text: str) -> Change:
        """The node shows the owner's pair; here all files are one node's."""
        stays = self.wrong == "the pair stays"
        there = file_changed(lab, node, path, "the owner's")
        return replace(there, back=()) if stays else there

    # all

    def grant(self) -> None:
        self.let_in, self.listed = self.wrong != "a grant does nothing", GRANTED

    def deny(self) -> None:
        self._deny()

    def _deny(self) -> Result:
        if self.wrong == "denying twice is refused" and not self.listed:
            return Result((), 1, "", "no access")
        self.let_in, self.listed = self.wrong == "repeating does nothing" and self.broken_off > 0, ""
        if self.wrong == "repeating leaves it in the list":
            self.listed = "leaving"
        return Result((), 0, "", "")

    def mount_everywhere(self) -> None:
        """It is mounted."""

    # deny_interrupted

    def granted(self) -> dict[str, str]:
        if self.wrong == "the list has it":
            return {"work": GRANTED}
        return {"work": self.listed} if self.listed and self.wrong != "nothing is granted" else {}

    def new_mount(self, _node: str) -> str:
        return words.MOUNTED if self.let_in else words.NOT_GRANTED

    def deny_until(self, signal: str, _words: str, nth: int) -> int:
        self.broken_off += 1
        if self.wrong == "it is over before it is broken off":
            self._deny()
            return 0
        if self.wrong == "written down first":
            self.listed = ""
        elif self.wrong == "the list says something else":
            self.listed = "ro, root allowed"
        elif nth == 1 and signal == "INT":
            pass  # nothing has been done yet
        elif self.wrong == "taken away and not marked":
            self.let_in = False
        else:
            self.listed, self.let_in = "leaving", False
        return {"INT": 130, "KILL": -9, "HUP": -1}[signal]


def play(name: str, wrong: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Comparison]:
    """Play a scenario with such an owner; what it compared. CheckFailed where a check fails."""
    scenario = load(name)
    owner = Owner(folder / "shown", wrong)
    stand_in(monkeypatch, scenario.play, {"Trust": lambda *_: owner})
    if name == "keys_forged_name":
        patches: dict[str, Callable[..., Any] | str] = {
            "put": lambda _lab, _node, _path, text: owner.given.append(text),
            "forged_key": lambda *_: "forged",
            "SHOWN_KEY": str(owner.shown),
        }
        stand_in(monkeypatch, scenario.play, patches)
    if name == "keys_private_server":
        owner.shown.write_text("its own")
        stand_in(monkeypatch, scenario.play, {"file_changed": owner.pair_changed, "PRIVATE_KEY": str(folder / "key")})
        stand_in(monkeypatch, scenario.play, {"SHOWN_KEY": str(owner.shown)})
        (folder / "key").write_text("a secret")
    return compared(scenario.play, CAST, folder)


@pytest.mark.parametrize("name", ["keys_forged_name", "keys_private_server", "deny_interrupted"])
def test_it_passes_where_all_is_as_it_claims(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(c.ok for c in play(name, "", tmp_path, monkeypatch))


#: what does not hold -> the check that says so
FAILURES = {
    "keys_forged_name": {
        "an authority is trusted": "a direct mount in the owner's name: expected refused",
        "a denial is not enforced": "a direct mount, denied: expected refused: not granted, measured mounted",
        "authority is taken": "mcauth update refuses its key as an authority's: expected yes, measured no",
        "forged is taken": "mcauth update refuses the forged key: expected yes, measured no",
        "no forged key can work": "a direct mount in the owner's name, authority trusted: expected mounted",
        "what is trusted stays": "a direct mount in the owner's name, again: expected refused",
    },
    "keys_private_server": {
        "nothing is granted": "work is among what is granted: expected yes, measured no",
        "its own key is no longer known": "a direct mount: expected mounted, measured refused in the handshake",
        "a denial is not enforced": "a direct mount, denied: expected refused: not granted, measured mounted",
        "the owner needs a grant, too": "a direct mount with the owner's pair: expected mounted, measured refused",
        "the list has it": "work is not among what is granted: expected yes, measured no",
        "the pair stays": "a direct mount, its own pair again: expected refused: not granted, measured mounted",
        "a grant does nothing": "a direct mount, granted: expected mounted, measured refused: not granted",
    },
    "deny_interrupted": {
        "it is over before it is broken off": "the command has ended with: expected 130, measured 0",
        "written down first": "the servers do what it says: expected yes, measured no (seen: mounted)",
        "taken away and not marked": "the servers do what it says: expected yes, measured no (seen: refused",
        "the list says something else": "what the list says is granted, leaving or over: expected yes, measured no",
        "repeating leaves it in the list": "what the list then has of it: expected , measured leaving",
        "repeating does nothing": "a new mount then: expected refused: not granted, measured mounted",
        "denying twice is refused": "exit codes: expected 0, 0, measured 0, 1",
    },
}


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, found in FAILURES.items() for wrong in found])
def test_each_check_fails_where_what_it_checks_is_not_so(
    name: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckFailed) as caught:
        play(name, wrong, tmp_path, monkeypatch)
    assert FAILURES[name][wrong] in str(caught.value)


@pytest.mark.parametrize(
    ("pairs", "known"), [(["old"], "old"), (["old", "new"], "old"), (["old", "new"], "old, new"), (["new"], "old, new")]
)
def test_a_key_change_that_breaks_off_anywhere_is_ended_by_its_undo(
    pairs: list[str], known: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the new key was made, before and after the owner got it, and when it was committed."""
    own, at_owner = list(pairs), [known]

    def mc(_lab: object, _node: str, *argv: str) -> Result:
        assert argv == ("mcauth", "genkey", "commit")
        if len(own) < 2:
            return Result(argv, 1, "", "mcauth: there is no new key to commit; mcauth genkey new makes one\n")
        own.pop(0)
        return Result(argv, 0, "", "")

    monkeypatch.setattr(words, "mc", mc)
    trust = words.Trust.__new__(words.Trust)
    trust.lab, trust.client_node = None, "SN"  # type: ignore[assignment]
    monkeypatch.setattr(words.Trust, "digest_at_home", lambda _: ", ".join(own))
    monkeypatch.setattr(words.Trust, "digest_at_owner", lambda _: at_owner[-1])
    monkeypatch.setattr(words.Trust, "tell_owner", lambda _: at_owner.append(", ".join(own)))
    trust.one_key()
    assert (own, at_owner[-1]) == (pairs[-1:], pairs[-1])
    told = len(at_owner)
    trust.one_key()
    assert len(at_owner) == told, "who knows it is told nothing"
