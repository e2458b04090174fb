"""A grant is enforced by the servers, or nothing of it stays; one that is taken away is gone there first."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mc import auth, native
from mc import config as configuration
from mc.config import Config, Filesystem, Grant, change, load, save
from mc.drivers import gluster
from mc.native import Refused
from tests.unit.mc_node import Does

GREEN = Grant("green.example", "work", "ro", "no")
WORK = Filesystem("work", "/work", "a,b,c,d", "/disks/work/brick")
DENY = "mcauth deny green.example -f work"


class Servers:
    """Servers of work: which clusters they let in, each with its access, and when they fail."""

    def __init__(self) -> None:
        self.let_in: dict[str, str] = {"green.example": "ro"}
        self.told: list[bool] = []
        self.fails: BaseException | None = None
        #: Whether they have taken the change when they fail.
        self.half = False
        #: Those that do not serve; of these, those that no ssh reaches; those that were made sure of.
        self.away: list[str] = []
        self.silent: set[str] = set()
        self.ended: list[str] = []

    def absent(self, _filesystem: Filesystem) -> list[str]:
        return self.away

    def end(self, _filesystem: Filesystem, server: str) -> bool:
        self.ended.append(server)
        return server not in self.silent

    def grant(self, config: Config, filesystem: Filesystem, *, restart: bool) -> None:
        self.told.append(restart)
        fails, self.fails = self.fails, None
        if fails is None or self.half:
            rows = [g for g in config.grants if g.filesystem == filesystem.name and g.counts]
            self.let_in = {g.cluster: g.access for g in rows}
        if fails is not None:
            raise fails


@pytest.fixture
def servers(cluster: Config, var: Path, monkeypatch: pytest.MonkeyPatch) -> Servers:
    """Those of cluster blue, which knows green and grants it work, to be read."""
    cluster.clusters, cluster.filesystems, cluster.grants = ["green.example"], [WORK], [GREEN]
    save(cluster, var)
    made = Servers()
    for name in ("absent", "end", "grant"):
        monkeypatch.setattr(gluster, name, getattr(made, name))
    return made


def granted(row: Grant, filesystem: Filesystem = WORK) -> None:
    """Have this be the one grant, of this filesystem."""
    with change() as config:
        config.filesystems, config.grants = [filesystem], [row]


def states() -> dict[str, str]:
    return {g.cluster: g.state for g in load().grants}


def test_a_grant_that_a_server_does_not_take_is_taken_back_from_the_others(does: Does, servers: Servers) -> None:
    servers.fails, servers.half = Refused("the brick of work on c does not start anew: no space left on device"), True
    said = does("mcauth grant green.example -f work -a rw -r no")
    assert (said.rc, "no space left on device" in said.err) == (1, True)
    assert servers.told == [True, True], "the bricks that have started anew do so again"
    assert servers.let_in == {"green.example": "ro"}
    assert load().grants == [GREEN]


def test_a_first_grant_that_a_server_does_not_take_is_taken_away_again(does: Does, servers: Servers) -> None:
    with change() as config:
        config.clusters.append("red.example")
    servers.fails, servers.half = Refused("no"), True
    assert does("mcauth grant red.example -f work").rc == 1
    assert servers.let_in == {"green.example": "ro"}
    assert load().grants == [GREEN]


def test_who_is_denied_is_out_at_the_servers_before_that_is_written_down(
    does: Does, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, str]] = []

    def watched(config: Config, filesystem: Filesystem, *, restart: bool) -> None:
        seen.append(states())
        servers.grant(config, filesystem, restart=restart)

    monkeypatch.setattr(gluster, "grant", watched)
    assert does(DENY) == (0, "", "")
    assert seen == [{"green.example": "leaving"}]
    assert (servers.let_in, load().grants) == ({}, [])


def test_all_nodes_hear_of_a_grant_once_and_before_servers_start_anew_too(
    does: Does, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[dict[str, str], list[bool]]] = []
    monkeypatch.setattr(configuration, "replicate", lambda _: heard.append((states(), [*servers.told])))
    assert does("mcauth grant green.example -f work -a rw -r no").rc == 0
    assert heard == [({"green.example": "coming"}, []), ({"green.example": "held"}, [True])], (
        "ro is rw: they start anew"
    )
    heard.clear()
    assert does(DENY).rc == 0
    assert heard == [({}, [True, False])]


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("mishap", [KeyboardInterrupt(), Refused("c does not answer")], ids=["Ctrl-C", "a server"])
@pytest.mark.parametrize("command", [DENY, "mcauth delete green.example"])
def test_a_denial_that_is_broken_off_is_shown_and_ends_when_it_is_repeated(
    command: str, mishap: BaseException, half: bool, does: Does, servers: Servers
) -> None:
    servers.fails, servers.half = mishap, half
    assert does(command).rc == (130 if isinstance(mishap, KeyboardInterrupt) else 1)
    assert states() == {"green.example": "leaving"}, "never shown as denied while servers let it in"
    assert "leaving, for that was broken off: mcauth deny again" in does("mcauth show green.example").out
    assert does(command).rc == 0
    assert (servers.let_in, load().grants) == ({}, [])
    assert servers.told == [True, True], "nobody knows which bricks have started anew"


def test_what_was_broken_off_ends_with_the_next_change_on_the_filesystem(does: Does, servers: Servers) -> None:
    with change() as config:
        config.clusters.append("red.example")
    servers.fails = KeyboardInterrupt()
    assert does(DENY).rc == 130
    assert does("mcauth grant red.example -f work").rc == 0
    assert (servers.let_in, states()) == ({"red.example": "rw"}, {"red.example": "held"})


def test_denying_and_deleting_twice_is_no_mistake_and_tells_the_servers_again(does: Does, servers: Servers) -> None:
    assert does(DENY).rc == 0
    servers.let_in = {"green.example": "rw"}  # whatever the reason
    assert does(DENY) == (0, "green.example has no access to work; its servers are told so once more\n", "")
    assert servers.let_in == {}
    assert does("mcauth delete green.example") == (0, "", "")
    assert does("mcauth delete green.example") == (0, "there is no cluster green.example any more\n", "")


@pytest.mark.parametrize(
    ("command", "away"), [("mcauth grant green.example -f work -a rw", ["c"]), (DENY, ["a", "b", "c", "d"])]
)
def test_a_grant_takes_all_servers_and_a_denial_one(
    command: str, away: list[str], does: Does, servers: Servers
) -> None:
    servers.away = away
    assert f"{' '.join(away)}: not all servers of work serve it" in does(command).err
    assert (states(), servers.told, servers.ended) == ({"green.example": "held"}, [], [])


@pytest.mark.parametrize("silent", [set(), {"c"}], ids=["its daemon is down", "it is off"])
@pytest.mark.parametrize("command", [DENY, "mcauth delete green.example"])
def test_a_denial_holds_while_a_server_is_down(command: str, silent: set[str], does: Does, servers: Servers) -> None:
    granted(Grant("green.example", "work", "rw", "no"))
    servers.away, servers.silent = ["c"], silent
    said = does(command)
    assert (said.rc, said.out) == (0, "c: does not serve work, and is told when it starts; mcstartup\n")
    assert (servers.let_in, states(), servers.ended, servers.told) == ({}, {}, ["c"], [False])


def test_whole_files_on_a_server_that_cannot_be_reached_may_be_read_and_that_is_said(
    does: Does, servers: Servers
) -> None:
    whole = WORK._replace(layout="whole", parity=0)
    granted(Grant("green.example", "work", "rw", "no"), whole)
    servers.away = ["c"]
    assert does(DENY).rc == 0
    granted(Grant("green.example", "work", "rw", "no"), whole)
    servers.silent = {"c"}
    said = does(DENY)
    assert (said.rc, states()) == (1, {"green.example": "leaving"})
    assert "c cannot be reached, and may serve work all the same; switch it off" in said.err


def test_who_may_only_read_goes_on_leaving_until_all_servers_can_start_anew(does: Does, servers: Servers) -> None:
    servers.away = ["c"]
    said = does(DENY)
    assert (said.rc, states(), servers.told) == (1, {"green.example": "leaving"}, [False])
    assert "not all servers of work serve it, and some must start anew; mcstartup -a" in said.err
    servers.away = []
    assert does(DENY).rc == 0
    assert (servers.let_in, states(), servers.told) == ({}, {}, [False, True])


def test_two_administrators_end_in_the_later_ones_state(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one denies green, the other grants red: the later one's list is made when the earlier one's is enforced."""
    with change() as config:
        config.clusters.append("red.example")
    wanted = {"deny": Grant("red.example", "work", "rw", "no")}
    at_work, go_on = threading.Event(), threading.Event()

    def slow(config: Config, filesystem: Filesystem, *, restart: bool) -> None:
        at_work.set()
        assert go_on.wait(10)
        servers.grant(config, filesystem, restart=restart)

    monkeypatch.setattr(gluster, "grant", slow)

    def deny() -> None:
        with configuration.alone():
            auth._change_grant(WORK, "green.example", None)

    first = threading.Thread(target=deny)
    first.start()
    assert at_work.wait(10)
    # the second one is another process: it has a lock of its own to get
    with configuration.LOCK.open("w") as lock, pytest.raises(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    go_on.set()
    first.join(10)
    with configuration.alone():
        auth._change_grant(WORK, "red.example", wanted["deny"])
    assert servers.let_in == {"red.example": "rw"}
    assert states() == {"red.example": "held"}


_CHANGES = """
import sys
from pathlib import Path
from mc import config
config.VAR, config.LOCK = Path(sys.argv[1]), Path(sys.argv[2])
for _ in range(20):
    with config.change() as now:
        now.settings["counted"] = str(int(now.settings.get("counted", "0")) + 1)
"""


@pytest.mark.usefixtures("cluster")
def test_of_many_changes_at_once_none_is_lost(var: Path) -> None:
    argv = [sys.executable, "-c", _CHANGES, str(var), str(configuration.LOCK)]
    env = os.environ | {"PYTHONPATH": str(Path(native.__file__).parents[1])}
    begun = [subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL) for _ in range(3)]
    assert [process.wait(60) for process in begun] == [0, 0, 0]
    assert (load().settings["counted"], load().generation) == ("60", 60)


