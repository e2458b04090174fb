"""The jail of a lab's kernel: a program in it tries to get out, and so does the same program outside of it."""

import errno
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.hosts import jail, syscalls
from causeway.hosts.jail import Jail

pytestmark = pytest.mark.skipif(jail.version() < 6, reason="this machine's Linux has no Landlock of version 6")

#: Tries each thing alone, and says how it went: "done", or the name of the error.
PROGRAM = """
import ctypes, errno, json, os, socket, sys
mine, others, port, victim = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
libc = ctypes.CDLL(None, use_errno=True)

def connect(family, address):
    socket.socket(family).connect(address)

def system_call(number, *words):
    got = libc.syscall(number, *words)
    if got < 0:
        raise OSError(ctypes.get_errno(), "")
    return got

tried = {
    "read": lambda: open(others + "/secret").read(),
    "read by ..": lambda: open(mine + "/../others/secret").read(),
    "read by a link": lambda: open(mine + "/link/secret").read(),
    "list": lambda: os.listdir(others),
    "write": lambda: open(others + "/secret", "a").close(),
    "truncate": lambda: os.truncate(others + "/secret", 0),
    "make": lambda: open(others + "/new", "w").close(),
    "make a folder": lambda: os.mkdir(others + "/folder"),
    "remove": lambda: os.unlink(others + "/old"),
    "move out": lambda: os.rename(mine + "/moved", others + "/moved"),
    "change a mode": lambda: os.chmod(others + "/secret", 0o666),
    "change its own mode": lambda: os.chmod(mine + "/file", 0o666),
    "change an owner": lambda: os.chown(others + "/secret", os.getuid(), -1),
    "change times": lambda: os.utime(others + "/secret"),
    "change an attribute": lambda: os.setxattr(others + "/secret", "user.mine", b"x"),
    "make a link": lambda: os.symlink(others, mine + "/a link"),
    "make a FIFO": lambda: os.mkfifo(mine + "/a FIFO"),
    "a socket with a name": lambda: connect(socket.AF_UNIX, others + "/socket"),
    "a port": lambda: connect(socket.AF_INET, ("127.0.0.1", port)),
    "a signal": lambda: os.kill(victim, 0),
    "read memory": lambda: open(f"/proc/{victim}/environ").read(),
    "limits of others": lambda: system_call(302, victim, 7, None, ctypes.create_string_buffer(16)),
    "a name space": lambda: system_call(56, 0x10000000 | 17, 0, 0, 0, 0) or os._exit(0),
    "datagrams": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
    "its own file": lambda: open(mine + "/file", "w").write("x"),
    "a file there": lambda: open(mine + "/another", "w").close() or os.unlink(mine + "/another"),
    "a folder there": lambda: os.mkdir(mine + "/folder") or os.rmdir(mine + "/folder"),
    "moved there": lambda: os.rename(mine + "/file", mine + "/other") or os.rename(mine + "/other", mine + "/file"),
    "times of an open file": lambda: os.utime(os.open(mine + "/file", os.O_RDONLY)),
    "a pair of streams": lambda: socket.socketpair(),
    "a child": lambda: os.fork() or os._exit(0),
    "a signal to itself": lambda: os.kill(os.getpid(), 0),
}
found = {}
for name, what in tried.items():
    try:
        what()
        found[name] = "done"
    except OSError as error:
        found[name] = errno.errorcode[error.errno]
print(json.dumps(found))
"""

