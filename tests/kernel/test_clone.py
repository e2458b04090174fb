"""A guest that is cloned (kernel patch 0007): small, with one program that uses all that must go on in both."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from causeway.hosts import memory
from causeway.hosts.artefacts import KERNEL

HERE = Path(__file__).resolve().parent
EBUSY, ENOSPC, EPERM = 16, 28, 1
CLOCKS = {"virtual": ["time-travel=inf-cpu"], "paced": ["time-travel=inf-cpu", "time.paced=1"], "real": []}


@dataclass
class Guest:
    """A guest, or a clone of one; everything of it is in its folder."""

    folder: Path
    asked: int = 0
    lines: list[tuple[str, int]] = field(default_factory=list)  # serial lines: the slave's path, the master
    ear: socket.socket | None = None  # where it is asked while it rests: our end, of a pair for messages

    @property
    def share(self) -> Path:
        return self.folder / "share"

    @property
    def console(self) -> str:
        return (self.folder / "console").read_text(errors="replace")

    @property
    def pid(self) -> int:
        return int((self.folder / "uml/guest/pid").read_text())

    @property
    def alive(self) -> bool:
        try:
            return f"{self.pid} (linux) Z" not in Path(f"/proc/{self.pid}/stat").read_text()
        except FileNotFoundError:
            return False

    def send(self, *words: object) -> None:
        self.asked += 1
        part = self.share / "asked"
        part.write_text("".join(f"{word}\n" for word in words))
        part.rename(self.share / f"{self.asked}.do")

    def answer(self) -> tuple[int, str]:
        done = self.share / f"{self.asked}.done"
        until(done.exists, lambda: f"no answer to {self.asked}.do; the console: {self.console}")
        rc, _, words = done.read_text().partition("\n")
        return int(rc), words

    def ask(self, *words: object) -> tuple[int, str]:
        self.send(*words)
        return self.answer()

    def must(self, *words: object) -> str:
        rc, said = self.ask(*words)
        assert rc == 0, (words, rc, said, self.console)
        return said

    def pairs(self, other: "Guest") -> list[object]:
        """What a clone has in place of what we have."""
        lines = [path for mine, its in zip(self.lines, other.lines, strict=False) for path in (mine[0], its[0])]
        return [self.folder, other.folder, *lines]

    def clone(self, other: "Guest") -> tuple[str, str]:
        """Have a clone live in the other's folder; returns how far each of them says that it is."""
        other.share.mkdir(parents=True)
        here = self.must("clone", *self.pairs(other))
        other.asked = self.asked
        rc, there = other.answer()
        assert rc == 0, other.console
        return here, there

    def rest(self, fd: int) -> None:
        assert self.ear
        self.send("rest", f"@{fd}")
        assert self.ear.recv(1000) == b"resting"

    def one_more(self, other: "Guest") -> str:
        """While at rest: ask for a clone that lives in the other's folder and is at rest, too; returns the answer."""
        assert self.ear
        other.share.mkdir(parents=True, exist_ok=True)
        other.ear, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = "".join(f"{word}\n" for word in ("clone", *self.pairs(other)))
        socket.send_fds(self.ear, [words.encode()], [its.fileno()])
        its.close()
        other.asked = self.asked
        return self.ear.recv(1000).decode()

    def go_on(self) -> str:
        """Returns how far it says that it is."""
        assert self.ear
        self.ear.send(b"go")
        rc, said = self.answer()
        assert rc == 0, self.console
        return said

    def kill(self) -> None:
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
            reap(self.pid)

    def end(self) -> None:
        """In order."""
        pid = self.pid
        self.send("end")
        assert reap(pid) == 0
        assert not list((self.folder / "uml").iterdir())


