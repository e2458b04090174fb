"""Changes: data until they are made, undone when half made, and each undo to what was there."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from causeway.errors import BadInput, LabBroken
from causeway.folders import REPO
from causeway.lab.changes.bonds import sends_by
from causeway.lab.changes.change import Change, Step, do_all, together
from causeway.lab.changes.daemons import daemon_too, daemon_with, how_started, start, start_late, stop
from causeway.lab.changes.files import file_changed, moved_away, renamed, replaced
from causeway.lab.changes.settings import kernel_setting
from causeway.model.topology import ChannelEnd
from causeway.process import run
from causeway.wait import until
from tests.unit.here import SITE, Here, here


def touch(file: Path) -> Step:
    return Step("SN", ("touch", str(file)))


def rm(file: Path) -> Step:
    return Step("SN", ("rm", str(file)))


FALSE = Step("SN", ("false",))


def test_a_change_that_is_not_made_changes_nothing(tmp_path: Path) -> None:
    change = Change("there is a file", (touch(tmp_path / "a"),), (rm(tmp_path / "a"),))
    assert os.listdir(tmp_path) == []
    undo = change.make(here(tmp_path))
    assert os.listdir(tmp_path) == ["a"]
    undo()
    assert os.listdir(tmp_path) == []


def test_half_made_it_is_undone_at_once(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    with pytest.raises(LabBroken, match="`false` ended with 1"):
        Change("half", (touch(a), FALSE, touch(b)), (rm(a),)).make(here(tmp_path))
    assert os.listdir(tmp_path) == []


def test_where_half_of_it_cannot_be_undone_both_errors_are_told(tmp_path: Path) -> None:
    with pytest.raises(LabBroken, match="`false` ended") as caught:
        Change("half", (touch(tmp_path / "a"), FALSE), (rm(tmp_path / "b"),)).make(here(tmp_path))
    (note,) = caught.value.__notes__
    assert note.startswith("and it could not be undone: `rm ")


def test_an_undo_takes_all_its_steps_whatever_one_of_them_does(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    undo = Change("two", (touch(a), touch(b)), (FALSE, rm(a), rm(tmp_path / "none"), rm(b))).make(here(tmp_path))
    with pytest.raises(LabBroken, match="`false` ended") as caught:
        undo()
    assert os.listdir(tmp_path) == []
    assert len(caught.value.__notes__) == 1 and "none" in caught.value.__notes__[0]


def test_several_together_are_undone_the_last_one_first() -> None:
    one, two = (Change(name, (Step("SN", (name,)),), (Step("SN", (f"no {name}",)),)) for name in ("one", "two"))
    both = together("both", [one, two])
    assert [step.argv for step in both.there] == [("one",), ("two",)]
    assert [step.argv for step in both.back] == [("no two",), ("no one",)]


def test_of_many_errors_the_first_is_raised_and_the_others_are_noted() -> None:
    did: list[int] = []

    def fail(number: int) -> None:
        did.append(number)
        raise LabBroken(f"error {number}")

    with pytest.raises(LabBroken, match="error 1") as caught:
        do_all([lambda: fail(1), lambda: did.append(2), lambda: fail(3)])
    assert did == [1, 2, 3] and caught.value.__notes__ == ["error 3"]


def test_a_file_has_another_text_and_comes_back_with_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "S16sshd"
    file.write_text("old\n")
    file.chmod(0o755)
    undo = file_changed(here(tmp_path), "SN", str(file), "new\n").make(here(tmp_path))
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new\n", 0o755)
    for _ in range(2):
        undo()
        assert (file.read_text(), file.stat().st_mode & 0o777) == ("old\n", 0o755)


def test_a_file_that_was_not_there_is_there_and_goes_again(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "er" / "new"
    undo = file_changed(here(tmp_path), "SN", str(file), "text").make(here(tmp_path))
    assert file.read_text() == "text"
    for _ in range(2):
        undo()
        assert not file.exists()


def test_a_setting_in_a_file_is_another_one_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "sysconfig"
    file.write_text("CHECK=touchfile\n# CHECK=touchfile\n")
    undo = replaced(here(tmp_path), "SN", str(file), "^CHECK=.*$", "CHECK=mcgetstate").make(here(tmp_path))
    assert file.read_text() == "CHECK=mcgetstate\n# CHECK=touchfile\n"
    undo()
    assert file.read_text() == "CHECK=touchfile\n# CHECK=touchfile\n"
    with pytest.raises(LabBroken, match="has nothing that '\\^COLOUR=' would change"):
        replaced(here(tmp_path), "SN", str(file), "^COLOUR=", "x")


def test_a_file_has_another_name_until_the_undo_however_often_that_is_called(tmp_path: Path) -> None:
    early, late = tmp_path / "S10config", tmp_path / "S17config"
    early.write_text("text")
    change = renamed(here(tmp_path), "SN", str(early), str(late))
    assert os.listdir(tmp_path) == ["S10config"]
    change.undo(here(tmp_path))()  # of what was never made
    undo = change.make(here(tmp_path))
    assert os.listdir(tmp_path) == ["S17config"]
    for _ in range(2):
        undo()
        assert os.listdir(tmp_path) == ["S10config"]
    undo = moved_away(here(tmp_path), "SN", str(early)).make(here(tmp_path))
    assert os.listdir(tmp_path) == ["S10config.away"]
    undo()
    assert early.read_text() == "text"


def test_a_rename_that_would_lose_a_file_or_has_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    with pytest.raises(LabBroken, match=r"SN has a .*/b already"):
        renamed(here(tmp_path), "SN", str(tmp_path / "a"), str(tmp_path / "b"))
    with pytest.raises(LabBroken, match=r"SN has no .*/c to rename"):
        moved_away(here(tmp_path), "SN", str(tmp_path / "c"))


def test_a_kernel_setting_goes_back_to_what_it_was(tmp_path: Path) -> None:
    if not Path("/usr/sbin/sysctl").exists():
        pytest.skip("there is no sysctl here")
    now = Path("/proc/sys/kernel/ostype").read_text().strip()
    change = kernel_setting(here(tmp_path), "SN", "kernel.ostype", "Minix")
    assert change.title == "kernel.ostype is Minix on SN"
    assert change.there == (Step("SN", ("sysctl", "-qw", "kernel.ostype=Minix")),)
    assert change.back == (Step("SN", ("sysctl", "-qw", f"kernel.ostype={now}")),)


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """How a daemon is started whose name nobody else has, with a node's programs at hand; it is ended afterwards."""
    monkeypatch.setenv("PATH", f"{REPO}/nodes/base/bin", prepend=":")
    path = tmp_path / f"cwd{os.getpid()}"
    shutil.copy("/bin/sleep", path)
    program = tmp_path / "start"
    program.write_text(
        f"#!/bin/sh\nsetsid {path} $1 >/dev/null 2>&1 &\nuntil pgrep -x {path.name}; do sleep 0.01; done\n"
    )
    program.chmod(0o755)
    yield [str(program), "1000"]
    Step("SN", ("stop-daemon", path.name)).take(here(tmp_path))


