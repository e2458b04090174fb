"""What the filesystem's own words mean: a client's log, the volume files that servers read."""

import socket
from pathlib import Path
from threading import Thread

import pytest

from causeway.process import Result, run
from mc import native
from mc.config import Config, Filesystem, Grant
from mc.drivers import gluster
from mc.drivers.known import State
from mc.native import Refused
from tests.unit.mc_node import HERE, configured
from tests.unit.shells import SHELLS

FILTER = Path(__file__).parents[2] / "nodes/mc/filter/brick"

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


#: layout, parity, servers -> the words of `gluster volume create` for it
LAYOUTS = {
    ("stripe", 1, 3): ["disperse", "3", "redundancy", "1"],
    ("stripe", 1, 4): ["disperse", "4", "redundancy", "1"],
    ("stripe", 2, 5): ["disperse", "5", "redundancy", "2"],
    ("stripe", 2, 6): ["disperse", "6", "redundancy", "2"],
    ("whole", 0, 1): [],
    ("whole", 0, 5): [],
}
NO_LAYOUTS = {
    ("stripe", 0, 4): "4 servers, parity 0: stripes take a parity of 1 or more, and over twice as many servers",
    ("stripe", 1, 2): "2 servers, parity 1: stripes take a parity of 1 or more, and over twice as many servers",
    ("stripe", 2, 4): "4 servers, parity 2: stripes take a parity of 1 or more, and over twice as many servers",
    ("whole", 1, 4): "parity 1: a file that is whole on one server has none; use 0",
}


#: What a daemon says of another that it knows and that is up.
IN_CLUSTER = "Peer in Cluster (Connected)"


def peers(names: list[str], state: str = IN_CLUSTER) -> str:
    """What `gluster peer status` says of others; the last one is in a state."""
    states = [IN_CLUSTER] * (len(names) - 1) + [state] * bool(names)
    each = [f"\nHostname: {n}\nUuid: 0\nState: {s}\n" for n, s in zip(names, states, strict=True)]
    return f"Number of Peers: {len(names)}\n{''.join(each)}"


def served(var: Path, monkeypatch: pytest.MonkeyPatch, layout: str, parity: int, servers: int) -> list[list[str]]:
    """What `serve` starts for a filesystem; the servers' daemons are content with everything."""
    begun: list[list[str]] = []

    def run(argv: list[str], **_: object) -> native.Result:
        begun.append(argv)
        others = [f"n{i}" for i in range(2, servers + 1)]
        return native.Result(0, peers(others).encode() if argv[-2:] == ["peer", "status"] else b"", "")

    monkeypatch.setattr(native, "run", run)
    monkeypatch.setattr(Config, "here", lambda _: HERE)
    names = ",".join([HERE.name, *(f"n{i}" for i in range(2, servers + 1))])
    filesystem = Filesystem("work", "/work", names, "/disks/work/brick", layout, parity)
    gluster.serve(configured("blue.example", folder=var), filesystem)
    return begun