def until(true: Callable[[], bool], otherwise: Callable[[], str], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, otherwise()
        time.sleep(0.01)


def reap(pid: int) -> int | None:
    """The exit code of a child of ours; a clone is one, too."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return None


def _linux(guest: Guest, archive: Path, clock: str) -> list[str]:
    lines = [f"ssl{number}=tty:{path}" for number, (path, _) in enumerate(guest.lines)]
    where = [f"initrd={archive}", f"share={guest.share}", f"uml_dir={guest.folder / 'uml'}", "umid=guest"]
    rest = ["mem=512M", "seccomp=on", "con0=null,fd:1", "con=null", "ssl=null", "loglevel=5", "panic=-1", "noreboot"]
    return [str(KERNEL.folder / "linux"), *where, *rest, *lines, *CLOCKS[clock]]


def _prepare(guest: Guest) -> None:
    guest.share.mkdir(parents=True)
    with (guest.share / "disk.img").open("w") as disk:
        disk.truncate(64 << 20)
    mke2fs = ["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", str(guest.share / "disk.img")]
    subprocess.run(mke2fs, check=True, env=os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"})


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The initial file system: the one program."""
    folder = tmp_path_factory.mktemp("initrd")
    command = [
        "gcc",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-O2",
        "-static",
        "-pthread",
        "-o",
        folder / "init",
        HERE / "guest.c",
    ]
    subprocess.run(command, check=True)
    made = folder.parent / "initrd.gz"
    subprocess.run(f"echo init | cpio --quiet -o -H newc -R 0:0 | gzip -1 >{made}", shell=True, check=True, cwd=folder)
    return made


@contextmanager
def _booted(
    guest: Guest, archive: Path, clock: str, before: tuple[str, ...] = (), pass_fds: tuple[int, ...] = ()
) -> Iterator[Guest]:
    _prepare(guest)
    env = os.environ | {"TMPDIR": str(memory.FOLDER), "HOME": str(guest.folder)}
    with (guest.folder / "console").open("w") as console:
        argv = [*before, *_linux(guest, archive, clock)]
        streams = {"stdin": subprocess.DEVNULL, "stdout": console, "stderr": console}
        kernel = subprocess.Popen(argv, env=env, preexec_fn=_die_with_parent, pass_fds=pass_fds, **streams)
    try:
        guest.must("check")
        yield guest
    finally:
        kernel.kill()
        kernel.wait()


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Guest]]:
    """Makes guests that are not there yet, and kills what became of them in the end."""
    made: list[Guest] = []

    def one(name: str, lines: int = 0) -> Guest:
        guest = Guest(tmp_path / name)
        for _ in range(lines):
            master, slave = os.openpty()
            guest.lines.append((os.ttyname(slave), master))
        made.append(guest)
        return guest

    yield one
    for guest in made:
        guest.kill()


@pytest.fixture
def guest(make: Callable[..., Guest], archive: Path, request: pytest.FixtureRequest) -> Iterator[Guest]:
    with _booted(make("one"), archive, getattr(request, "param", "virtual")) as one:
        yield one


@pytest.mark.parametrize(("guest", "clock"), [(c, c) for c in CLOCKS], indirect=["guest"])
def test_all_goes_on_in_both_from_one_instant_and_apart(guest: Guest, make: Callable[..., Guest], clock: str) -> None:
    two = make("two")
    guest.must("store", "/disk/word", "before")
    guest.must("store", "/share/word", "before")
    here, there = guest.clone(two)
    assert here == there or clock != "virtual"
    assert (guest.must("read", "/proc/uml_clone"), two.must("read", "/proc/uml_clone")) == ("0\n", "0.1\n")
    for one in (guest, two):
        one.must("check")
        assert one.must("read", "/disk/word") == "before"
    two.must("store", "/disk/word", "two")
    two.must("store", "/tmp/word", "two")
    two.must("store", "/both/word", "two")
    two.must("store", "/share/word", "two")
    assert guest.must("read", "/disk/word") == "before"
    assert "No such file" in guest.must("read", "/tmp/word") and "No such file" in guest.must("read", "/both/word")
    assert guest.must("read", "/share/word") == "before"
    assert [(g.share / "word").read_text() for g in (guest, two)] == ["before", "two"]
    two.end()
    guest.must("check")
    guest.end()


def test_two_clones_of_one(guest: Guest, make: Callable[..., Guest]) -> None:
    two, three = make("two"), make("three")
    guest.clone(two)
    guest.clone(three)
    assert three.must("read", "/proc/uml_clone") == "0.2\n"
    for one in (guest, two, three):
        one.must("check")


def test_a_clone_of_a_clone_outlives_both(guest: Guest, make: Callable[..., Guest]) -> None:
    two, three = make("two"), make("three")
    guest.clone(two)
    two.clone(three)
    assert three.must("read", "/proc/uml_clone") == "0.1.1\n"
    guest.kill()
    two.must("check")
    two.kill()
    three.must("check")
    three.end()


