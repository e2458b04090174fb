"""A disk's filesystem in a file of a parallel one, for scenarios: made, mounted, filled with empty files; counted."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from causeway.lab.clock import Watch
from causeway.lab.filesystems import driver_of
from causeway.lab.probes.counters import difference, sent_bytes
from causeway.scenario.cast import Sharing
from causeway.scenario.stage import Stage

#: The file, beside whose users there is nobody else's; and where a node mounts it.
_FILE, _MOUNT = "jobfs.img", "/run/jobfs"
_SIZE = "128M"
_PATIENCE_S, _COUNTS_S = 300, 30


@dataclass(frozen=True)
class Made:
    """What making files took: calls at the servers that make one, bytes that the node sent, and seconds."""

    created: int
    sent: int
    took_s: float


def prepare(stage: Stage, cast: Sharing, node: str, each: int) -> None:
    """Make the file and what is in it, and have the servers count what they are asked; until the scenario's end.

    A server begins to count a while after it is told to: when one file is `each` calls, all of them do.
    """
    file, driver = _file(stage, cast), driver_of(stage.lab, cast.filesystem)
    stage.defer(lambda: stage.lab.on(node, "rm", "-f", file).must(), f"{file} is gone")
    stage.defer(driver.count_calls(stage.lab, cast.filesystem), "nothing is counted")
    counted = partial(_counted, stage, cast, node)
    stage.until("calls that make a file are counted", counted, is_=each, within_s=_COUNTS_S)
    stage.lab.on(node, "truncate", "-s", _SIZE, file).must()
    stage.lab.on(node, "mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0", file, timeout_s=_PATIENCE_S).must()


def _counted(stage: Stage, cast: Sharing, node: str) -> int:
    """The calls that making one file takes, as counted."""
    driver, probe = driver_of(stage.lab, cast.filesystem), f"{_file(stage, cast)}.probe"
    before = driver.made_files(stage.lab, cast.filesystem)
    stage.lab.on(node, "sh", "-c", f": > {probe} && rm {probe}").must()
    return driver.made_files(stage.lab, cast.filesystem) - before


@contextmanager
def jobfs(stage: Stage, cast: Sharing, node: str) -> Iterator[str]:
    """The file is mounted on a node meanwhile; gives where."""
    stage.lab.on(node, "mkdir", "-p", _MOUNT).must()
    stage.lab.on(node, "mount", "-o", "loop", _file(stage, cast), _MOUNT).must()
    try:
        yield _MOUNT
    finally:
        stage.lab.on(node, "umount", _MOUNT, timeout_s=_PATIENCE_S).must()


def touch(stage: Stage, cast: Sharing, node: str, folder: str, files: int) -> Made:
    """A node makes so many empty files in a folder of its own, which is gone at the scenario's end if it is native."""
    driver, site = driver_of(stage.lab, cast.filesystem), stage.site
    devices = [end.device for cable in site.cables for end in cable.ends if end.node == node]
    place = f"{folder}/files"
    if not folder.startswith(_MOUNT):
        stage.defer(lambda: stage.lab.on(node, "rm", "-rf", folder, timeout_s=_PATIENCE_S).must(), f"{folder} is gone")
    stage.lab.on(node, "mkdir", "-p", place).must()
    before, sent = driver.made_files(stage.lab, cast.filesystem), sent_bytes(stage.lab, node, devices)
    watch = Watch()
    made = f"i=0; while [ $i -lt {files} ]; do : > {place}/$i; i=$((i + 1)); done"
    stage.lab.on(node, "sh", "-c", made, timeout_s=_PATIENCE_S).must()
    took_s = watch.virtual_s
    grown = sum(difference(sent, sent_bytes(stage.lab, node, devices)).values())
    return Made(driver.made_files(stage.lab, cast.filesystem) - before, grown, took_s)


def found(stage: Stage, node: str) -> int:
    """How many files a node sees in what it has mounted."""
    return len(stage.lab.on(node, "ls", f"{_MOUNT}/files").must().split())


def devices(stage: Stage, node: str) -> int:
    """How many loop devices are such a file's."""
    return stage.lab.on(node, "losetup", "-a").must().count(_FILE)


def _file(stage: Stage, cast: Sharing) -> str:
    return f"{stage.site.topology.filesystems[cast.filesystem].mount_point}/{_FILE}"
