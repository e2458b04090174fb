"""The first process of a guest: disks as nodes have them (nodes/base/mount.disk), and what reading and writing take.

Prints a line of JSON, and ends, which ends the guest. The test beside reads it.
"""

import json
import mmap
import os
import subprocess
import time
from pathlib import Path

from first import begin

from causeway.folders import REPO

#: Of each of the disks: kB a second read and written, microseconds to get to another place, read and written.
ARMS = {"rate": (80_000, 50_000, 0, 0), "access": (80_000, 50_000, 4_000, 7_000), "none": (0, 0, 0, 0)}
MIB, BLOCK, PLACES = 20, 4096, 50


#: What mounts a disk, read before anything is mounted: the checkout may be in a place that is hidden then.
MOUNT = (REPO / "nodes/base/mount.disk").read_text()


def mounted(name: str) -> Path:
    at, program = Path("/tmp", name), Path("/tmp/mount.disk")
    program.write_text(MOUNT)
    program.chmod(0o755)
    arm = ":".join(map(str, ARMS[name]))
    argv = [str(program), name, str(at), "-o", f"rw,size=64,arm={arm}"]
    subprocess.run(argv, check=True)
    return at


def took_s(file: Path, flags: int, sizes_at: list[tuple[int, int]]) -> float:
    """How long these (bytes, place) take one after the other, past the page cache."""
    fd = os.open(file, flags | os.O_DIRECT | os.O_CREAT)
    room = mmap.mmap(-1, max(size for size, _ in sizes_at))
    begun = time.monotonic()
    for size, at in sizes_at:
        part = memoryview(room)[:size]
        done = os.pwritev(fd, [part], at) if flags & os.O_RDWR else os.preadv(fd, [part], at)
        assert done == size
    seconds = time.monotonic() - begun
    os.close(fd)
    return seconds


def commits_s(at: Path) -> float:
    """How long directories take, each of them on the disk before the next is made."""
    begun = time.monotonic()
    for n in range(PLACES):
        made = at / str(n)
        made.mkdir()
        fd = os.open(made, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
    return time.monotonic() - begun


def measured(at: Path) -> dict[str, float]:
    file, flat = at / "file", [(2**20, n * 2**20) for n in range(MIB)]
    with file.open("wb") as out:
        out.truncate(MIB * 2**20)
        os.posix_fallocate(out.fileno(), 0, MIB * 2**20)
    took_s(file, os.O_RDWR, flat)  # its blocks are written once: what follows changes no table
    os.sync()
    time.sleep(10)  # the journal has come to rest; idle time costs nothing here
    apart = [(BLOCK, n * 7919 * BLOCK % (MIB * 2**20)) for n in range(1, PLACES + 1)]
    return {
        "write": took_s(file, os.O_RDWR, flat),
        "read": took_s(file, os.O_RDONLY, flat),
        "write apart": took_s(file, os.O_RDWR, apart),
        "read apart": took_s(file, os.O_RDONLY, apart),
        "commits": commits_s(at),
    }


if __name__ == "__main__":
    begin(("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/tmp"), ("tmpfs", "/var/lib"))
    print(json.dumps({name: measured(mounted(name)) for name in ARMS}), flush=True)
