"""mclsnsd: the disks that clients are told of, and whether the servers of these answer under those names."""

import argparse
import json
import socket
from collections.abc import Callable

import pytest

from mc import config as configuration
from mc import disks, native, states
from mc.config import Filesystem, RemoteCluster, RemoteFilesystem
from mc.drivers import gluster
from mc.drivers.known import Disk, Known
from mc.native import Refused
from tests.unit.mc_node import HERE, configured

#: A part of what `gluster system:: getspec` says, as seen in a lab.
TOLD = """\
volume work-client-0
    type protocol/client
    option ping-timeout 10
    option remote-host nsd01f
    option remote-subvolume /disks/work/brick
    option transport-type socket
end-volume

volume work-client-1
    type protocol/client
    option remote-host nsd02f
    option remote-subvolume /disks/work/brick
end-volume

volume work-disperse-0
    type cluster/disperse
    subvolumes work-client-0 work-client-1
end-volume
"""
WORK = Known("work", "work", ["n1", "n2"], "/work", "rw", False, False)
Run = Callable[..., native.Result]


def contacts(monkeypatch: pytest.MonkeyPatch, silent: str) -> None:
    """Contact nodes of which some say nothing."""

    def run(argv: list[str], **_: object) -> native.Result:
        contact = argv[1].removeprefix("--remote-host=")
        return native.Result(1, b"", "no answer") if contact in silent.split() else native.Result(0, TOLD.encode(), "")

    monkeypatch.setattr(native, "run", run)


@pytest.mark.parametrize("silent", ["", "n1"])
def test_the_first_contact_that_answers_says_which_disks_there_are(
    silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    contacts(monkeypatch, silent)
    path = "/disks/work/brick"
    assert gluster.disks(WORK) == [Disk(path, "nsd01f"), Disk(path, "nsd02f")]


def test_contacts_that_are_all_silent_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    contacts(monkeypatch, "n1 n2")
    with pytest.raises(Refused, match="none of the contacts of work answers: n1 n2"):
        gluster.disks(WORK)


def resolved(name: str) -> str:
    if name == "nsd01f":
        raise socket.gaierror
    return {"nsd02f": "10.0.0.2", "nsd03f": "10.0.0.3"}[name]


def shown(monkeypatch: pytest.MonkeyPatch, filesystem: str = "all") -> None:
    """`mclsnsd` in a cluster that owns home and mounts another's work, of whose three servers one has no name here."""
    config = configured("blue.example", "0", HERE.name, nodes=[HERE])
    config.filesystems = [Filesystem("home", "/home", HERE.name, "/disks/home/brick")]
    config.remote_clusters = [RemoteCluster("green.example", "n1,n2")]
    config.remote_filesystems = [RemoteFilesystem("scratch", "work", "green.example", "/scratch", "rw", "no")]

    def of(known: Known) -> list[Disk]:
        if known.own:
            raise Refused("none of the contacts of home answers: SN-b")
        return [Disk("/d", server) for server in ("nsd01f", "nsd02f", "nsd03f")]

    monkeypatch.setattr(configuration, "load", lambda: config)
    monkeypatch.setattr(gluster, "disks", of)
    monkeypatch.setattr(socket, "gethostbyname", resolved)
    monkeypatch.setattr(states, "listens", lambda address, port: (address, port) == ("10.0.0.2", 24007))
    disks.show_disks(argparse.Namespace(filesystem=filesystem, json=True))


def test_each_disk_is_shown_with_what_is_seen_of_its_server_from_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown(monkeypatch, "scratch")
    rows = json.loads(capsys.readouterr().out)
    seen = {row["server"]: row["from_here"] for row in rows}
    assert seen == {"nsd01f": "no such name", "nsd02f": "10.0.0.2 answers", "nsd03f": "10.0.0.3 does not answer"}
    assert {(row["filesystem"], row["disk"]) for row in rows} == {("scratch", "/d")}


def test_of_several_filesystems_one_whose_contacts_are_silent_keeps_no_other_from_being_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Refused, match="none of the contacts of home answers"):
        shown(monkeypatch)
    assert len(json.loads(capsys.readouterr().out)) == 3


def test_a_filesystem_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        Refused, match=r"there is no filesystem work in cluster blue\.example; there are: home, scratch"
    ):
        shown(monkeypatch, "work")
