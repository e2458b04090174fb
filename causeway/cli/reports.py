"""What runs have found, once more."""

from pathlib import Path
from typing import Annotated

import typer

from causeway import folders
from causeway.cli.command import AsJson
from causeway.cli.screen import err, out, print_json, tell
from causeway.errors import BadInput
from causeway.report import console, merge
from causeway.report.files import link_latest
from causeway.report.result import to_json


def report(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN]...", help="folders of runs; default: runs/latest")
    ] = None,
    several: Annotated[
        bool, typer.Option("--merge", help="make one run of several, in a folder of its own in runs/")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a run has found, or make one run of the parts that `run --shard` has played.

    Exit codes: the run's own.
    """
    wanted = runs or [folders.runs() / "latest"]
    if several:
        shown = merge.merge(wanted, folders.runs())
        link_latest(folders.runs())
        tell(f"report: {folders.runs() / shown.id / 'report.html'}")
    elif len(wanted) > 1:
        raise BadInput(f"{len(wanted)} runs: name one, or make one of them with --merge")
    else:
        shown = merge.read(wanted[0])
    if as_json:
        print_json(to_json(shown))
    console.show(shown, err if as_json else out)
    raise typer.Exit(shown.exit_code)