def test_twenty_clones_one_after_the_other(guest: Guest, make: Callable[..., Guest]) -> None:
    for number in range(20):
        one = make(f"clone-{number}")
        guest.clone(one)
        one.must("check")
        one.end()
    guest.must("check")
    assert guest.must("read", "/proc/uml_clone") == "0\n"


def test_nobody_writes_to_what_another_has_open(guest: Guest, make: Callable[..., Guest]) -> None:
    two = make("two")
    rc, _ = guest.ask("clone")
    assert rc == EBUSY
    assert f"nothing takes the place of {guest.share}/disk.img" in guest.console
    # a file that is there already might be somebody's
    two.share.mkdir(parents=True)
    (two.share / "disk.img").write_text("mine")
    assert guest.ask("clone", *guest.pairs(two))[0] != 0
    assert (two.share / "disk.img").read_text() == "mine"
    guest.must("check")
    assert guest.must("read", "/proc/uml_clone") == "0\n"
    assert Path(f"/proc/{guest.pid}").exists()


@pytest.mark.parametrize("words", [["relative", "/two"], ["/one"], ["/", "/two"], ["/one/", "/two"]])
def test_words_that_are_no_pairs_of_paths_are_refused(guest: Guest, words: list[str]) -> None:
    assert guest.ask("clone", *words)[0] == 22
    guest.must("check")


def test_a_container_may_not(guest: Guest) -> None:
    assert guest.ask("container")[0] == EPERM


def test_a_serial_line_of_its_own(make: Callable[..., Guest], archive: Path) -> None:
    one, two = make("one", lines=2), make("two", lines=2)
    with _booted(one, archive, "virtual"):
        one.must("terminal", "open")
        rc, _ = one.ask("clone", one.folder, two.folder)
        assert rc == EBUSY and f"nothing takes the place of {one.lines[0][0]}" in one.console
        for path in ("share", "console", "uml"):
            subprocess.run(["rm", "-rf", two.folder / path], check=True)
        one.clone(two)
        one.must("terminal", "from one")
        two.must("terminal", "from two")
        said = [os.read(g.lines[0][1], 1000).decode() for g in (one, two)]
        assert said == ["openfrom one", "from two"]
        for g, words in ((two, "to two\n"), (one, "to one\n")):
            os.write(g.lines[0][1], words.encode())
            assert g.must("heard") == words


def test_it_dies_with_the_launcher_that_may_be_killed(make: Callable[..., Guest], archive: Path) -> None:
    one, two = make("one"), make("two")
    _prepare(one)
    env = os.environ | {"TMPDIR": str(memory.FOLDER), "HOME": str(one.folder)}
    program = (
        "import ctypes, signal, subprocess, sys\n"
        "die = lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"
        "subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, preexec_fn=die)\n"
        "signal.pause()\n"
    )
    with (one.folder / "console").open("w") as console:
        argv = [sys.executable, "-c", program, *_linux(one, archive, "virtual")]
        launcher = subprocess.Popen(argv, env=env, stdout=console, stderr=console)
    try:
        one.must("check")
        one.clone(two)
        assert f"PPid:\t{launcher.pid}\n" in Path(f"/proc/{two.pid}/status").read_text()
    finally:
        launcher.kill()
        launcher.wait()
    until(lambda: not one.alive and not two.alive, lambda: "they outlive their launcher", 10)


@pytest.fixture
def resting(make: Callable[..., Guest], archive: Path, request: pytest.FixtureRequest) -> Iterator[Guest]:
    """A guest at rest."""
    one = make("one")
    one.ear, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with _booted(one, archive, getattr(request, "param", "virtual"), pass_fds=(its.fileno(),)):
        one.rest(its.fileno())
        yield one


def _name(guest: Guest) -> str:
    return Path(f"/proc/{guest.pid}/comm").read_text().strip()


