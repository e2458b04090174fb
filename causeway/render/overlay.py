"""A folder of the user's own files: NODE/PATH takes the place of that node's rendered /PATH."""

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from causeway.errors import BadInput

#: No overlay is larger: its files go into memory, once for the lab and once for its node.
_MOST_MIB = 64
_MOST_FILES = 10_000


def check_overlay(folder: Path, nodes: Collection[str], diskless: Collection[str]) -> None:
    """BadInput with all that keeps a folder from being an overlay.

    It may be a stranger's: what is no file, folder or link is not looked into, and no link is followed.
    """
    if not folder.is_dir():
        raise BadInput(f"--overlay {folder}: no such folder")
    try:
        problems = [*_not_of_nodes(folder, nodes, diskless), *_not_plain(folder)]
    except OSError as error:
        raise BadInput(f"{error.filename}: {error.strerror}; an overlay must be readable") from None
    if problems:
        raise BadInput("\n".join(problems))


def _not_of_nodes(folder: Path, nodes: Collection[str], diskless: Collection[str]) -> Iterator[str]:
    found = sorted(entry.name for entry in folder.iterdir())
    if strangers := [_shown(name) for name in found if name not in nodes]:
        yield f"{folder}: {', '.join(strangers)}: no such node; name its folders like nodes"
    if mine := [name for name in found if name in diskless]:
        what = "a diskless node has no files of its own; give them to the node that it boots from"
        yield f"{folder}: {', '.join(mine)}: {what}"
    for name in found:
        entry = folder / name
        if name in nodes and (entry.is_symlink() or not entry.is_dir()):
            yield f"{entry}: this is no folder; a node's files are in a folder of its name"


def _not_plain(folder: Path) -> Iterator[str]:
    """What is there beside files, folders and links that stay on the node; and more than there may be."""
    files = size = 0
    waiting = [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    while waiting and files <= _MOST_FILES:
        for entry in os.scandir(waiting.pop()):
            files += 1
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                waiting.append(entry.path)
            elif stat.S_ISLNK(mode):
                if _leads_out(PurePosixPath(entry.path).relative_to(folder), os.readlink(entry.path)):
                    yield f"{_shown(entry.path)}: this link leads out of the node; link to what is on it"
            elif not stat.S_ISREG(mode):
                yield f"{_shown(entry.path)}: this is no file; remove it"
            elif not os.access(entry.path, os.R_OK):
                yield f"{_shown(entry.path)}: Permission denied; an overlay must be readable"
            else:
                size += entry.stat(follow_symlinks=False).st_size
    if files > _MOST_FILES:
        yield f"{folder}: more than {_MOST_FILES} files; use a folder of what differs"
    if size > _MOST_MIB * 2**20:
        yield f"{folder}: {size // 2**20} MiB; use at most {_MOST_MIB}, for a lab's disks are in memory"


def _leads_out(link: PurePosixPath, target: str) -> bool:
    """Whether a relative target goes up past the node's root. (An absolute one is below it, as nodes see it.)"""
    if target.startswith("/"):
        return False
    depth = len(link.parts) - 2  # folders between the node's root and the link
    for part in PurePosixPath(target).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False


def _shown(name: str) -> str:
    """A name as one may print it: neither line breaks nor what is no text."""
    return name if name.isprintable() else repr(name)
