"""Whom hosts ask for a hardware address in vain."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from causeway.errors import LabBroken
from causeway.folders import REPO
from causeway.lab.lab import Lab
from causeway.lab.probes import neighbours
from causeway.model.load import load_site

SMALL = load_site(REPO / "topologies/small/site.yaml")
HOST = SMALL.hosts()[0]


class Told(Lab):
    """A lab in which one host asks for these addresses, look for look, and for the last ones from then on."""

    def __init__(self, folder: Path, *looks: list[str]) -> None:
        super().__init__(SMALL, folder)
        self.looks = list(looks)

    def plug(self, node: str, argv: Sequence[str]) -> list[str]:  # noqa: ARG002
        addresses = [] if node != HOST else self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        entries = [{"dst": address, "dev": "bond0", "state": ["INCOMPLETE"]} for address in addresses]
        return ["echo", json.dumps(entries)]


def test_what_was_asked_before_is_waited_for_and_what_is_asked_meanwhile_is_not(tmp_path: Path) -> None:
    asked, asked_later = ["10.0.0.2"], ["10.0.0.9"]
    lab = Told(tmp_path, asked, asked, asked + asked_later, asked_later)
    neighbours.settle(lab)
    assert lab.looks == [asked_later]


def test_a_neighbour_that_is_asked_for_without_end_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_GIVEN_UP_S", 0.1)
    with pytest.raises(LabBroken, match=f"{HOST} asks for 10.0.0.2"):
        neighbours.settle(Told(tmp_path, ["10.0.0.2"]))
