"""Commands for machines without a network: all that was built as one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from causeway.cli.screen import progress, tell
from causeway.hosts import bundle as bundles


def bundle(file: Annotated[Path, typer.Argument(metavar="FILE", help="to be made; it must not exist")]) -> None:
    """Make one file of all that was built, and of the Python packages, for a machine without a network."""
    with progress() as say:
        bundles.write(file, say)
    tell(f"{file}: {file.stat().st_size / 2**20:.0f} MiB; on the other machine: bin/causeway unbundle {file.name}")


def unbundle(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="what `bundle` has made")],
) -> None:
    """Make this machine ready from a bundle of this version of Causeway; what is there already stays."""
    with progress() as say:
        new = bundles.read(file, say)
    tell(f"new in the cache: {', '.join(new) or 'nothing'}")