_KILLED = """
import os, signal, sys
from pathlib import Path
from mc import config, native
config.VAR, config.LOCK = Path(sys.argv[1]), Path(sys.argv[2])
left = int(sys.argv[3])
def watch(event, args):
    global left
    if event.split(".")[0] in ("open", "os", "shutil") and any(str(sys.argv[1]) in str(a) for a in args):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
with_it = config.load()
sys.addaudithook(watch)
with config.change() as now:
    now.settings["pingTimeout"] = "5"
    native.write(now.ssl / "id_rsa1", "5")
"""


@pytest.fixture
def kill_at(var: Path) -> Callable[[int], bool]:
    """Change the configuration, killed before its n-th step in the folder; whether it was."""
    env = os.environ | {"PYTHONPATH": str(Path(native.__file__).parents[1])}

    def change_until(step: int) -> bool:
        argv = [sys.executable, "-c", _KILLED, str(var), str(configuration.LOCK), str(step)]
        done = subprocess.run(argv, env=env, capture_output=True, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return done.returncode != 0

    return change_until


@pytest.mark.usefixtures("cluster")
def test_a_change_that_is_killed_at_any_step_is_made_whole_or_not_at_all(
    var: Path, kill_at: Callable[[int], bool]
) -> None:
    with change() as config:
        config.settings["pingTimeout"] = "1"
        (config.ssl / "id_rsa1").write_text("1")
    seen = set()
    for step in steps():
        killed = kill_at(step)
        seen.add((load().settings["pingTimeout"], (var / "ssl" / "id_rsa1").read_text()))
        if not killed:
            break
        with change() as config:  # the next one finds nothing in its way
            config.settings["pingTimeout"] = "1"
            (config.ssl / "id_rsa1").write_text("1")
    assert seen == {("1", "1"), ("5", "5")}
    assert sorted(path.name for path in var.iterdir() if path.name.startswith("st")) in (["state.a"], ["state.b"])


def steps() -> Iterator[int]:
    """Not every one, for each is a process that starts; there are some 250."""
    yield from range(1, 1000, 6)
