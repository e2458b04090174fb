"""Labs on this machine itself: what is another's stays, and what was half up goes."""

import json
import shutil
from pathlib import Path

import pytest

from causeway.cli import inside
from causeway.errors import BadInput, LabBroken
from causeway.folders import REPO
from causeway.lab import deploy
from causeway.lab.deploy import Deployment
from causeway.process import Result

SMALL = REPO / "topologies" / "small" / "site.yaml"


class Machine:
    """Its containers by name, as Docker says, and what was done with them."""

    def __init__(self) -> None:
        self.containers = ""
        self.rc = 0
        self.done: list[str] = []

    def run(self, argv: list[str]) -> Result:
        assert argv[:2] == ["docker", "ps"]
        return Result(tuple(argv), self.rc, self.containers, "the daemon does not answer")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(deploy, "run", made.run)
    for module in (deploy, inside):
        monkeypatch.setattr(module, "LABS", tmp_path / "labs")
    monkeypatch.setattr(deploy, "_SYSCTL", tmp_path / "sys")
    monkeypatch.setattr(deploy, "containerlab", lambda _lab, verb, _say: made.done.append(verb))
    return made


def half_up(folder: Path) -> None:
    """As a kill leaves it while nodes start."""
    folder.mkdir(parents=True)
    shutil.copy(SMALL, folder / "topology.yaml")
    (folder / "small.clab.yml").touch()


def test_a_lab_that_is_another_users_is_not_touched(machine: Machine, tmp_path: Path) -> None:
    machine.containers = "clab-small-quay1\nclab-small-lark\n"
    with pytest.raises(
        BadInput, match="somebody else has a containerlab lab small here: clab-small-quay1 clab-small-l"
    ):
        deploy.up(Deployment(SMALL, None, None, "real"), print)
    assert machine.done == [] and not (tmp_path / "labs").exists()


def test_what_was_killed_while_it_came_up_can_be_taken_down(machine: Machine, tmp_path: Path) -> None:
    half_up(tmp_path / "labs" / "small")
    machine.containers = "clab-small-quay1\n"
    inside.down("small")
    assert machine.done == ["destroy"] and not (tmp_path / "labs").exists()
    (tmp_path / "labs" / "small").mkdir(parents=True)  # killed at once
    inside.down(None)
    assert not (tmp_path / "labs" / "small").exists()


def test_where_docker_does_not_answer_nothing_is_forgotten(machine: Machine, tmp_path: Path) -> None:
    half_up(tmp_path / "labs" / "small")
    machine.rc = 1
    with pytest.raises(LabBroken, match="the daemon does not answer"):
        inside.down("small")
    assert (tmp_path / "labs" / "small" / "small.clab.yml").exists()


@pytest.mark.parametrize(("watchers", "then"), [("128\n", "280\n"), ("8192\n", "8192\n")])
def test_the_machines_tunables_are_afterwards_what_they_were(
    machine: Machine, tmp_path: Path, watchers: str, then: str
) -> None:
    before = {"net/core/rmem_max": "212992\n", "fs/inotify/max_user_instances": watchers}
    for name, value in before.items():
        (tmp_path / "sys" / name).parent.mkdir(parents=True)
        (tmp_path / "sys" / name).write_text(value)

    def now() -> dict[str, str]:
        return {name: (tmp_path / "sys" / name).read_text() for name in before}

    folder = tmp_path / "labs" / "jubl"
    folder.mkdir(parents=True)
    shutil.copy(REPO / "topologies" / "jubl" / "site.yaml", folder / "topology.yaml")
    lab = deploy.Lab(deploy.load_site(folder / "topology.yaml"), folder)
    deploy._kernel_wide(lab)
    assert now() == {"net/core/rmem_max": "8388608\n", "fs/inotify/max_user_instances": then}
    kept = {str(tmp_path / "sys" / name): value for name, value in before.items() if now()[name] != value}
    assert json.loads((folder / "sysctl.json").read_text()) == kept
    deploy.down_here(folder)
    assert now() == before
    assert machine.done == []
