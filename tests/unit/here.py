"""A lab whose every node is this machine: commands run here, and paths are this machine's (in a test's own folder)."""

from collections.abc import Sequence
from pathlib import Path

from causeway.folders import REPO
from causeway.lab.lab import Lab
from causeway.model.load import load_site

SITE = load_site(REPO / "topologies" / "jubl" / "site.yaml")


class Here(Lab):
    """For changes and stages, which need something that can be changed, and no node."""

    def enter(self, node: str, argv: Sequence[str]) -> list[str]:  # noqa: ARG002
        return list(argv)

    plug = enter

    def file(self, node: str, path: str) -> Path:  # noqa: ARG002
        return Path(path)


def here(folder: Path) -> Here:
    return Here(SITE, folder)
