"""What the running kernel says of its memory: the machine's, or, in a lab host of its own, the lab's."""

import re
from pathlib import Path

FILE = Path("/proc/meminfo")


def kib_of(what: str, meminfo: Path = FILE) -> int:
    """How much it has by this name, as proc_meminfo(5) has them (KiB); 0 where it does not say."""
    match = re.search(rf"^{what}: +(\d+) kB", meminfo.read_text(), re.MULTILINE)
    return int(match[1]) if match else 0