def test_a_daemon_that_runs_too_is_gone_after_the_undo(tmp_path: Path, daemon: list[str]) -> None:
    lab, name = here(tmp_path), f"cwd{os.getpid()}"  # nobody else's, however many tests run here
    with pytest.raises(BadInput, match=f"{name} does not run on SN"):
        how_started(lab, "SN", name)
    start("SN", name, daemon).take(lab)
    assert how_started(lab, "SN", name) == [str(tmp_path / name), "1000"]
    change = daemon_too("SN", str(tmp_path / name), "1000")
    assert change.title == f"SN runs {name}"
    for _ in range(2):
        change.undo(lab)()
        with pytest.raises(BadInput):
            how_started(lab, "SN", name)


def test_a_daemon_runs_with_more_options_until_the_undo(tmp_path: Path, daemon: list[str]) -> None:
    lab, name = here(tmp_path), f"cwd{os.getpid()}"
    start("SN", name, daemon).take(lab)
    change = daemon_with(lab, "SN", name, "2000")
    assert change.title == f"{name} of SN runs with 2000"
    path = str(tmp_path / name)
    assert change.there == (Step("SN", ("stop-daemon", name)), Step("SN", ("start-daemon", name, path, "1000", "2000")))
    assert change.back == (Step("SN", ("stop-daemon", name)), Step("SN", ("start-daemon", name, path, "1000")))


