"""The first process of a guest: where the pages lie that it writes, copies from a file or a process, or reads of one.

Prints a line of JSON for each, and ends, which ends the guest. The test beside reads the lines.
"""

import ctypes
import json
import mmap
import os
import random
from collections.abc import Iterator
from itertools import pairwise

from first import begin

PAGE = mmap.PAGESIZE
#: How much is used, in pages: large enough for pieces that lie together, small beside the guest's memory.
PAGES = 512
#: What has been in use, and goes back to the kernel in no order.
USED = 8192
#: A bit of /proc/self/pagemap: the page is in memory. Those below the 55th are where.
PRESENT, WHERE = 1 << 63, (1 << 55) - 1


def memory(pages: int, file: int = -1) -> mmap.mmap:
    """So many pages of this process alone, new ones or those of a file."""
    return mmap.mmap(file, pages * PAGE, flags=mmap.MAP_PRIVATE)


def places(of: mmap.mmap) -> list[int | None]:
    """Where in memory each of its pages is; None where it is not."""
    address = ctypes.addressof(ctypes.c_char.from_buffer(of))
    with open("/proc/self/pagemap", "rb") as file:
        file.seek(address // PAGE * 8)
        entries = [int.from_bytes(file.read(8), "little") for _ in range(PAGES)]
    return [entry & WHERE if entry & PRESENT else None for entry in entries]


def runs(found: list[int | None]) -> int:
    """In how many pieces they lie."""
    return 1 + sum(None in pair or pair[1] != pair[0] + 1 for pair in pairwise(found))


def disorder() -> mmap.mmap:
    """Have the kernel's lists of free pages as old as a lab's; as long as it is kept, some of them are in use."""
    used = memory(USED)
    order = random.Random(1).sample(range(USED), USED)
    for page in order:
        used[page * PAGE] = 1
    for page in order[:-64]:
        used.madvise(mmap.MADV_DONTNEED, page * PAGE, PAGE)
    return used


def written() -> Iterator[tuple[str, object]]:
    """Page after page; then one of each four, in no order."""
    new = memory(PAGES)
    for page in range(PAGES):
        new[page * PAGE] = 1
    yield "pieces", runs(places(new))
    yield "empty", all(new[page * PAGE + 1 : (page + 1) * PAGE].count(0) == PAGE - 1 for page in range(PAGES))
    large = memory(PAGES)
    for page in random.Random(2).sample(range(0, PAGES, 4), PAGES // 4):
        large[page * PAGE] = 1
    yield "of four", sum(place is not None for place in places(large))


def copied() -> Iterator[tuple[str, object]]:
    """A file's pages, of which every second is written; and a child's, of which its parent knows nothing."""
    text = bytes(byte for page in range(PAGES) for byte in (page % 251, page // 251) + (7,) * (PAGE - 2))
    with open("/tmp/text", "w+b") as file:
        file.write(text)
        file.flush()
        copy = memory(PAGES, file.fileno())
        for page in range(0, PAGES, 2):
            copy[page * PAGE + 9] = 1
        same = bytearray(text)
        same[9 :: 2 * PAGE] = b"\1" * (PAGES // 2)
        yield "is the file's", copy[:] == bytes(same)
        yield "the file is as it was", open("/tmp/text", "rb").read() == text
    own = memory(PAGES)
    own[:] = text
    if (child := os.fork()) == 0:
        for page in range(0, PAGES, 2):
            own[page * PAGE + 9] = 2
        changed = bytearray(text)
        changed[9 :: 2 * PAGE] = b"\2" * (PAGES // 2)
        os._exit(own[:] != bytes(changed))
    yield "is the parent's", os.waitpid(child, 0)[1] == 0
    yield "the parent's is as it was", own[:] == text


def read() -> Iterator[tuple[str, object]]:
    """The largest file that this program is made of, page after page."""
    with open("/proc/self/maps") as maps:
        files = {words[5] for line in maps if len(words := line.split()) == 6 and words[5].startswith("/")}
    with open(max(files, key=os.path.getsize), "rb") as file:
        program = memory(PAGES, file.fileno())
        for page in range(PAGES):
            program[page * PAGE]
        yield "pieces", runs(places(program))


if __name__ == "__main__":
    begin(("proc", "/proc"), ("tmpfs", "/tmp"))
    used = disorder()
    for what in (written, copied, read):
        print(json.dumps({"what": what.__name__, **dict(what())}), flush=True)
    os._exit(0)
