"""What a lab host may have of the machine's memory: never more than there is beside what other labs were promised.

Its memory is a file in /dev/shm, which grows as the lab uses it. So what is free there today is not what is free for a
second lab: the first one still has what it was promised to take. Nor is /dev/shm more than the machine has, or than the
container has that all of it is in; who takes more is killed, and a lab with it.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from causeway.errors import BadInput
from causeway.meminfo import kib_of

FOLDER = Path("/dev/shm")
#: What a lab host gets where there is enough: for itself, and for each node. jubl with 19 nodes, every scenario played,
#: has touched 3.5 GiB, with what it has read from files; 299 booted nodes used 3.6 GiB without that.
_ITS_OWN_MIB, _NODE_MIB, _MOST_MIB = 4096, 32, 16384
_LEAST_MIB = 2048
#: A lab kernel's name while it is at rest (images/kernel, the patch that clones it).
_AT_REST = "linux-at-rest"
_MIB = 2**20
#: More than this is no limit: cgroup's first version says none by the largest number of pages that it knows.
_NO_LIMIT = 2**60
#: A group's memory: its limit, what it uses, and the statistics with what of that could be given back.
_LIMITS = (
    ("memory.max", "memory.current", "memory.stat", r"^inactive_file (\d+)"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", r"^total_inactive_file (\d+)"),
)


@dataclass(frozen=True)
class Room:
    """Where memory comes from, each with what is free there, and what is promised and not taken yet (MiB)."""

    free_mib: dict[str, int]
    promised_mib: int
    noexec: bool = False

    @property
    def left_mib(self) -> int:
        """What nobody has, or was promised."""
        return max(0, min(self.free_mib.values()) - self.promised_mib)

    @property
    def lab_mib(self) -> int:
        """The most that one more lab host may have: four fifths of what is left."""
        return self.left_mib * 4 // 5

    @property
    def enough(self) -> bool:
        return not self.noexec and self.lab_mib >= _LEAST_MIB

    @property
    def terms(self) -> str:
        """What the sum is made of."""
        free = ", ".join(f"{mib} MiB in {where}" for where, mib in self.free_mib.items())
        promised = f"; of that {self.promised_mib} MiB are promised to labs that run" if self.promised_mib else ""
        return f"free: {free}{promised}"

    def __str__(self) -> str:
        where = f"; {FOLDER} is mounted noexec" if self.noexec else ""
        return f"a lab host may have {self.lab_mib} MiB ({self.terms}){where}"

    @property
    def remedy(self) -> str:
        """What to do where it is not enough."""
        if self.noexec:
            return f"mount -o remount,exec {FOLDER}; in a container: docker run --tmpfs {FOLDER}:exec,size=8g"
        place = min(self.free_mib, key=lambda where: self.free_mib[where])
        larger = {
            str(FOLDER): f"make it larger (mount -o remount,size=8g {FOLDER}; docker run --shm-size=8g)",
            _CONTAINER: "give the container more (docker run --memory)",
        }.get(place, "free some memory")
        return f"{larger}, or end a lab (causeway down)" if self.promised_mib else larger


_MACHINE, _CONTAINER = "the machine", "the container's limit"


def room() -> Room:
    """What there is now."""
    if not os.access(FOLDER, os.W_OK):
        return Room({f"{FOLDER}, which cannot be written": 0}, 0)
    there = os.statvfs(FOLDER)
    free = {str(FOLDER): there.f_bavail * there.f_frsize // _MIB, _MACHINE: kib_of("MemAvailable") // 1024}
    if limits := list(_limits_mib()):
        free[_CONTAINER] = min(limits)
    return Room(free, _promised_mib(), bool(there.f_flag & os.ST_NOEXEC))


def for_a_lab(wish_mib: int) -> int:
    """What a lab host gets that wishes for so much (MiB). BadInput, with the sum, where there is too little for any."""
    found = room()
    if not found.enough:
        raise BadInput(f"a lab takes {_LEAST_MIB} MiB of memory at least: {found}; {found.remedy}")
    return min(wish_mib, found.lab_mib)


def wish_mib(nodes: int) -> int:
    """What a lab host for so many nodes gets where there is enough."""
    return min(_ITS_OWN_MIB + _NODE_MIB * nodes, _MOST_MIB)


def seat_mib(nodes: int) -> int:
    """What one of many labs for so many nodes gets, in which a lesson is on: some of its commands, and not all."""
    return min(_LEAST_MIB + _NODE_MIB * nodes, _MOST_MIB)


def lacks_for(mib: int) -> str:
    """Why a lab that may take so much cannot be had beside all that there is; nothing where it can."""
    found = room()
    return "" if found.lab_mib >= mib else f"a lab of it may take {mib} MiB of memory; {found}"


def for_a_lab_at_rest(mib: int, taken_mib: int) -> None:
    """BadInput, with the sum, where one at rest that may take so much could not go on itself, nor a clone of it."""
    found = room()
    if found.lab_mib < mib and found.left_mib < mib - taken_mib:
        raise BadInput(f"a lab of this template may take {mib - taken_mib} MiB more: {found}; {found.remedy}")


def for_a_clone(taken_mib: int) -> None:
    """BadInput, with the sum, where there is too little for a copy of what a lab has taken.

    At rest it takes no more; and of a lab and the clone that takes its place one was promised the rest already.
    """
    found = room()
    if found.left_mib < taken_mib:
        raise BadInput(f"a clone of this lab takes {taken_mib} MiB of memory, {found.left_mib} are left: {found.terms}")


def for_a_lab_and_checkpoints(mib: int, taken_mib: int, count: int) -> None:
    """BadInput, with the sum, where there is too little for a lab that may take so much and for clones of it at rest.

    Each of these takes what the lab has by then: what its template has, at least.
    """
    found = room()
    if found.left_mib < mib + count * taken_mib:
        what = f"a lab may take {mib} MiB of memory, and {count} checkpoints of it {taken_mib} MiB each"
        raise BadInput(f"{what}; {found.left_mib} are left: {found.terms}; {found.remedy}")


def counts(pid: Path, proc: Path = Path("/proc")) -> bool:
    """Whether the lab kernel that a file has the number of is one that memory is promised to: it runs, not at rest."""
    try:
        return (proc / pid.read_text().strip() / "comm").read_text().strip() != _AT_REST
    except OSError:  # it has not begun, or has ended
        return False


def taken_mib(process: Path) -> int:
    """What a lab kernel, by its folder in /proc, has taken: its memory is the largest of its files without a name.

    It maps what it touches, so a clone has mapped little of its own at first. 0 where it may not be looked at.
    """
    largest = 0
    with suppress(OSError):  # another user's, or it has ended
        for fd in (process / "fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                file = os.stat(fd)
                if S_ISREG(file.st_mode) and file.st_nlink == 0:
                    largest = max(largest, file.st_blocks * 512 // _MIB)
    return largest


def _limits_mib(proc: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> Iterator[int]:
    """What each limit leaves of the groups that this process is in; of those that can be seen from here."""
    for line in proc.read_text().splitlines() if proc.exists() else []:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        top = root / controllers
        group = top / path.lstrip("/")
        for folder in {top, group, *(p for p in group.parents if p.is_relative_to(top))}:
            for limit, used, statistics, pattern in _LIMITS:
                text = (folder / limit).read_text().strip() if (folder / limit).exists() else "max"
                if text.isdigit() and int(text) < _NO_LIMIT:
                    idle = re.search(pattern, (folder / statistics).read_text(), re.MULTILINE)
                    taken = int((folder / used).read_text()) - (int(idle[1]) if idle else 0)
                    yield max(0, int(text) - taken) // _MIB


def _promised_mib(proc: Path = Path("/proc")) -> int:
    """What the machine's lab kernels, whoever's, were promised and have not taken yet. One at rest takes no more."""
    left: dict[int, int] = {}
    parents: dict[int, int] = {}
    for status in proc.glob("[0-9]*/status"):
        try:
            words = (status.parent / "cmdline").read_bytes().decode(errors="replace").split("\0")
            text = status.read_text()
        except OSError:  # it has ended meanwhile
            continue
        said = dict(word.split("=", 1) for word in words if re.match(r"(mem=\d+M$|umid=)", word))
        if said.keys() == {"mem", "umid"}:
            pid = int(status.parent.name)
            parents[pid] = _number(text, "PPid")
            taken = max(_number(text, "RssShmem") // 1024, taken_mib(status.parent))
            if not re.search(rf"^Name:\s+{_AT_REST}$", text, re.MULTILINE):
                left[pid] = int(said["mem"].rstrip("M")) - taken
    # what a kernel starts is called like it at first; its clones, which are, too, are started by the launcher
    return sum(max(0, mib) for pid, mib in left.items() if parents[pid] not in parents)


def _number(status: str, name: str) -> int:
    """A number of a process's status; 0 where that is not told."""
    found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
    return int(found[1]) if found else 0
