"""The lease daemon: leases over TLS by the clusters' keys, beats with a code, and what becomes of mounts."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mc import config as configuration
from mc import daemons, drivers, keys, leased, leases, mounts
from mc.config import Config, Filesystem, RemoteCluster, RemoteFilesystem, load, save
from mc.leased import Daemon, Lease, Link
from mc.native import Refused
from tests.unit.mc_node import HERE, configured, like

PEER = "127.0.0.2"


@pytest.fixture
def config(
    cluster: Config, var: Path, others: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Config:
    """Cluster blue with a key, a filesystem of its own and one of green's, and leases of 10 s."""
    keys.generate(var / "ssl", cluster.name)
    for name in ("authorized_cluster.green.example", "known_cluster.green.example"):
        (var / "ssl" / name).write_text(Path(others["green"]).read_text())
    made = like(
        cluster,
        settings={leases.FAILURE_DETECTION: "10"},
        filesystems=[Filesystem("work", "/nowhere/work", HERE.name, "/disks/work/brick")],
        remote_clusters=[RemoteCluster("green.example", "127.0.0.9")],
        remote_filesystems=[RemoteFilesystem("home", "home", "green.example", "/nowhere/home", "rw", "no")],
    )
    save(made, var)
    monkeypatch.setattr(leases, "SOCKET", str(tmp_path / "leased.sock"))
    monkeypatch.setattr(daemons, "_LOGS", tmp_path)
    return load()


@pytest.fixture
def daemon(config: Config) -> Iterator[Daemon]:
    """The node's, on a port that is free, answering."""
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    made = Daemon(config, port)
    assert made.server
    threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    made.beats.close()
    made.asked.close()


def own(daemon: Daemon) -> Lease:
    return next(lease for lease in daemon.leases if lease.cluster == daemon.config.name)


def test_a_node_takes_a_lease_over_tls_and_keeps_the_connection(daemon: Daemon) -> None:
    lease = own(daemon)
    daemon.renew(lease)
    link = lease.link
    assert link and link.cluster == "blue.example" and lease.secret == daemon.secret and lease.peers == {}
    assert daemon.managed.holders[HERE.address].quorum
    daemon.renew(lease)
    assert lease.link is link


