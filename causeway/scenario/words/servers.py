"""A filesystem's servers, for scenarios: the level of their software, and whether they are whole."""

from collections.abc import Iterator
from contextlib import contextmanager

from causeway.lab.changes.change import Change
from causeway.lab.changes.files import file_changed
from causeway.lab.filesystems import driver_of
from causeway.lab.filesystems.administrators import mc, member, place, rows
from causeway.scenario.stage import Stage
from causeway.scenario.words.mounts import due_mounts, mounted

#: A file of the commands on each server, and an update of it that changes nothing but its bytes.
_UPDATED, _UPDATE = "/usr/lpp/mc/mc/table.py", "# updated\n"


def levels(stage: Stage, filesystem: str) -> dict[str, str]:
    """The level of each server's software, as its owner's administrator is told."""
    lab, owner = stage.lab, stage.site.topology.filesystems[filesystem].owner
    said = {row["node_name"]: row["level"] for row in rows(lab, place(lab, owner), "mcgetstate", "-a", "-L")}
    return {server: said[member(lab, server)] for server in stage.site.servers(filesystem)}


def updated(stage: Stage, server: str) -> Change:
    """A server's software has another level."""
    return file_changed(stage.lab, server, _UPDATED, stage.lab.read(server, _UPDATED) + _UPDATE)


@contextmanager
def shut_down(stage: Stage, server: str) -> Iterator[None]:
    """Have its administrator shut a server's daemon down; at the end it is started again."""
    mc(stage.lab, server, "mcshutdown").must()
    yield
    mc(stage.lab, server, "mcstartup").must()


def due_whole(stage: Stage, client: str, filesystem: str) -> tuple[str, int]:
    """What `whole` says where nothing is missing."""
    return due_mounts(stage, client)[filesystem], 0


def whole(stage: Stage, client: str, filesystem: str) -> tuple[str, int]:
    """How many servers a client reaches ("4 of 4"), and how many entries they have yet to heal."""
    return mounted(stage, client)[filesystem], driver_of(stage.lab, filesystem).unhealed(stage.lab, filesystem)


def heal(stage: Stage, filesystem: str) -> None:
    """Its administrator has the servers heal at once what they have missed."""
    driver_of(stage.lab, filesystem).heal(stage.lab, filesystem)


def agree(stage: Stage, client: str, filesystem: str) -> None:
    """Have servers agree on the times of its topmost directory by a write there, and then heal it.

    A driver may keep these times on each server. GlusterFS does (`trusted.glusterfs.mdata`), and its healing ends with
    an I/O error where servers were away in turn, so that no time is found on as many of them as hold a file's data.
    """
    file = f"{stage.site.topology.filesystems[filesystem].mount_point}/agreed"
    stage.lab.on(client, "sh", "-c", f"touch {file} && rm {file}").must()
    heal(stage, filesystem)
