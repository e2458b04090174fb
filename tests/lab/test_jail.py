"""No way out: what root on a node can do to the machine that the lab runs on."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import REPO, Tool

from causeway.folders import cache
from causeway.hosts import jail

pytestmark = pytest.mark.skipif(jail.version() < 6, reason="this machine's Linux has no Landlock of version 6")

#: Mounts a folder of the machine on a node, and says what can be done there: list, read a file, make one, remove it.
TRIES = """
at=/tmp/out; mkdir -p $at; umount $at 2>/dev/null
mount -t hostfs -o hostfs="$1" none $at || exit 3
[ -z "$(ls $at 2>/dev/null)" ] || echo listed
[ -z "$2" ] || { cat "$at/$2" >/dev/null 2>&1 && echo "read $2"; }
(: >"$at/made by a node") 2>/dev/null && echo made
ln -s /etc "$at/link by a node" 2>/dev/null && echo linked
mkfifo "$at/pipe by a node" 2>/dev/null && echo piped
rm -f "$at/made by a node" 2>/dev/null
umount $at
"""


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file beside everything of the lab's."""
    file = tmp_path / "secret"
    file.write_text("nobody's business\n")
    return file


def tries(lab: Tool, node: str, place: Path | str, file: str = "") -> list[str]:
    """What root of a node can do with a folder of the machine, by mounting it."""
    return lab.on(node, "sh", "-c", TRIES, "sh", str(place), file).splitlines()


def own_processes(pid: int) -> Iterator[dict[str, str]]:
    """What Linux says of a process, and of all that it has started, but for those that end while one looks."""
    with suppress(FileNotFoundError, ProcessLookupError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        yield {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield from own_processes(int(child))


def open_files(pid: int) -> Iterator[str]:
    """What a process has open, but for what it closes while one looks."""
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            yield os.readlink(fd)


@pytest.mark.parametrize("node", ["nsd01", "R00-M0-NC-3"])
def test_root_on_a_node_reaches_nothing_of_the_machine(lab: Tool, node: str, secret: Path) -> None:
    state, runs = lab.folder / "state" / "jubl", lab.folder / "runs"
    assert tries(lab, node, "/", "etc/passwd") == []
    assert tries(lab, node, Path.home()) == []
    assert tries(lab, node, secret.parent, "secret") == []
    assert tries(lab, node, state, "about.json") == []  # who starts and ends it is out of its hands
    assert tries(lab, node, (state / "now").resolve().parents[1], "kernel.json") == []
    assert tries(lab, node, cache(), f"{next(cache().glob('base-*/node.tar')).relative_to(cache())}") == []
    assert tries(lab, node, "/proc", f"{os.getpid()}/environ") == ["listed"]  # the numbers of processes, no more
    # to read, for the tool inside is these files; what else is in the checkout is no more than names
    assert tries(lab, node, REPO, "README.md") == ["listed"]
    assert tries(lab, node, REPO / "causeway", "errors.py") == ["listed", "read errors.py"]
    # where results go
    assert {"listed", "made"} >= set(tries(lab, node, runs)) >= {"made"}


def test_neither_dots_nor_links_lead_out(lab: Tool, secret: Path) -> None:
    runs = lab.folder / "runs"
    runs.mkdir(exist_ok=True)
    (runs / "out").symlink_to(secret.parent)  # somebody's; a lab makes none
    try:
        for place in (runs / "..", f"{runs}/../../..", runs / "out"):
            assert tries(lab, "nsd01", place, "secret") == []
    finally:
        (runs / "out").unlink()


def test_the_launchers_socket_answers_nobody_in_the_lab(lab: Tool) -> None:
    code = (
        "import os, socket, subprocess, sys\n"
        "os.makedirs('/tmp/out', exist_ok=True)\n"
        "subprocess.run(['mount', '-t', 'hostfs', '-o', 'hostfs=' + sys.argv[1], 'none', '/tmp/out'], check=True)\n"
        "os.chdir('/tmp/out')\n"
        "try:\n    socket.socket(socket.AF_UNIX).connect('launcher.sock')\nexcept OSError as error:\n    print(error)\n"
        "os.chdir('/'); subprocess.run(['umount', '/tmp/out'], check=True)"
    )
    socket = lab.folder / "state" / "jubl" / "launcher.sock"
    assert socket.is_socket()
    assert "refused" in lab.on("nsd01", "python3", "-c", code, str(socket.parent))


def are_in_the_jail(kernel: int) -> None:
    """A kernel and each process of it."""
    kept = list(own_processes(kernel))
    assert len(kept) > 100  # one for each address space of the lab
    most = 2 if os.geteuid() == 0 else 0
    for process in kept:
        assert (process["NoNewPrivs"], process["Seccomp"]) == ("1", "2")
        assert int(process["CapEff"], 16) | int(process["CapBnd" if most else "CapPrm"], 16) == most
    assert Path(f"/proc/{kernel}/environ").read_bytes().count(b"\0") == 2  # nothing of the user's is in its environment


def test_the_kernel_and_each_process_of_it_are_in_the_jail(lab: Tool) -> None:
    are_in_the_jail(int((lab.folder / "state" / "jubl" / "pid").read_text()))


def test_so_are_a_checkpoint_and_the_lab_that_went_back_to_it(lab: Tool, secret: Path) -> None:
    state = lab.folder / "state" / "jubl"
    before = int((state / "pid").read_text())
    assert lab("checkpoint", "jailed").returncode == 0
    assert lab("back", "jailed").returncode == 0
    launcher = int((state / "launcher").read_text())
    kernels = [int(pid) for pid in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()]
    assert len(kernels) == 2 and before not in kernels  # the lab, and the moment that was kept
    for kernel in kernels:
        are_in_the_jail(kernel)
    assert tries(lab, "nsd01", secret.parent, "secret") == []
    assert tries(lab, "nsd01", state, "about.json") == []
    assert tries(lab, "nsd01", (state / "now").resolve().parents[1], "kernel.json") == []
    assert lab("checkpoints", "--drop", "jailed").returncode == 0


def test_a_lab_leaves_no_memory_file_where_others_see_it(lab: Tool) -> None:
    assert not list(Path("/dev/shm").glob("causeway-*"))
    memory = list(open_files(int((lab.folder / "state" / "jubl" / "pid").read_text())))
    assert any(path.endswith("(deleted)") and path.startswith("/dev/shm/") for path in memory)


def test_doctor_says_how_tight_it_is(lab: Tool) -> None:
    (row,) = (need for need in json.loads(lab("doctor", "--json").stdout)["needs"]["uml"] if need["what"] == "jail")
    assert row["found"] and row["detail"].startswith("Landlock ")
