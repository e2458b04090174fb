"""Commands that take a site from production: the script that says what a node is, and what is made of its outputs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from causeway.cli.screen import tell
from causeway.collect.importing import import_site
from causeway.collect.output import SCRIPT


def collect() -> None:
    """Print the script that says what a node is, to be run by root on each (docs/collect.md); it writes nothing."""
    sys.stdout.write(SCRIPT.read_text())


def import_(
    folder: Annotated[Path, typer.Argument(help="what that script printed, a file a node")],
    to: Annotated[Path, typer.Option(help="folder of the site to be made; it must not exist")],
) -> None:
    """Make a site of what nodes said of themselves, and say what in it is a guess."""
    draft = import_site(folder, to)
    for finding in draft.findings:
        tell(finding)
    tell(
        f"imported {len(draft.data['nodes'])} nodes into {to}: {len(draft.questions)} questions, "
        f"{len(draft.findings)} findings; see {to / 'about.md'}"
    )
