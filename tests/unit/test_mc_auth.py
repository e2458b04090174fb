"""A grant is enforced by the servers, or nothing of it stays."""

from pathlib import Path

import pytest

from mc import config as configuration
from mc.config import Config, Filesystem, Grant, save
from mc.drivers import gluster
from mc.native import Refused
from tests.unit.mc_node import Does

GREEN = Grant("green.example", "work", "ro", "no")
WORK = Filesystem("work", "/work", "a,b,c,d", "/disks/work/brick")


def test_a_grant_that_a_server_does_not_take_is_taken_back_from_the_others(
    does: Does, cluster: Config, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.clusters, cluster.filesystems, cluster.grants = ["green.example"], [WORK], [GREEN]
    save(cluster, var)
    told: list[tuple[str, list[Grant], bool]] = []

    def servers_take(config: Config, filesystem: Filesystem, *, restart: bool) -> None:
        told.append((filesystem.name, config.grants, restart))
        if restart:
            raise Refused("the brick of work on c does not start anew: no space left on device")

    monkeypatch.setattr(gluster, "serving", lambda _: True)
    monkeypatch.setattr(gluster, "grant", servers_take)
    said = does("mcauth grant green.example -f work -a rw -r no")
    assert (said.rc, "no space left on device" in said.err) == (1, True)
    assert told == [
        ("work", [Grant("green.example", "work", "rw", "no")], True),
        ("work", [GREEN], False),
    ]
    assert configuration.load().grants == [GREEN]
