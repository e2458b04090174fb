"""What is slow to build is built once and kept by the hash of all its inputs.

Each folder of images/ has a program `build OUTDIR` and its inputs; nothing here knows what they do.
"""

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic, time
from uuid import uuid4

from causeway import folders, process, took
from causeway.errors import LabBroken
from causeway.hosts import pins

Progress = Callable[[str], None]
#: How the folder is called that a build has for temporary files.
_PREFIX = "causeway-build-"
#: So long after it was used an artefact is not dropped.
_IN_USE_S = 3600.0


@dataclass(frozen=True)
class Artefact:
    """One thing to build: its folder in images/, other inputs, kinds of images/pins, and artefacts that it needs."""

    name: str
    about: str
    inputs: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    needs: tuple["Artefact", ...] = ()

    @property
    def key(self) -> str:
        """A hash of every input file's path and content, of what is pinned, and of the needed artefacts' keys."""
        digest = sha256()
        roots = [folders.REPO / "images" / self.name, *(folders.REPO / i for i in self.inputs)]
        for root in roots:
            for file in sorted(root.rglob("*")) if root.is_dir() else [root]:
                if file.is_file() and file.suffix != ".pyc":
                    digest.update(f"{file.relative_to(folders.REPO)}\0".encode())
                    digest.update(file.read_bytes())
        for pin in pins.of(self.pins) if self.pins else ():
            digest.update(f"{pin}\0".encode())
        for need in self.needs:
            digest.update(need.key.encode())
        return digest.hexdigest()[:16]

    @property
    def folder(self) -> Path:
        return folders.cache() / f"{self.name}-{self.key}"

    @property
    def built(self) -> bool:
        return self.folder.is_dir()


_SHELL = "images/pins.sh"
KERNEL = Artefact("kernel", "the lab kernel (User-Mode Linux)", inputs=(_SHELL,), pins=("kernel",))
CONTAINERLAB = Artefact("containerlab", "containerlab", inputs=(_SHELL,), pins=("go",))
NODE = Artefact("base", "the node image", inputs=(_SHELL, "nodes/base", "nodes/mc"), pins=("snapshot",))
IONODE = Artefact(
    "bluegene", "the I/O nodes' firmware", inputs=("nodes/base/adapters", "nodes/bluegene/board"), needs=(NODE,)
)
LABHOST = Artefact(
    "labhost", "the lab host", inputs=(_SHELL,), pins=("snapshot", "python"),
    needs=(KERNEL, CONTAINERLAB, NODE, IONODE),
)  # fmt: skip
ALL = (KERNEL, CONTAINERLAB, NODE, IONODE, LABHOST)


def missing(artefact: Artefact = LABHOST) -> list[Artefact]:
    """The artefact and its needs that are not in the cache, in the order to build them."""
    found: list[Artefact] = []
    for need in artefact.needs:
        found += [a for a in missing(need) if a not in found]
    return found if artefact.built else [*found, artefact]


def build(artefact: Artefact, progress: Progress) -> Path:
    """The artefact's folder, built first (and what it needs) where the cache has it not.

    Two builders of the same wait for each other. A failed or interrupted build leaves its log and
    nothing else. Raises LabBroken with the log's last lines.
    """
    for need in artefact.needs:
        build(need, progress)
    folder = artefact.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not artefact.built:
            _build_here(artefact, folder, progress)
    return folder


def are_used() -> None:
    """Note that somebody uses all of them, so that no build of another checkout's takes them away meanwhile."""
    for artefact in ALL:
        with suppress(PermissionError):  # another user's, who lets others read there
            os.utime(artefact.folder)


