"""What a lab host may have of memory and disk: never more than there is, and a refusal that says the sum."""

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from causeway import folders
from causeway.errors import BadInput
from causeway.hosts import artefacts, disk, memory
from causeway.hosts.memory import Room

SHM = "/dev/shm"


def test_labs_one_after_the_other_never_get_more_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr(memory, "room", lambda: Room({SHM: 24_000}, sum(given)))
    with pytest.raises(BadInput, match="a lab takes 2048 MiB of memory at least"):
        while True:
            given.append(memory.for_a_lab(memory.wish_mib(19)))
    assert given == [4704, 4704, 4704, 4704, 4147]  # four fifths of what is left for the last
    assert sum(given) <= 24_000


@pytest.mark.parametrize(
    ("nodes", "free", "promised", "gets"),
    [(8, 100_000, 0, 4352), (299, 100_000, 0, 13_664), (999, 100_000, 0, 16_384), (8, 2_560, 0, 2_048)],
)
def test_a_lab_gets_what_its_nodes_take_or_less_where_there_is_less(
    nodes: int, free: int, promised: int, gets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "room", lambda: Room({SHM: free, "the machine": 200_000}, promised))
    assert memory.for_a_lab(memory.wish_mib(nodes)) == gets


@pytest.mark.parametrize(("free", "promised"), [(2_559, 0), (24_000, 30_000)])
def test_less_than_the_least_is_not_enough(free: int, promised: int) -> None:
    assert not Room({SHM: free, "the machine": 200_000}, promised).enough


#: what there is -> what is said, and the remedy
REFUSED = {
    "a small /dev/shm": (
        Room({SHM: 64, "the machine": 8000}, 0),
        "a lab host may have 51 MiB (free: 64 MiB in /dev/shm, 8000 MiB in the machine)",
        "make it larger (mount -o remount,size=8g /dev/shm; docker run --shm-size=8g)",
    ),
    "promised to others": (
        Room({SHM: 9000, "the machine": 8000}, 7000),
        "; of that 7000 MiB are promised to labs that run",
        "free some memory, or end a lab (causeway down)",
    ),
    "a container's limit": (
        Room({SHM: 9000, "the machine": 8000, "the container's limit": 1000}, 0),
        "a lab host may have 800 MiB",
        "give the container more (docker run --memory)",
    ),
    "noexec": (
        Room({SHM: 9000, "the machine": 8000}, 0, noexec=True),
        "/dev/shm is mounted noexec",
        "mount -o remount,exec /dev/shm; in a container: docker run --tmpfs /dev/shm:exec,size=8g",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_too_little_is_refused_with_the_sum_and_the_remedy(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    room, said, remedy = REFUSED[what]
    monkeypatch.setattr(memory, "room", lambda: room)
    with pytest.raises(BadInput) as caught:
        memory.for_a_lab(memory.wish_mib(8))
    assert str(caught.value) == f"a lab takes 2048 MiB of memory at least: {room}; {remedy}"
    assert said in str(room)


def test_a_noexec_dev_shm_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "FOLDER", tmp_path)
    real = os.statvfs(tmp_path)
    seen = SimpleNamespace(f_bavail=real.f_bavail, f_frsize=real.f_frsize, f_flag=real.f_flag | os.ST_NOEXEC)
    assert not memory.room().noexec
    monkeypatch.setattr(os, "statvfs", lambda _: seen)
    assert memory.room().noexec
    monkeypatch.setattr(memory, "FOLDER", tmp_path / "not there")
    assert not memory.room().enough


def test_what_kernels_have_not_taken_of_their_memory_is_promised(tmp_path: Path) -> None:
    def process(pid: int, argv: list[str], shared_kib: int, name: str = "linux", parent: int = 1) -> None:
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "cmdline").write_text("\0".join(argv) + "\0")
        (folder / "status").write_text(f"Name:\t{name}\nPPid:\t{parent}\nRssShmem:\t{shared_kib:>8} kB\n")

    kernel = ["/cache/linux", "mem=4000M", "umid=a1"]
    process(10, kernel, 1000 * 1024)
    process(11, kernel, 200 * 1024, parent=10)  # a process of the same kernel, which has touched less
    process(12, ["/cache/linux", "mem=500M", "umid=b2"], 600 * 1024)  # not less than nothing
    process(13, ["sh", "-c", "mem=9000M"], 0)
    (tmp_path / "14").mkdir()
    assert memory._promised_mib(tmp_path) == 3000
    process(15, kernel, 0, name="linux-at-rest")  # a clone that takes no more
    assert memory._promised_mib(tmp_path) == 3000
    process(16, kernel, 1500 * 1024)  # one that goes on, with what the first one was promised
    assert memory._promised_mib(tmp_path) == 5500


def test_what_a_kernel_has_taken_is_its_file_without_a_name(tmp_path: Path) -> None:
    assert memory.taken_mib(tmp_path) == 0  # nobody's that may be looked at
    with tempfile.TemporaryFile(dir=tmp_path) as file:
        os.posix_fallocate(file.fileno(), 0, 3 * 2**20)
        assert memory.taken_mib(Path("/proc/self")) == 3
        (tmp_path / "fd").mkdir()
        for number in range(20):  # of a kernel that runs, some are closed between being listed and being looked at
            (tmp_path / "fd" / str(number)).symlink_to(f"/proc/self/fd/{file.fileno()}" if number == 9 else "/closed")
        assert memory.taken_mib(tmp_path) == 3


def test_a_clone_takes_what_its_lab_has_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "room", lambda: Room({SHM: 2000, "the machine": 9000}, 500))
    memory.for_a_clone(1500)
    with pytest.raises(BadInput, match="takes 1501 MiB of memory, 1500 are left: free: 2000 MiB in /dev/shm, 9000"):
        memory.for_a_clone(1501)


