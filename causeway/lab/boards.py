"""Whose process is the first of a node's own system, and how to get a terminal there.

A diskless node's container holds its board, powered or not; what has booted on it is the board's only child.
"""

import re
from pathlib import Path

from causeway.model.site import Site


def root(site: Site, node: str, container: int) -> int | None:
    """The first process of a node's own system, from its container's; None when it is off."""
    return container if _by_itself(site, node) else _first_child(container)


def state(site: Site, node: str, container: int) -> str:
    """How far a node's start is, in its own words."""
    if not _by_itself(site, node) and (pid := _first_child(container)) is not None:
        return _read(f"/proc/{pid}/root/run/node-state") or "booting"
    return _read(f"/proc/{container}/root/run/node-state") or "starting"


def shell(site: Site, node: str, first: int) -> list[str]:
    """What runs a login shell in a node's container, on the node's own system, whose first process is given."""
    if _by_itself(site, node):
        return ["bash", "-l"]
    numbers = re.search(r"^NSpid:(.*)$", Path(f"/proc/{first}/status").read_text(), re.MULTILINE)
    assert numbers is not None  # one number a namespace of processes, the node's own is the last
    return ["nsenter", "-m", "-u", "-i", "-p", "-t", numbers[1].split()[-2], "sh", "-l"]


def _by_itself(site: Site, node: str) -> bool:
    return site.pool_name(node) not in site.boot_pools()


def _first_child(pid: int) -> int | None:
    """A board's only child is the first process of what has booted on it (or of the firmware, before that)."""
    children = _read(f"/proc/{pid}/task/{pid}/children").split()
    return int(children[0]) if children else None


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