ALLOWED = {
    "its own file", "a file there", "a folder there", "moved there", "times of an open file", "a pair of streams",
    "a child", "a signal to itself",
}  # fmt: skip
#: What the filter leaves out, as <asm/unistd_64.h> numbers it.
LEFT_OUT = {
    "shmget": 29, "socket": 41, "connect": 42, "bind": 49, "msgget": 68, "chmod": 90, "fchmod": 91, "chown": 92,
    "lchown": 94, "pivot_root": 155, "chroot": 161, "mount": 165, "reboot": 169, "init_module": 175, "setxattr": 188,
    "utimes": 235, "mq_open": 240, "add_key": 248, "keyctl": 250, "fchownat": 260, "fchmodat": 268, "unshare": 272,
    "perf_event_open": 298, "setns": 308, "process_vm_writev": 311, "bpf": 321, "userfaultfd": 323,
    "io_uring_setup": 425, "pidfd_open": 434, "clone3": 435, "fchmodat2": 452,
}  # fmt: skip


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder that is in reach, and one that is not."""
    mine, others = tmp_path / "mine", tmp_path / "others"
    mine.mkdir()
    others.mkdir()
    for file in (mine / "file", mine / "moved", others / "secret", others / "old"):
        file.write_text("before\n")
    (mine / "link").symlink_to(others)
    return mine, others


def in_jail(mine: Path) -> Jail:
    """A jail in which Python runs."""
    return Jail(look=jail.own_programs(), change=[mine])


def tried(others: Path, kept_in: Jail | None) -> dict[str, str]:
    """How each thing went."""
    name = str(others / "socket")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        os.chdir(others)  # a socket's path is short
        local.bind("socket")
        local.listen()
        assert Path(name).exists()
        words = [sys.executable, "-c", PROGRAM, "../mine", str(others), str(server.getsockname()[1]), str(os.getpid())]
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, preexec_fn=kept_in.enter if kept_in else None
        )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_in_the_jail_nothing_but_what_is_granted_is_reached(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, others = folders
    monkeypatch.chdir(others)
    before = {path: path.stat().st_mode for path in others.iterdir()}
    found = tried(others, in_jail(mine))
    assert {name for name, how in found.items() if how == "done"} == ALLOWED
    assert {how for how in found.values() if how != "done"} <= {"EACCES", "EPERM", "ENOSYS", "EXDEV"}, found
    assert (others / "secret").read_text() == "before\n"
    assert {path: path.stat().st_mode for path in others.iterdir() if path.name != "socket"} == before
    assert sorted(path.name for path in mine.iterdir()) == ["file", "link", "moved"]


def test_outside_of_it_the_same_program_gets_out(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _, others = folders
    monkeypatch.chdir(others)
    found = tried(others, None)
    bound_by_more = {"a name space", "change an attribute"}  # the machine's own settings
    assert {name for name, how in found.items() if how != "done"} <= bound_by_more


def test_what_is_left_out_of_the_system_calls_is_as_if_there_were_none(folders: tuple[Path, Path]) -> None:
    code = (
        "import ctypes, json, sys; libc = ctypes.CDLL(None, use_errno=True)\n"
        "print(json.dumps([[libc.syscall(n, 0, 0, 0, 0, 0, 0), ctypes.get_errno()] for n in json.loads(sys.argv[1])]))"
    )
    words = [sys.executable, "-c", code, json.dumps(list(LEFT_OUT.values()))]
    done = subprocess.run(words, capture_output=True, text=True, check=True, preexec_fn=in_jail(folders[0]).enter)
    found = dict(zip(LEFT_OUT, json.loads(done.stdout), strict=True))
    assert {name for name, how in found.items() if how != [-1, errno.ENOSYS]} == set()


def test_privileges_are_gone_and_stay_gone() -> None:
    code = "import subprocess; print(subprocess.run(['/bin/cat', '/proc/self/status'], stdout=-1, text=True).stdout)"
    kept = Jail(look=[Path("/")])
    status = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, preexec_fn=kept.enter
    ).stdout
    found = dict(re.findall(r"^(\w+):\s*(\S+)", status, re.MULTILINE))
    assert (found["NoNewPrivs"], found["Seccomp"]) == ("1", "2")
    dac_override = 2 if os.geteuid() == 0 else 0
    assert {int(found[kind], 16) for kind in ("CapPrm", "CapEff")} == {dac_override}
    if os.geteuid() == 0:
        assert int(found["CapBnd"], 16) == dac_override


def test_what_is_not_there_is_told_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such folder here"):
        Jail(look=[tmp_path / "no such folder here"])


@pytest.mark.parametrize(
    ("version", "said"),
    {0: "no Landlock here (Linux 5.13", 3: "Landlock 3 here, not 6 (Linux 6.12)", 6: "", 7: ""}.items(),
)
def test_what_an_older_machine_lacks_is_said_in_one_line(
    version: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jail, "version", lambda: version)
    lacks = jail.lacks()
    assert lacks.startswith(said) and bool(lacks) == bool(said) and "\n" not in lacks


def test_where_there_is_no_landlock_the_rest_holds_all_the_same(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jail, "version", lambda: 0)
    mine, others = folders
    monkeypatch.chdir(others)
    found = tried(others, in_jail(mine))
    left = {"change a mode", "change an owner", "change times", "a socket with a name", "a port", "a name space"}
    assert {found[name] for name in left} == {"ENOSYS"}
    assert found["read"] == "done"


def test_the_filter_knows_each_system_call_once() -> None:
    numbers = list(syscalls._ALLOWED.values())
    assert len(numbers) == len(set(numbers))
    assert not set(numbers) & set(LEFT_OUT.values())
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if header.exists():
        official = dict(re.findall(r"#define __NR_(\w+) (\d+)", header.read_text()))
        assert {name: int(official[name]) for name in syscalls._ALLOWED} == syscalls._ALLOWED