def _build_here(artefact: Artefact, folder: Path, progress: Progress) -> None:
    sweep()
    _clear(folder)
    temporary = _half(folder)
    temporary.mkdir()
    beside = _folder_beside(folder)
    log = folder.with_name(f"{folder.name}.log")
    log.unlink(missing_ok=True)
    needs = {need.name.upper(): str(need.folder) for need in artefact.needs}
    env = os.environ | needs | {"PYTHON": sys.executable, "LC_ALL": "C.UTF-8", "TMPDIR": str(beside)}
    begun = monotonic()
    kept = folders.cache() / "took.json"
    last_s = took.known(kept).get(artefact.name)
    last_time = "" if last_s is None else f", {last_s:.0f} s last time"
    tail: list[str] = []

    def on_line(line: str) -> None:
        tail.append(line)
        del tail[:-5]
        progress(f"building {artefact.about}{last_time}: {monotonic() - begun:4.0f} s  {line[:60]}")

    try:
        script = folders.REPO / "images" / artefact.name / "build"
        rc = process.follow([str(script), str(temporary)], on_line, log=log, env=env)
        if rc != 0:
            last = "\n".join(tail)
            raise LabBroken(f"building {artefact.about} ended with {rc}; log: {log}\n{last}")
        _to_the_disk(temporary)
        temporary.rename(folder)
    finally:
        _clear(folder)
    took.keep(kept, took.known(kept) | {artefact.name: round(monotonic() - begun)})
    progress(f"built {artefact.about} in {monotonic() - begun:.0f} s")
    _drop_older(artefact)


def _half(folder: Path) -> Path:
    """Where an artefact grows."""
    return folder.with_name(f".{folder.name}.building")


def _beside(folder: Path) -> Path:
    """The link to the folder that its builders have for temporary files."""
    return folder.with_name(f".{folder.name}.tmp")


def _folder_beside(folder: Path) -> Path:
    """A folder for temporary files, whose name is kept before it is made: whatever is killed, it is found again.

    It is where such files are elsewhere, too. In a user's home it would be of no use: without root mmdebstrap works as
    somebody who may not enter that.
    """
    made = Path(tempfile.gettempdir(), f"{_PREFIX}{uuid4().hex}")
    _beside(folder).symlink_to(made)
    made.mkdir(mode=0o755)
    made.chmod(0o755)  # whatever the umask is
    return made


def _to_the_disk(folder: Path) -> None:
    """Have all that is in it written, so that no power cut leaves something half built under a name that counts."""
    for path in (*folder.rglob("*"), folder):
        if path.is_dir() or path.is_file():
            fd = os.open(path, os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)


def _clear(folder: Path) -> None:
    """Remove what a build has beside the artefact, also one that was killed."""
    shutil.rmtree(_half(folder), ignore_errors=True)
    link = _beside(folder)
    if not link.is_symlink():
        return
    made = link.readlink()
    if made.name.startswith(_PREFIX) and not made.is_symlink():
        for place in mounts_below(made, Path("/proc/self/mounts").read_text()):
            process.run(["umount", "--lazy", place])
        shutil.rmtree(made, ignore_errors=True)
        if made.exists():  # without root mmdebstrap leaves files of users of its own, who are this one in such a room
            process.run(["unshare", "--map-auto", "--map-root-user", "rm", "-rf", str(made)], timeout_s=300)
    link.unlink()


def mounts_below(folder: Path, mounts: str) -> list[str]:
    """What is mounted below a folder, the last one first: a killed mmdebstrap of root's leaves its /proc and /sys."""
    places = [line.split()[1].replace("\\040", " ") for line in mounts.splitlines()]
    return [place for place in reversed(places) if folder in Path(place).parents]


def sweep() -> None:
    """Remove what killed builds left."""
    for left in (*folders.cache().glob(".*.building"), *folders.cache().glob(".*.tmp")):
        folder = left.with_name(left.stem.removeprefix("."))
        with (folder.parent / f".{folder.name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # it is being built
                continue
            _clear(folder)


def _drop_older(artefact: Artefact) -> None:
    """Keep the one that was used last beside the new one, so that the cache does not grow with every change.

    And those of the last hour: somebody may be about to copy one, and checkouts side by side have one each.
    """
    pattern = f"{artefact.name}-" + "[0-9a-f]" * 16
    others = [(f.stat().st_mtime, f) for f in folders.cache().glob(pattern) if f != artefact.folder]
    for used, old in sorted(others, reverse=True)[1:]:
        if time() - used > _IN_USE_S:
            shutil.rmtree(old, ignore_errors=True)
            old.with_name(f"{old.name}.log").unlink(missing_ok=True)
