"""What the filesystem's own words mean: a client's log, the volume files that servers read."""

from pathlib import Path

import pytest

from causeway.process import Result, run
from mc import gluster
from tests.unit.shells import SHELLS

FILTER = Path(__file__).parents[2] / "images/base/mc/filter/readonly"

BEGUN = "[2026-11-20 20:43:28.7] I [MSGID: 100030] [glusterfsd.c:2872:main] 0-/usr/sbin/glusterfs: Started running\n"
#: The last line of each client that asks a daemon for its volume file and does not get it.
NO_VOLFILE = "E [glusterfsd-mgmt.c:2514:mgmt_getspec_cbk] 0-mgmt: failed to fetch volume file (key:/work)"
#: what a client logged (as seen in a lab) -> a part of what it means
LOGS = {
    "E [socket.c:222:ssl_dump_error_stack] 0-glusterfs:   error:0A000418:SSL routines::tlsv1 alert unknown ca\n"
    + NO_VOLFILE: "mcauth add",
    "E [socket.c:222:ssl_dump_error_stack] 0-glusterfs:   error:0A000086:SSL routines::certificate verify failed\n"
    + NO_VOLFILE: "mcremotecluster",
    "E [glusterfsd-mgmt.c:2313:mgmt_getspec_cbk] 0-glusterfs: failed to get the 'volume file' from server\n"
    + NO_VOLFILE: "no filesystem of",
    "E [socket.c:2620:socket_connect_finish] 0-glusterfs: connection to 10.1.33.202:24007 failed\n"
    + NO_VOLFILE: "no contact node answers",
    "E [fuse-bridge.c:5365:fuse_first_lookup] 0-fuse: first lookup on root failed (Transport endpoint is not"
    " connected)": "too few of its servers",
    "E [MSGID: 114044] [client-handshake.c:521:client_setvolume_cbk] 0-work-client-0: SETVOLUME on remote-host failed"
    " [{remote-error=Authentication failed}, {errno=13}, {error=Permission denied}]": "has not granted it",
}


@pytest.mark.parametrize("line", LOGS)
def test_a_log_of_a_mount_that_failed_is_told_in_the_commands_own_terms(line: str) -> None:
    assert LOGS[line] in gluster.meaning(BEGUN + line + "\n")


def test_a_log_that_says_nothing_known_means_nothing() -> None:
    assert gluster.meaning(BEGUN) == gluster.meaning("") == ""


def test_of_four_servers_one_may_be_missing() -> None:
    assert [gluster.State(n, 4).usable for n in (4, 3, 2, 0)] == [True, True, False, False]
    assert not gluster.State(0, 0).usable


BRICK = """\
volume work-posix
    type storage/posix
    option directory /disks/work/brick
end-volume

volume work-index
    type features/index
    option index-base /disks/work/brick/.glusterfs/indices
    subvolumes work-posix
end-volume

volume /disks/work/brick
    type debug/io-stats
    option auth-path /disks/work/brick
    option unique-id /disks/work/brick
    subvolumes work-index
end-volume

volume work-server
    type protocol/server
    option transport.socket.listen-port 49152
    option transport.socket.ssl-enabled on
    option auth.login./disks/work/brick.allow f3f51d99
    option auth.login.f3f51d99.password fafbe12d
    option auth-path /disks/work/brick
    option auth.login./disks/work/brick.ssl-allow blue.example
    option auth.addr./disks/work/brick.allow *
    subvolumes /disks/work/brick
end-volume

"""
#: What stands before the server, and what the server gets besides.
EXPORT = """\
volume /ro/disks/work/brick
    type features/read-only
    option read-only on
    subvolumes /disks/work/brick
end-volume

"""
ALLOWED = """\
    option auth.addr./ro/disks/work/brick.allow *
    option auth.login./ro/disks/work/brick.ssl-allow green.example,red.example
    subvolumes /disks/work/brick /ro/disks/work/brick
"""
CLIENT = """\
volume work-client-0
    type protocol/client
    option remote-host nsd01f
    option remote-subvolume /disks/work/brick
end-volume

volume work-disperse-0
    type cluster/disperse
    subvolumes work-client-0 work-client-1 work-client-2 work-client-3
end-volume
"""
GRANTS = """\
# cluster filesystem access root
green.example work ro no
grey.example work rw no
grey.example home1 ro no
red.example work ro no
"""


class Server:
    """A server with the real filter, which reads the grants in a temporary folder."""

    def __init__(self, folder: Path, shell: list[str]) -> None:
        self.folder, self.shell = folder, shell
        (folder / "gen").mkdir()
        (folder / "work").mkdir()
        self.filter = folder / "readonly"
        text = FILTER.read_text()
        assert text.count("/var/mc/gen/grants 2>") == 1
        self.filter.write_text(text.replace("/var/mc/gen/grants 2>", f"{folder}/gen/grants 2>"))

    def grants(self, text: str) -> None:
        (self.folder / "gen" / "grants").write_text(text)

    def writes(self, name: str, text: str) -> Path:
        """As glusterd: write a volume file, then run the filter on it."""
        file = self.folder / "work" / name
        file.write_text(text)
        file.chmod(0o600)
        self.filters(file).must()
        return file

    def filters(self, file: Path) -> Result:
        return run([*self.shell, str(self.filter), str(file)], timeout_s=20)


@pytest.fixture(params=SHELLS)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Server:
    return Server(tmp_path, request.param)


BRICK_FILE = "work.nsd01f.disks-work-brick.vol"


def test_a_brick_gets_a_read_only_export_for_the_clusters_that_grants_name(server: Server) -> None:
    server.grants(GRANTS)
    text = server.writes(BRICK_FILE, BRICK).read_text()
    before, after = BRICK.split("volume work-server\n")
    assert text == before + EXPORT + "volume work-server\n" + after.replace(
        "    subvolumes /disks/work/brick\n", ALLOWED
    )


@pytest.mark.parametrize("grants", ["", "green.example work rw no\n", "green.example home1 ro no\n"])
def test_a_brick_without_read_only_clusters_stays_as_it_is(grants: str, server: Server) -> None:
    server.grants(grants)
    assert server.writes(BRICK_FILE, BRICK).read_text() == BRICK


def test_a_server_in_no_cluster_has_no_read_only_export(server: Server) -> None:
    assert server.writes(BRICK_FILE, BRICK).read_text() == BRICK


def test_a_grant_that_is_taken_back_goes_with_the_next_file_that_glusterd_writes(server: Server) -> None:
    server.grants(GRANTS)
    with_export = server.writes(BRICK_FILE, BRICK).read_text()
    assert server.writes(BRICK_FILE, BRICK).read_text() == with_export
    server.grants("")
    assert server.writes(BRICK_FILE, BRICK).read_text() == BRICK


def test_the_export_is_added_once(server: Server) -> None:
    server.grants(GRANTS)
    file = server.writes(BRICK_FILE, BRICK)
    once = file.read_text()
    server.filters(file).must()
    assert file.read_text() == once


def test_a_bricks_file_stays_its_owners_alone_for_it_has_a_password(server: Server) -> None:
    server.grants(GRANTS)
    file = server.writes(BRICK_FILE, BRICK)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    "name",
    ["work.tcp-fuse.vol", "trusted-work.tcp-fuse.vol", "work-shd.vol", "work-rebalance.vol", "work.gfproxyd.vol"],
)
def test_files_that_are_no_bricks_stay_as_they_are(name: str, server: Server) -> None:
    server.grants(GRANTS)
    assert server.writes(name, CLIENT).read_text() == CLIENT
