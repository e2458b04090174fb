"""What is slow to build is built once and kept by the hash of all its inputs.

Each folder of images/ has a program `build OUTDIR` and its inputs; nothing here knows what they do.
"""

import fcntl
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic

from causeway import folders, process
from causeway.errors import LabBroken
from causeway.hosts import pins

Progress = Callable[[str], None]


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


def _build_here(artefact: Artefact, folder: Path, progress: Progress) -> None:
    temporary = folder.with_name(f".{folder.name}.building")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    log = folder.with_name(f"{folder.name}.log")
    log.unlink(missing_ok=True)
    needs = {need.name.upper(): str(need.folder) for need in artefact.needs}
    env = os.environ | needs | {"PYTHON": sys.executable, "LC_ALL": "C.UTF-8"}
    begun = monotonic()
    tail: list[str] = []

    def on_line(line: str) -> None:
        tail.append(line)
        del tail[:-5]
        progress(f"building {artefact.about}: {monotonic() - begun:4.0f} s  {line[:60]}")

    try:
        script = folders.REPO / "images" / artefact.name / "build"
        rc = process.follow([str(script), str(temporary)], on_line, log=log, env=env)
        if rc != 0:
            last = "\n".join(tail)
            raise LabBroken(f"building {artefact.about} ended with {rc}; log: {log}\n{last}")
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    progress(f"built {artefact.about} in {monotonic() - begun:.0f} s")
    _drop_older(artefact)


def _drop_older(artefact: Artefact) -> None:
    """Keep what was just built and the newest one beside it, so that the cache does not grow with every change."""
    pattern = f"{artefact.name}-" + "[0-9a-f]" * 16
    others = [folder for folder in folders.cache().glob(pattern) if folder != artefact.folder]
    for old in sorted(others, key=lambda f: f.stat().st_mtime, reverse=True)[1:]:
        shutil.rmtree(old, ignore_errors=True)
        old.with_name(f"{old.name}.log").unlink(missing_ok=True)