def test_a_daemon_that_runs_is_not_started_twice(tmp_path: Path, daemon: list[str]) -> None:
    lab, name = here(tmp_path), f"cwd{os.getpid()}"
    start("SN", name, daemon).take(lab)
    start("SN", name, [*daemon[:1], "2000"]).take(lab)
    assert how_started(lab, "SN", name) == [str(tmp_path / name), "1000"]


def test_a_daemon_that_is_late_comes_by_itself_unless_it_is_called_off(tmp_path: Path, daemon: list[str]) -> None:
    lab, name = here(tmp_path), f"cwd{os.getpid()}"

    def runs() -> bool:
        return run(["pgrep", "-x", name]).rc == 0

    start_late("SN", name, 0.3, daemon).take(lab)
    assert not runs()
    until("it has come", runs, enough=bool, deadline_s=10)
    stop("SN", name).take(lab)
    start_late("SN", name, 1000, daemon).take(lab)
    until("it is to come", lambda: run(["pgrep", "-f", f"late-{name}"]).stdout, enough=bool, deadline_s=10)
    start("SN", name, daemon).take(lab)
    assert runs()
    until("the late one is called off", lambda: run(["pgrep", "-f", f"late-{name}"]).stdout, deadline_s=10)


@pytest.mark.parametrize("state", ["there", "gone"])
def test_a_zone_is_read_again_and_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    """`host` and `pkill` are this test's: the name changes with named's signal, and is asked for three times more."""
    (tmp_path / "pkill").write_text(f'#!/bin/sh\n[ "$*" = "-HUP -x named" ] && echo 3 >{tmp_path}/left\n')
    (tmp_path / "host").write_text(
        f'#!/bin/sh\n[ "$*" = "-t a FEN.site.example. 127.0.0.1" ] || exit 9\nread -r left <{tmp_path}/left\n'
        f'echo $((left - 1)) >{tmp_path}/left\n[ "$left" -{"le" if state == "there" else "gt"} 0 ]\n'
    )
    for program in ("pkill", "host"):
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{REPO}/nodes/base/bin", prepend=":")
    Step("SN", ("reread-zone", "FEN.site.example.", state)).take(here(tmp_path))
    assert (tmp_path / "left").read_text() == "-1\n"


class Says(Here):
    """Whatever it is asked, it says what /sys or ovs-vsctl say of the policy in force."""

    def enter(self, node: str, argv: Sequence[str]) -> list[str]:  # noqa: ARG002
        return ["echo", "layer2 0" if argv[0] == "cat" else '"balance-tcp"']


def ends(node: str, peer: str) -> ChannelEnd:
    return next(one for _, one, other in SITE.channel_ends() if (one.node, other.node) == (node, peer))


def test_a_hosts_end_sends_by_another_policy_and_then_by_the_one_that_it_had(tmp_path: Path) -> None:
    end = ends("nsd01", "zam870")
    change = sends_by(Says(SITE, tmp_path), end, "layer2+3")
    assert change.title == "nsd01:bond0 sends by layer2+3"
    command = ("ip", "link", "set", "bond0", "type", "bond", "xmit_hash_policy")
    assert change.there == (Step("nsd01", (*command, "layer2+3")),)
    assert change.back == (Step("nsd01", (*command, "layer2")),)  # not layer3+4, which the site has


def test_a_switchs_end_is_set_as_open_vswitch_is(tmp_path: Path) -> None:
    end = ends("zam870", "nsd01")
    change = sends_by(Says(SITE, tmp_path), end, "active-backup")
    command = ("ovs-vsctl", "set", "port", end.name)
    assert change.there == (Step("zam870", (*command, "bond_mode=active-backup")),)
    assert change.back == (Step("zam870", (*command, "bond_mode=balance-tcp")),)
