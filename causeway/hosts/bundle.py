"""All that was built as one file, for machines that no network reaches: artefacts, and Python's packages as wheels.

    bundle.json     which artefacts, what they are made of, and the digest of every file
    wheels/         of what requirements-dev.txt names; bin/causeway takes them from here, too, before it has any Python
    NAME-KEY/       an artefact, as the cache has it

A gzip-compressed tar file; sparse images stay sparse.
"""

import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import Any

from causeway import folders, process
from causeway.errors import BadInput, LabBroken
from causeway.hosts import artefacts, made_of

ABOUT, WHEELS = "bundle.json", "wheels"
#: Packing and unpacking read and write some 1.6 GB.
_TAR_S = 1800


def write(file: Path, say: Callable[[str], None]) -> None:
    """Make the file. BadInput where it exists, or where something is not built yet; an interrupt leaves nothing."""
    if file.exists():
        raise BadInput(f"{file} exists; name a file that does not")
    if not file.absolute().parent.is_dir():
        raise BadInput(f"{file.absolute().parent} is no folder; make it first")
    if lacking := artefacts.missing():
        raise BadInput(f"not built yet: {', '.join(a.about for a in lacking)}; `causeway build` builds it")
    with _aside(file.absolute().parent) as temporary:
        say("wheels of the Python packages")
        wanted = str(folders.REPO / "requirements-dev.txt")
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel", "--no-deps"]
        process.run([*pip, "-r", wanted, "-w", str(temporary / WHEELS)], timeout_s=_TAR_S).must()
        say("digests of all files")
        names = [artefact.folder.name for artefact in artefacts.ALL]
        roots = {WHEELS: temporary / WHEELS} | {name: folders.cache() / name for name in names}
        about = {
            "artefacts": names,
            "python": _python(),
            "made_of": made_of.manifest(),
            "sha256": {f"{name}/{inner}": digest for name, root in roots.items() for inner, digest in _digests(root)},
        }
        (temporary / ABOUT).write_text(json.dumps(about, indent=1) + "\n")
        say(f"packing {len(about['sha256'])} files")
        packed = temporary / "packed"
        argv = ["tar", "--create", "--gzip", "--sparse", "--sort=name", "--file", str(packed)]
        argv += ["-C", str(temporary), ABOUT, WHEELS, "-C", str(folders.cache()), *names]
        process.run(argv, timeout_s=_TAR_S).must()
        packed.rename(file)


def read(file: Path, say: Callable[[str], None]) -> list[str]:
    """Put into the cache what it has not of a bundle; returns the artefacts' folders that are new.

    BadInput where the file is no bundle, is of another Causeway, or is not what it was when it was made; nothing is in
    the cache of it then.
    """
    folders.cache().mkdir(parents=True, exist_ok=True)
    with _aside(folders.cache()) as temporary:
        say(f"unpacking {file}")
        argv = ["tar", "--extract", "--gzip", "--sparse", "--no-same-owner", "--file", str(file), "-C", str(temporary)]
        if (done := process.run(argv, timeout_s=_TAR_S)).rc:
            raise BadInput(f"{file} cannot be unpacked: {done.stderr.strip()}")
        try:
            about: dict[str, Any] = json.loads((temporary / ABOUT).read_text())
            names, sums = about["artefacts"], about["sha256"]
        except (OSError, ValueError, KeyError, TypeError):
            raise BadInput(f"{file} is no bundle: it has no {ABOUT} that says what is in it") from None
        wanted = [artefact.folder.name for artefact in artefacts.ALL]
        if names != wanted:
            other = ", ".join(sorted(set(wanted) - set(names)))
            raise BadInput(
                f"{file} was made by another version of Causeway: it has not {other}; check out that version"
            )
        say(f"checking the digests of {len(sums)} files")
        found = {f"{name}/{inner}": digest for name in (WHEELS, *names) for inner, digest in _digests(temporary / name)}
        if wrong := sorted(path for path in sums.keys() | found.keys() if sums.get(path) != found.get(path)):
            raise BadInput(f"{file} is damaged: {', '.join(wrong[:3])} ({len(wrong)} files) are not what they were")
        new = [artefact.folder for artefact in artefacts.ALL if not artefact.built]
        for folder in new:
            (temporary / folder.name).rename(folder)
    return [folder.name for folder in new]


@contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    """A folder beside what is made, which is gone afterwards."""
    made = folder / f".bundle-{os.getpid()}"
    made.mkdir()
    try:
        yield made
    finally:
        shutil.rmtree(made)


def _digests(folder: Path) -> Iterator[tuple[str, str]]:
    """Each file below, and its SHA-256. LabBroken for what is no plain file."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise LabBroken(f"{path} is neither a file nor a folder")
        if path.is_file():
            with path.open("rb") as content:
                yield str(path.relative_to(folder)), file_digest(content, "sha256").hexdigest()


def _python() -> str:
    """What the wheels are for: other Pythons may not take those that have machine code in them."""
    return ".".join(platform.python_version_tuple()[:2])