def _cpu_ticks(guest: Guest) -> int:
    return sum(map(int, Path(f"/proc/{guest.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))


@pytest.mark.parametrize(("resting", "clock"), [(c, c) for c in CLOCKS], indirect=["resting"])
def test_clones_of_one_at_rest_go_on_from_its_one_instant(
    resting: Guest, make: Callable[..., Guest], clock: str
) -> None:
    two, three, four = make("two"), make("three"), make("four")
    assert resting.one_more(two) == f"made {two.pid}"
    before = _cpu_ticks(resting)
    time.sleep(1)  # the host's time, which is not theirs
    assert _cpu_ticks(resting) <= before + 10  # of 100; in real time its timer is heard, and waits
    there = two.go_on()
    two.must("check")
    assert resting.one_more(three) == f"made {three.pid}"
    # one of a clone that rests itself
    assert three.one_more(four) == f"made {four.pid}"
    assert [_name(g) for g in (resting, two, three, four)] == ["linux-at-rest", "linux", *2 * ["linux-at-rest"]]
    said = [g.go_on() for g in (three, four, resting)]
    if clock == "virtual":
        assert said == 3 * [there]
    numbers = [g.must("read", "/proc/uml_clone") for g in (resting, two, three, four)]
    assert numbers == ["0\n", "0.1\n", "0.2\n", "0.2.1\n"]
    for one in (resting, two, three, four):
        one.must("check")
        assert _name(one) == "linux"


@pytest.mark.parametrize("clock", ["virtual", "paced"])
def test_who_takes_the_place_of_another_has_its_serial_lines(
    make: Callable[..., Guest], archive: Path, clock: str
) -> None:
    one, two, three = make("one", lines=2), make("two"), make("three")
    one.ear, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    two.lines = three.lines = one.lines
    master = one.lines[0][1]
    with _booted(one, archive, clock, pass_fds=(its.fileno(),)):
        one.must("terminal", "open")
        one.rest(its.fileno())
        assert one.one_more(two) == f"made {two.pid}"
        one.go_on()
        os.write(master, b"to one\n")
        assert one.must("heard") == "to one\n"
        # as a lab goes back to a checkpoint
        assert two.one_more(three) == f"made {three.pid}"
        one.kill()
        three.go_on()
        three.must("terminal", "from three")
        assert os.read(master, 1000) == b"opento one\r\nfrom three"  # with the echo
        os.write(master, b"to three\n")
        assert three.must("heard") == "to three\n"


def test_at_rest_it_refuses_what_it_cannot_do_and_rests_on(resting: Guest, make: Callable[..., Guest]) -> None:
    ear, two = resting.ear, make("two")
    assert ear
    for words in (b"nonsense", b"clone\n/one\n/two\n"):  # the second one without a descriptor
        ear.send(words)
        assert ear.recv(1000).startswith(b"failed -22")
    two.share.mkdir(parents=True)
    (two.share / "disk.img").write_text("mine")
    assert "cannot make" in resting.one_more(two) and "File exists" in resting.console
    two = make("three")
    assert resting.one_more(two) == f"made {two.pid}"
    resting.go_on()
    two.go_on()
    for one in (resting, two):
        one.must("check")


def test_it_rests_on_no_descriptor_that_it_has_not(guest: Guest) -> None:
    assert guest.ask("rest", "@77")[0] == 9  # EBADF
    assert guest.ask("rest", "@x")[0] == 22
    guest.must("check")


@pytest.mark.parametrize("full", ["memory", "disk"])
def test_without_room_the_original_goes_on(make: Callable[..., Guest], archive: Path, full: str) -> None:
    one, two = make("one"), make("two")
    small, size = one.folder.parent / "small", {"memory": "160m", "disk": "128k"}[full]
    small.mkdir()
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*own, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no mounts of one's own here")
    where = f"TMPDIR={small} " if full == "memory" else ""
    script = f'mount -t tmpfs -o size={size} small {small} && {where}exec "$@"'
    with _booted(one, archive, "virtual", (*own, "sh", "-c", script, "sh")):
        if full == "memory":
            one.must("grow", 100)
            rc, _ = one.ask("clone", *one.pairs(two))
            assert rc == ENOSPC and "cannot copy the memory: No space left" in one.console
        else:
            rc, _ = one.ask("clone", *one.pairs(Guest(small / "two")))
            assert rc == ENOSPC and f"cannot copy {one.share}/disk.img: No space left" in one.console
            one.clone(two)
            two.must("check")
        one.must("check")
