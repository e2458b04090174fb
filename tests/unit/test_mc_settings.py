"""Attributes that nodes may have of their own, and what a node's memory allows; the lines of /etc/fstab."""

import json

import pytest

from mc import fstab, native, settings
from mc.config import Config, Filesystem, Node, NodeSetting, RemoteCluster, RemoteFilesystem, change, load
from mc.drivers import gluster
from tests.unit.mc_node import HERE, Does

ION = Node(2, "R00-M0-NC-3", "127.0.0.2", "nonquorum")


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How much each node has (KiB); who is not named does not answer."""
    has = {HERE.name: 2**20, ION.name: 2**19}
    monkeypatch.setattr(settings, "_memory_kib", lambda node, _mine: has.get(node.name))
    return has


@pytest.fixture
def pair(cluster: Config, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setattr(native, "ssh", lambda *_, **__: native.Result(0, b"", ""))
    with change() as config:
        config.nodes.append(ION)
    return cluster


@pytest.mark.usefixtures("pair", "memory")
def test_a_page_pool_takes_half_of_a_nodes_memory_at_most(does: Does) -> None:
    said = does("mcchconfig pagepool=300M")
    assert (said.rc, said.err.splitlines()) == (
        1,
        [
            "mcchconfig: R00-M0-NC-3 has 512 MiB of memory, and pagepool may take half of it",
            "mcchconfig: nothing has been changed",
        ],
    )
    assert does("mcchconfig pagepool=300M -N SN-b").out == "pagepool is 300M on SN-b\n"
    assert does("mcchconfig pagepool=128M").rc == 0
    rows = {row["attribute"]: row["value"] for row in json.loads(does("mclsconfig --json").out)}
    assert (rows["pagepool"], rows["pagepool [SN-b]"]) == ("128M", "300M")
    assert [load().value("pagepool", name) for name in (HERE.name, ION.name)] == ["300M", "128M"]


@pytest.mark.usefixtures("pair")
def test_who_does_not_answer_is_not_asked_for_memory(does: Does, memory: dict[str, int]) -> None:
    del memory[ION.name]
    assert does("mcchconfig pagepool=300M").rc == 0


@pytest.mark.usefixtures("pair", "memory")
def test_default_takes_a_value_from_nodes_or_from_the_cluster(does: Does) -> None:
    for line in ("pagepool=64M -N SN-b,R00-M0-NC-3", "pagepool=32M", "pagepool=DEFAULT -N SN-b", "pagepool=DEFAULT"):
        assert does(f"mcchconfig {line}").rc == 0
    assert load().settings == {}
    assert load().node_settings == [NodeSetting(ION.name, "pagepool", "64M")]


@pytest.mark.usefixtures("pair", "memory")
def test_a_block_size_needs_all_daemons_down(does: Does, monkeypatch: pytest.MonkeyPatch) -> None:
    states_ = ["down", "active"]
    monkeypatch.setattr(settings.states, "states", lambda *_: states_)
    said = "mcchconfig: a new maxblocksize needs all daemons down, and R00-M0-NC-3 is up; first: mcshutdown -a\n"
    assert does("mcchconfig maxblocksize=1024K").err == said
    states_[1] = "down"
    assert does("mcchconfig maxblocksize=1024K").out == "maxblocksize is 1024K in cluster blue.example\n"
    assert does("mcchconfig maxblocksize=DEFAULT").rc == 0
    assert "maxblocksize" not in load().settings


def test_what_a_mount_is_told_of_them(cluster: Config) -> None:
    assert gluster._written(cluster) == []
    cluster.settings |= {"pagepool": "128M", "maxblocksize": "1024K"}
    cluster.node_settings = [NodeSetting(HERE.name, "pagepool", "64M")]
    assert gluster._written(cluster) == [
        *("--xlator-option", "*-write-behind.cache-size=64MB"),
        *("--xlator-option", "*-write-behind.aggregate-size=1024KB"),
        *("--xlator-option", "*-write-behind.trickling-writes=off"),
    ]


def test_fstab_has_a_line_for_each_filesystem_and_keeps_those_of_others(cluster: Config) -> None:
    fstab.FILE.write_text("proc /proc proc defaults 0 0\n\n# mine\ngone /gone mc rw,dev=x:gone,noauto 0 0\n")
    cluster.filesystems = [Filesystem("scratch", "/scratch", "SN-b", "/disks/scratch/brick")]
    cluster.remote_clusters = [RemoteCluster("grey.example", "n1,n2")]
    cluster.remote_filesystems = [RemoteFilesystem("home1", "home", "grey.example", "/home1", "ro", "no")]
    fstab.write(cluster)
    assert fstab.FILE.read_text() == (
        "proc /proc proc defaults 0 0\n\n# mine\n"
        "/dev/scratch /scratch mc rw,dev=blue.example:scratch,noauto 0 0\n"
        "/dev/home1 /home1 mc ro,dev=grey.example:home,noauto 0 0\n"
    )
    written = fstab.FILE.stat().st_mtime_ns
    fstab.write(cluster)
    assert fstab.FILE.stat().st_mtime_ns == written
