"""A node's files: where its links lead."""

from pathlib import Path

import pytest

from causeway.errors import LabBroken
from causeway.lab.rooted import inside

#: link on the node -> where it leads; what is asked for -> which file that is.
LINKS = {
    "var/run": "/run",
    "tmp/nodefile": "/etc/shadow",
    "tmp/out": "../../../../../../etc/shadow",
    "etc/resolv.conf": "../run/resolv.conf",
    "run/a": "b",
    "run/b": "c",
    "proc": "/nowhere",
}
FILES = {
    "/var/run/node-state": "run/node-state",
    "/tmp/nodefile": "etc/shadow",
    "/tmp/out": "etc/shadow",
    "/etc/resolv.conf": "run/resolv.conf",
    "/run/a": "run/c",
    "/../../etc/shadow": "etc/shadow",
    "/run/./new//file": "run/new/file",
    "run/new": "run/new",
    "/proc/self": "nowhere/self",
    "": "",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for link, target in LINKS.items():
        at = tmp_path / link
        at.parent.mkdir(parents=True, exist_ok=True)
        at.symlink_to(target)
    (tmp_path / "run").mkdir(exist_ok=True)
    return tmp_path


@pytest.mark.parametrize("path", FILES)
def test_a_nodes_links_lead_to_its_own_files(path: str, root: Path) -> None:
    assert inside(root, path) == root / FILES[path]


def test_links_that_lead_round_in_a_circle_are_told(root: Path) -> None:
    (root / "run/c").symlink_to("a")
    with pytest.raises(LabBroken, match="/run/a: Too many levels of symbolic links"):
        inside(root, "/run/a")