def test_a_contact_that_is_not_the_manager_says_who_is(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [{"manager": HERE.address}, {"secret": "ab", "holders": {}, "expelled": ""}]
    monkeypatch.setattr(daemon, "answer", lambda *_: answers.pop(0))
    lease = own(daemon)
    daemon.renew(lease)
    assert lease.secret == "ab" and not answers


def test_who_is_not_the_configuration_server_is_no_manager(daemon: Daemon, config: Config) -> None:
    daemon.config = config
    config.server, config.nodes = "SN-c", [HERE, configuration.Node(2, "SN-c", PEER, "quorum")]
    assert daemon.answer("green.example", {}) == {"manager": PEER}


def test_a_node_that_shows_another_clusters_key_is_no_manager(daemon: Daemon) -> None:
    lease = Lease("green.example", [HERE.address])
    daemon.renew(lease)
    assert lease.link is None and not lease.secret
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1 shows the key of blue\.example"):
        daemon._ask(lease, {"address": PEER, "addresses": [], "silent": []})


def test_who_has_no_key_that_the_manager_knows_gets_no_lease(
    daemon: Daemon, var: Path, others: dict[str, str], tmp_path: Path
) -> None:
    stranger = tmp_path / "red"
    stranger.mkdir()
    keys.generate(stranger, "red.example")
    (stranger / "known_cluster.blue.example").write_text((var / "ssl/id_rsa.pub").read_text())
    config = configured("red.example")
    config.folder = tmp_path / "of_red"
    config.folder.mkdir()
    stranger.rename(config.ssl)
    with socket.create_connection((HERE.address, daemon.port), 2) as connection, pytest.raises(OSError):
        link = Link(config, connection, 2)
        link.say({"address": PEER, "addresses": [], "silent": []})
        link.hear()
    assert daemon.managed.holders == {} and others


def test_what_is_no_question_of_ours_ends_the_connection_and_not_the_daemon(daemon: Daemon) -> None:
    for text in ("[]", "no JSON", '{"address": "127.0.0.2"}'):
        link = Link(daemon.config, socket.create_connection((HERE.address, daemon.port), 2), 2)
        link._lines.write(text.encode() + b"\n")
        link._lines.flush()
        with pytest.raises(OSError, match="gone"):
            link.hear()
        link.close()
    daemon.renew(own(daemon))
    assert own(daemon).secret


def test_another_clusters_node_is_a_holder_under_its_clusters_name(daemon: Daemon) -> None:
    said = daemon.answer("green.example", {"address": PEER, "addresses": [PEER], "silent": []})
    assert said == {"secret": daemon.secret, "holders": {PEER: [PEER]}, "expelled": ""}
    holder = daemon.managed.holders[PEER]
    assert (str(holder), holder.quorum) == ("127.0.0.2 of green.example", False)


def test_a_manager_that_is_gone_changes_nothing_and_is_asked_again(daemon: Daemon) -> None:
    lease = own(daemon)
    daemon.renew(lease)
    assert lease.link
    lease.expelled = "why"
    lease.link._tls.shutdown(socket.SHUT_RDWR)
    daemon.renew(lease)
    assert (lease.link, lease.expelled) == (None, "why")
    daemon.managed.holders.clear()
    daemon.renew(lease)
    assert lease.link and lease.expelled == ""


LIMIT_S = 10.0


def taken(now: float, lease: Lease | None = None, *peers: str) -> Lease:
    lease = lease or Lease("blue.example", [])
    answer: dict[str, Any] = {"secret": "ab", "holders": {p: [p] for p in (HERE.address, *peers)}, "expelled": ""}
    lease.take(now, answer, HERE.address, LIMIT_S)
    return lease


def test_a_peer_is_silent_when_nothing_is_heard_of_it_for_as_long_as_that() -> None:
    lease = taken(0, None, PEER)
    taken(4, taken(2, lease, PEER), PEER)
    assert list(lease.peers) == [PEER]
    assert (lease.silent(10, LIMIT_S), lease.silent(10.1, LIMIT_S)) == ([], [PEER])
    assert lease.hear(8, [PEER, HERE.address, lease.code(PEER, HERE.address)], HERE.address)
    assert (lease.silent(18, LIMIT_S), lease.silent(18.1, LIMIT_S)) == ([], [PEER])


def test_who_is_new_is_waited_for_and_after_a_pause_all_are() -> None:
    lease = taken(4, taken(0, None, PEER), PEER, "127.0.0.3")
    assert lease.heard == {PEER: 0, "127.0.0.3": 4}
    assert taken(10, lease, PEER).heard == {PEER: 10}


@pytest.mark.parametrize(
    "beat",
    ["", "127.0.0.2", "127.0.0.2 127.0.0.1 00", "127.0.0.2 127.0.0.3 {code}", "127.0.0.3 127.0.0.1 {code}", "\xff é x"],
)
def test_a_beat_that_is_no_holders_counts_for_nothing(beat: str) -> None:
    lease = taken(0, None, PEER, "127.0.0.3")
    text = beat.format(code=lease.code(PEER, HERE.address))
    assert not lease.hear(5, text.split(), HERE.address)
    assert set(lease.heard.values()) == {0}
    assert not Lease("blue.example", []).hear(5, [PEER, HERE.address, "00"], HERE.address)


def test_beats_go_to_every_holder_and_are_heard(daemon: Daemon, config: Config, var: Path) -> None:
    config.settings[leases.SUBNETS] = "127.0.0.0/8"
    save(config, var)
    daemon.read()
    lease = own(daemon)
    lease.secret, lease.peers = "ab", {PEER: [HERE.address], "127.0.0.3": ["10.255.255.255"]}
    lease.heard = {PEER: 0.0}
    daemon.beat()
    beat = daemon.beats.recv(1000)  # to PEER, by the subnet: at this node itself
    assert beat.decode().split()[:2] == [HERE.address, PEER]
    daemon.hear(f"{PEER} {HERE.address} {lease.code(PEER, HERE.address)}".encode())
    assert lease.heard[PEER] > 0


class Files:
    """A driver's mounts, as a node has them; the first mount fails."""

    def __init__(self) -> None:
        self.there, self.fails = {"/nowhere/work", "/nowhere/home"}, 1

    def mounted(self, at: str) -> bool:
        return at in self.there

    def unmount(self, at: str, *, force: bool = False) -> None:
        assert force
        self.there.remove(at)

    def mount_here(self, _config: Config, filesystem: Any) -> str:
        if self.fails:
            self.fails -= 1
            raise Refused("not yet")
        self.there.add(filesystem.mount_point)
        return f"{filesystem.name} is mounted"


def test_who_is_expelled_by_one_cluster_lets_go_what_that_owns_and_mounts_it_again(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = Files()
    monkeypatch.setattr(leased, "of", lambda _: files)
    monkeypatch.setattr(mounts, "mount_here", files.mount_here)
    monkeypatch.setattr(Daemon, "every_s", 0.01)
    green = next(lease for lease in daemon.leases if lease.cluster == "green.example")
    said = iter(["why", "why", "", ""])
    monkeypatch.setattr(daemon, "_ask", lambda *_: {"secret": "ab", "holders": {PEER: [PEER]}, "expelled": next(said)})

    def settled() -> set[str]:
        for thread in threading.enumerate():
            if thread.name.endswith(("(let_go)", "(come_back)")):
                thread.join(5)
        return files.there

    daemon.renew(green)
    assert settled() == {"/nowhere/work"}
    with socket.socket(socket.AF_UNIX) as asker:
        asker.connect(leases.SOCKET)
        daemon.tell(daemon.asked.accept()[0])
        assert json.loads(asker.recv(1000)) == {"green.example": "why"}
    daemon.renew(green)
    assert settled() == {"/nowhere/work"}
    daemon.renew(green)
    assert settled() == {"/nowhere/work", "/nowhere/home"}
    daemon.renew(green)
    assert settled() == {"/nowhere/work", "/nowhere/home"}
    log = (tmp_path / "mc.log.latest").read_text()
    assert "127.0.0.1: expelled by green.example: why" in log and "not yet" in log and "home is mounted" in log


def test_the_daemon_reads_what_has_changed_and_ends_where_it_is_wanted_no_more(
    daemon: Daemon, config: Config, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = own(daemon)
    assert [one.cluster for one in daemon.leases] == ["blue.example", "green.example"]
    config.remote_clusters, config.remote_filesystems = [], []
    config.settings[leases.FAILURE_DETECTION] = "20"
    save(config, var)
    daemon.read()
    assert daemon.leases == [lease] and (daemon.limit_s, daemon.every_s) == (20, 4)
    del config.settings[leases.FAILURE_DETECTION]
    save(config, var)
    with pytest.raises(Refused, match=r"cluster blue\.example has no failureDetectionTime; mcchconfig gives it one"):
        daemon.read()
    assert daemon.limit_s == 20, "it goes on with what it has until it ends"

    class Ended(BaseException):
        pass

    ends: list[int] = []
    monkeypatch.setattr(leased.time, "sleep", lambda _: ends.append(-1))

    def end(rc: int) -> None:
        ends.append(rc)
        raise Ended

    monkeypatch.setattr(leased.os, "_exit", end)
    with pytest.raises(Ended):
        daemon._renew_for_ever()
    assert ends == [-1, 0], "not at the first sight of it"


def test_a_node_says_that_it_is_expelled_where_its_cluster_has_leases_at_all(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mc import states

    monkeypatch.setattr(drivers.of(daemon.config), "answers", lambda *_: True)
    monkeypatch.setattr(leases, "expelled", lambda: {"green.example": "why"})
    assert states.state_here(daemon.config) == "expelled"
    monkeypatch.setattr(leases, "expelled", lambda: {})
    assert states.state_here(daemon.config) == "active"
    monkeypatch.setattr(leases, "expelled", lambda: pytest.fail("nobody is to be asked"))
    del daemon.config.settings[leases.FAILURE_DETECTION]
    assert states.state_here(daemon.config) == "active"
