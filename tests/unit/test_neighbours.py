"""Whom hosts ask for a hardware address in vain."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from causeway import wait
from causeway.errors import LabBroken
from causeway.folders import REPO
from causeway.lab.lab import Lab
from causeway.lab.probes import neighbours
from causeway.model.load import load_site

SMALL = load_site(REPO / "topologies/small/site.yaml")
HOST = SMALL.hosts()[0]


class Told(Lab):
    """A lab whose nodes show the neighbours that a file of theirs has."""

    def plug(self, node: str, argv: Sequence[str]) -> list[str]:  # noqa: ARG002
        return ["cat", str(self.folder / node)]

    def shows(self, node: str, *addresses: str) -> None:
        entries = [{"dst": address, "dev": "bond0", "state": ["INCOMPLETE"]} for address in addresses]
        (self.folder / node).write_text(json.dumps(entries))


@pytest.fixture
def lab(tmp_path: Path) -> Told:
    told = Told(SMALL, tmp_path)
    for host in SMALL.hosts():
        told.shows(host)
    return told


def test_what_was_asked_before_is_waited_for_and_what_is_asked_meanwhile_is_not(
    lab: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        lab.shows(HOST, *(["10.0.0.2", "10.0.0.9"] if len(waited) < 3 else ["10.0.0.9"]))

    monkeypatch.setattr(wait.time, "sleep", sleep)
    lab.shows(HOST, "10.0.0.2")
    neighbours.settle(lab)
    assert len(waited) == 3


def test_a_neighbour_that_is_asked_for_without_end_is_named(lab: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_GIVEN_UP_S", 0.1)
    lab.shows(HOST, "10.0.0.2")
    with pytest.raises(LabBroken, match=f"{HOST} asks for 10.0.0.2"):
        neighbours.settle(lab)