@pytest.mark.parametrize(("left", "refused"), [(5000, False), (3000, False), (2999, True)])
def test_a_lab_at_rest_goes_on_only_where_it_or_a_clone_may_have_all_that_it_was_promised(
    left: int, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may take 4000 MiB and has taken 1000: a clone fits, or it goes on itself, or neither."""
    monkeypatch.setattr(memory, "room", lambda: Room({SHM: 9000}, 9000 - left))
    if refused:
        with pytest.raises(BadInput, match=r"a lab of this template may take 3000 MiB more: .* are promised to labs"):
            memory.for_a_lab_at_rest(4000, 1000)
    else:
        memory.for_a_lab_at_rest(4000, 1000)


@pytest.mark.parametrize(
    ("line", "folder", "files"),
    [
        (
            "0::/box/lab",
            "box",
            {"memory.max": 2**30, "memory.current": 2**29, "memory.stat": f"file 7\ninactive_file {2**28}\n"},
        ),
        (
            "5:memory:/box",
            "memory/box",
            {
                "memory.limit_in_bytes": 2**30,
                "memory.usage_in_bytes": 2**29,
                "memory.stat": f"total_inactive_file {2**28}\n",
            },
        ),
    ],
)
def test_what_a_groups_limit_leaves_counts_what_could_be_given_back(
    line: str, folder: str, files: dict[str, object], tmp_path: Path
) -> None:
    group = tmp_path / "sys" / folder
    group.mkdir(parents=True)
    for name, value in files.items():
        (group / name).write_text(f"{value}\n")
    (tmp_path / "cgroup").write_text(f"3:cpu:/\n{line}\n")
    assert list(memory._limits_mib(tmp_path / "cgroup", tmp_path / "sys")) == [768]
    for none in ("max", "9223372036854771712"):
        (group / next(iter(files))).write_text(f"{none}\n")
        assert list(memory._limits_mib(tmp_path / "cgroup", tmp_path / "sys")) == []


def test_a_full_disk_is_refused_with_the_sum(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(folders, "state", lambda: tmp_path / "state")
    monkeypatch.setattr(folders, "runs", lambda: tmp_path / "runs")
    monkeypatch.setattr(folders, "cache", lambda: tmp_path)
    artefacts.LABHOST.folder.mkdir()
    (artefacts.LABHOST.folder / "docker.img").write_bytes(b"x" * 2**20)
    assert disk.lacking() == []
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=100, f_frsize=2**20))
    with pytest.raises(BadInput) as caught:
        disk.need_room()
    taken = f"301 MiB for {tmp_path}/state + 50 MiB for {tmp_path}/runs"
    assert str(caught.value) == f"a lab host takes {taken}, and 100 MiB are free there; free some"


def test_a_containers_limit_is_part_of_the_sum(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "FOLDER", tmp_path)
    monkeypatch.setattr(memory, "_limits_mib", lambda: iter([700, 100]))
    assert memory.room().free_mib["the container's limit"] == 100
    assert memory.room().left_mib <= 100
    monkeypatch.setattr(memory, "_limits_mib", lambda: iter([]))
    assert "the container's limit" not in memory.room().free_mib