@pytest.mark.parametrize(("layout", "parity", "servers"), LAYOUTS)
def test_a_filesystem_is_made_with_its_layout_on_all_its_servers(
    layout: str, parity: int, servers: int, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = served(var, monkeypatch, layout, parity, servers)
    assert [argv[-1] for argv in begun if "probe" in argv] == [f"n{i}" for i in range(2, servers + 1)]
    (made,) = [argv for argv in begun if "create" in argv]
    bricks = [f"{name}:/disks/work/brick" for name in [HERE.name, *(f"n{i}" for i in range(2, servers + 1))]]
    assert made[2:] == ["volume", "create", "work", *LAYOUTS[layout, parity, servers], *bricks, "force"]


@pytest.mark.parametrize("state", ["Accepted peer request (Connected)", "Peer in Cluster (Disconnected)"])
@pytest.mark.parametrize("late", ["n1", "n2", "n3"])
def test_servers_are_one_pool_when_each_has_let_in_all_others(
    late: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["n1", "n2", "n3"]
    said = {name: peers([other for other in names if other != name]) for name in names}

    def run(argv: list[str], **_: object) -> native.Result:
        return native.Result(0, said[argv[1].removeprefix("--remote-host=")].encode(), "")

    monkeypatch.setattr(native, "run", run)
    assert gluster._full_mesh("n1", names[1:])
    said[late] = peers([other for other in names if other != late], state)
    assert not gluster._full_mesh("n1", names[1:])


def test_one_who_is_to_serve_alone_is_let_in_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(argv: list[str], **_: object) -> native.Result:
        others = ["n2", "n3"] if argv[1].endswith("=n1") else ["n1", "n2"]
        return native.Result(0, peers(others, "Probe Sent to Peer (Connected)").encode(), "")

    monkeypatch.setattr(native, "run", run)
    assert not gluster._full_mesh("n1", ["n3"])
    assert gluster._full_mesh("n1", ["n2"])


@pytest.mark.parametrize(("layout", "parity", "servers"), NO_LAYOUTS)
def test_a_layout_that_cannot_be_is_refused_before_anything_is_done(
    layout: str, parity: int, servers: int, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "must", lambda *_: pytest.fail("something is done"))
    with pytest.raises(Refused) as caught:
        served(var, monkeypatch, layout, parity, servers)
    assert str(caught.value) == NO_LAYOUTS[layout, parity, servers]


class Answers:
    """Native commands: what is answered to each, the first answer once where there are more; and what was started."""

    def __init__(self, **answers: list[native.Result]) -> None:
        self.answers, self.begun = answers, list[str]()

    def __call__(self, argv: list[str], **_: object) -> native.Result:
        line = " ".join(argv)
        self.begun.append(line)
        for word, results in self.answers.items():
            if word.replace("_", " ") in line:
                return results.pop(0) if len(results) > 1 else results[0]
        return native.Result(0, b"", "")


OK, BUSY = native.Result(0, b"", ""), native.Result(1, b"", "Another transaction is in progress for work. Try again.")
WORK = Filesystem("work", "/work", "n1,n2", "/disks/work/brick", "whole", 0)
BRICKS = "".join(f"Brick {name}:/disks/work/brick    49152     0          Y       7\n" for name in ("n1", "n2"))


def test_a_command_that_was_broken_off_goes_on_for_a_moment_and_is_waited_for(
    var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Answers(volume_set=[BUSY, BUSY, OK])
    monkeypatch.setattr(native, "run", answers)
    monkeypatch.setattr(gluster, "_POLL_S", 0)
    gluster.grant(configured("blue.example", folder=var), WORK, restart=False)
    assert len(answers.begun) == 3
    answers.answers["volume_set"] = [native.Result(1, b"", "no such volume")]
    with pytest.raises(Refused, match=r"auth\.ssl-allow blue\.example .*no such volume"):
        gluster.grant(configured("blue.example", folder=var), WORK, restart=False)
    answers.answers["volume_set"] = [BUSY]
    monkeypatch.setattr(gluster, "_BUSY_S", 0)
    with pytest.raises(Refused, match="Another transaction"):
        gluster.grant(configured("blue.example", folder=var), WORK, restart=False)


def test_servers_are_told_of_the_grants_that_count(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Answers()
    monkeypatch.setattr(native, "run", answers)
    rows = [
        Grant("green.example", "work", "rw", "no", "leaving"),
        Grant("red.example", "work", "rw", "no", "coming"),
        Grant("grey.example", "work", "ro", "no"),
    ]
    gluster.grant(configured("blue.example", folder=var, grants=rows), WORK, restart=False)
    assert answers.begun == [
        "gluster --mode=script volume set work auth.ssl-allow blue.example,red.example server.root-squash off"
    ]


def test_bricks_start_anew_also_those_that_were_left_dead_and_no_other_process_ends(
    var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Answers(
        status_work_clients=[native.Result(0, b"Clients connected : 3\n" * 2, "")],
        volume_status=[native.Result(0, BRICKS.encode(), "")],
    )
    monkeypatch.setattr(native, "run", answers)
    gluster.grant(configured("blue.example", folder=var), WORK, restart=True)
    assert answers.begun[1] == "gluster --mode=script volume start work force"
    anew = [line for line in answers.begun if line.startswith("ssh")]
    assert [next(word for word in line.split() if word in WORK.server_names) for line in anew] == ["n1", "n2"]
    assert all("pkill -x -F $file glusterfsd; done; gluster volume start work force" in line for line in anew)


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a mount of work says below its .meta: three servers, one of them not connected."""
    monkeypatch.setattr(gluster, "mounted", lambda _: True)
    for i, connected in enumerate((1, 0, 1)):
        private = tmp_path / f".meta/graphs/active/work-client-{i}/private"
        private.parent.mkdir(parents=True)
        private.write_text(f"[xlator.protocol.client.work-client-{i}.priv]\nconnecting = 0\nconnected = {connected}\n")
    return tmp_path


@pytest.mark.parametrize("program", ["/usr/sbin/glusterfs", "/usr/bin/stat"])
@pytest.mark.parametrize(("hangs", "tries"), [(1, 2), (2, 2), (0, 1)])
def test_a_mount_that_hangs_is_ended_and_tried_once_more(
    hangs: int, tries: int, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[list[str]] = []

    def run(argv: list[str], **_: object) -> native.Result:
        begun.append(argv)
        hung = argv[0] == program and sum(argv[0] == program for argv in begun) <= hangs
        return native.Result(native.TIMED_OUT, b"", "no answer within 30 s") if hung else native.Result(0, b"", "")

    monkeypatch.setattr(native, "run", run)
    monkeypatch.setattr(gluster, "state", lambda _: None if hangs == 2 else State(3, 3, 0))
    why = gluster._try_mount(["--volfile-server=nsd01", "--volfile-id=/work"], "/work", tmp_path / "log")
    assert why == ("no answer within 30 s" if hangs == 2 else "")
    assert [argv[:3] for argv in begun if "umount" in argv[0]] == [["/usr/bin/umount", "-f", "-l"]] * hangs
    assert sum(argv[0] == program for argv in begun) == tries


def test_a_mount_of_stripes_says_how_many_servers_may_be_missing(mounted: Path) -> None:
    disperse = mounted / ".meta/graphs/active/work-disperse-0"
    disperse.mkdir()
    (disperse / "private").write_text("[xlator.cluster.disperse.work-disperse-0]\nnodes = 3\nredundancy = 1\n")
    state = gluster.state(str(mounted))
    assert state == State(2, 3, 1)
    assert state.usable


def test_a_mount_of_whole_files_takes_all_its_servers(mounted: Path) -> None:
    state = gluster.state(str(mounted))
    assert state == State(2, 3, 0)
    assert not state.usable


def test_of_four_servers_one_may_be_missing() -> None:
    assert [State(n, 4, 1).usable for n in (4, 3, 2, 0)] == [True, True, False, False]
    assert not State(0, 0, 0).usable


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
#: Whose keys a brick accepts.
ACCEPTS = "    option transport.socket.ssl-ca-list /etc/ssl/glusterfs.clients\n"
SERVED = "    subvolumes /disks/work/brick\n"
PLAIN = f"{ACCEPTS}{SERVED}".join(BRICK.rsplit(SERVED, 1))
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
# cluster filesystem access root state
green.example work ro no held
grey.example work rw no held
blue.example work ro no leaving
grey.example home1 ro no held
red.example work ro no coming
"""


class Server:
    """A server with the real filter, which reads the grants in a temporary folder."""

    def __init__(self, folder: Path, shell: list[str]) -> None:
        self.folder, self.shell = folder, shell
        (folder / "gen").mkdir()
        (folder / "work").mkdir()
        self.filter = folder / "brick"
        text = FILTER.read_text()
        assert (text.count("/var/mc/gen/grants"), text.count("/run/mc.name")) == (1, 2)
        text = text.replace("/var/mc/gen/grants", f"{folder}/gen/grants")
        self.filter.write_text(text.replace("/run/mc.name", f"{folder}/name"))

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
    assert text == before + EXPORT + "volume work-server\n" + after.replace(SERVED, ACCEPTS + ALLOWED)


@pytest.mark.parametrize(
    "grants", ["", "green.example work rw no\n", "green.example home1 ro no\n", "green.example work ro no leaving\n"]
)
def test_a_brick_without_read_only_clusters_is_told_whose_keys_it_accepts_and_no_more(
    grants: str, server: Server
) -> None:
    server.grants(grants)
    assert server.writes(BRICK_FILE, BRICK).read_text() == PLAIN


def test_a_server_in_no_cluster_has_no_read_only_export(server: Server) -> None:
    assert server.writes(BRICK_FILE, BRICK).read_text() == PLAIN


def test_a_grant_that_is_taken_back_goes_with_the_next_file_that_glusterd_writes(server: Server) -> None:
    server.grants(GRANTS)
    with_export = server.writes(BRICK_FILE, BRICK).read_text()
    assert server.writes(BRICK_FILE, BRICK).read_text() == with_export
    server.grants("")
    assert server.writes(BRICK_FILE, BRICK).read_text() == PLAIN


def test_the_export_is_added_once(server: Server) -> None:
    server.grants(GRANTS)
    file = server.writes(BRICK_FILE, BRICK)
    once = file.read_text()
    server.filters(file).must()
    assert file.read_text() == once


def test_a_server_that_knows_its_name_adds_to_its_own_bricks_file_alone(server: Server) -> None:
    server.grants(GRANTS)
    (server.folder / "name").write_text("nsd01f\n")
    assert server.writes("work.nsd01.disks-work-brick.vol", BRICK).read_text() == BRICK
    assert server.writes("work.nsd01f.disks-work-brick.vol", BRICK).read_text() != BRICK


def test_a_bricks_file_stays_its_owners_alone_for_it_has_a_password(server: Server) -> None:
    server.grants(GRANTS)
    file = server.writes(BRICK_FILE, BRICK)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("rows", "let_in", "to_read"),
    [
        ([], "blue.example", "blue.example"),
        ([("grey.example", "work", "rw", "held")], "blue.example,grey.example", "blue.example"),
        ([("grey.example", "work", "rw", "leaving")], "blue.example", "blue.example"),
        ([("grey.example", "home1", "rw", "held")], "blue.example", "blue.example"),
        ([("grey.example", "work", "ro", "coming")], "blue.example", "blue.example"),
        ([("red.example", "work", "ro", "held")], "blue.example", "red.example"),
        # who was granted it meanwhile the daemon hears of from the others
        ([("pink.example", "work", "rw", "held")], "blue.example", "blue.example"),
    ],
)
def test_a_server_that_comes_back_lets_in_nobody_whom_the_tables_leave_out(
    rows: list[tuple[str, str, str, str]],
    let_in: str,
    to_read: str,
    server: Server,
    cluster: Config,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.grants(GRANTS)
    known = BRICK.replace("ssl-allow blue.example", "ssl-allow blue.example,grey.example")
    file = server.writes(BRICK_FILE, known)
    with_both = file.read_text()
    monkeypatch.setattr(gluster, "_VOLUMES", server.folder)
    cluster.filesystems = [Filesystem("work", "/work", "a,b,c,d", "/disks/work/brick")]
    cluster.grants = [Grant(c, f, access, "no", state) for c, f, access, state in rows]
    begun: dict[str, str] = {}
    monkeypatch.setattr(native, "must", lambda argv, **_: begun.setdefault(argv[0], file.read_text()))
    monkeypatch.setattr(gluster, "answers", lambda _: True)
    monkeypatch.setattr(gluster, "_KEYS", {})
    for name in ("_LOGS", "_SECURE"):
        monkeypatch.setattr(gluster, name, server.folder / "daemon" / name)
    gluster.start(cluster)
    less = with_both.replace("blue.example,grey.example", let_in).replace("green.example,red.example", to_read)
    assert begun == {"glusterd": less}, "before the daemon starts it"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "name",
    ["work.tcp-fuse.vol", "trusted-work.tcp-fuse.vol", "work-shd.vol", "work-rebalance.vol", "work.gfproxyd.vol"],
)
def test_files_that_are_no_bricks_stay_as_they_are(name: str, server: Server) -> None:
    server.grants(GRANTS)
    assert server.writes(name, CLIENT).read_text() == CLIENT


#: As glusterd's own socket gave it: the reply of a daemon whose pool is itself, of one that has no such procedure, and
#: of one that has failed (its result is -1).
LISTED = "800000a4 00000001 00000001 00000000 00000000 00000000 00000000 00000000 00000000"
NO_SUCH = "80000018 00000001 00000001 00000000 00000000 00000000 00000003"
FAILED = "80000024 00000001 00000001 00000000 00000000 00000000 00000000 ffffffff 00000016"


@pytest.mark.parametrize(
    ("reply", "answers"), [(LISTED, True), (NO_SUCH, False), (FAILED, False), (LISTED[:35], False), ("", False)]
)
def test_a_nodes_own_daemon_answers_when_it_lists_its_pool(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reply: str, answers: bool
) -> None:
    monkeypatch.setattr(gluster, "_ANSWER_S", 0.2)
    path = str(tmp_path / "glusterd.socket")
    assert not gluster.answers_by(path)  # there is none
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(path)
        assert not gluster.answers_by(path)  # it does not listen any more
        daemon.listen()
        asked: list[bytes] = []

        def serve() -> None:
            client, _ = daemon.accept()
            with client:
                asked.append(client.recv(100))
                client.sendall(bytes.fromhex(reply))
                client.recv(1)  # says nothing more, until the other one has enough

        serving = Thread(target=serve)
        serving.start()
        assert gluster.answers_by(path) is answers
        serving.join()
    # program 1238463 (what glusterd does for its CLI), version 2, procedure 3 (the pool), of all nodes
    numbers = "80000030 00000001 00000000 00000002 0012e5bf 00000002 00000003" + " 00000000" * 4 + " 00000002 00000000"
    assert asked == [bytes.fromhex(numbers)]
