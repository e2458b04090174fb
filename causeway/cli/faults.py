"""Commands for faults: what there is, bring one about, undo it."""

from typing import Annotated

import typer

from causeway.cli import complete, inside
from causeway.cli.command import AsJson, LabName, pass_on_as_typed
from causeway.cli.screen import out, print_json, show
from causeway.lab.faults.catalogue import FAULTS

app = typer.Typer(help="Faults for training: what there is, bring one about, undo it.", no_args_is_help=True)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """Show every fault with its parameters, and how to look for its effect."""
    if as_json:
        print_json([fault.as_data() for fault in FAULTS.values()])
        return
    for fault in FAULTS.values():
        out.print(" ".join([fault.name, *(f"{p.name}=..." for p in fault.parameters)]), style="bold")
        for line in (fault.state, *(f"{p.name}: {p.kind.meaning}" for p in fault.parameters), f"Look: {fault.look}"):
            show(line, indent=4)


@app.command()
def inject(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="as `fault list` has it", autocompletion=complete.faults)],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PARAM=VALUE]...", help="its parameters", autocompletion=complete.parameters),
    ] = None,
    lab: LabName = None,
) -> None:
    """Bring a fault about in the lab that is up; says how to look for it, and not what it did."""
    pass_on_as_typed(context, lab)
    inside.inject(lab, name, words or [])


@app.command()
def clear(
    context: typer.Context,
    which: Annotated[str, typer.Argument(metavar="[ID|all]", help="what `inject` said")] = "all",
    lab: LabName = None,
) -> None:
    """Undo a fault, or every one, the last one first; doing it twice is fine."""
    pass_on_as_typed(context, lab)
    inside.clear(lab, which)
