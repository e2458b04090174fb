"""Commands for a lab that people work in: look at it, work in it, end it.

What only the lab host does is imported when it is done there: outside it would take longer to load than all else.
"""

from time import monotonic
from typing import Annotated

import typer

from causeway.cli import complete
from causeway.cli.command import AsJson, LabName, Node, Seat, lab_of, pass_on, pass_on_as_typed
from causeway.cli.screen import tell
from causeway.errors import BadInput
from causeway.hosts import host, templates


def down(
    lab: Annotated[
        str | None, typer.Argument(metavar="[LAB]", help="default: every lab", autocompletion=complete.labs)
    ] = None,
) -> None:
    """End a lab and remove all that it left, also after a kill; doing it twice is fine."""
    pass_on(lambda: _end(lab))
    from causeway.cli import inside

    inside.down(lab)


def _end(lab: str | None) -> int:
    begun = monotonic()
    ended = []
    for one in host.every():
        if lab in (None, one.name):
            one.end(graceful_s=0)
            ended.append(one.name)
    for one in templates.coming():
        if lab in (None, one.about["lab"]):
            one.end(graceful_s=0)
            ended.append(one.name)
    host.sweep()
    tell(f"ended: {', '.join(ended) or 'nothing'} ({monotonic() - begun:.1f} s)")
    return 0


def status(context: typer.Context, lab: LabName = None, as_json: AsJson = False) -> None:
    """Show the nodes, links and channels of the lab that is up."""
    pass_on_as_typed(context, lab)
    from causeway.cli import inside

    inside.show_status(lab, as_json=as_json)


def exec_(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="NODE... -- COMMAND...", autocompletion=complete.nodes_before_command)
    ],
    lab: LabName = None,
    as_json: AsJson = False,
) -> None:
    """Run a command on nodes, side by side (`all`: on every node). Ends with the highest exit code.

    It waits for what the command leaves behind with its output open, too, and for ten minutes at most.
    """
    if words[-1] == "--json":  # as the last word it is ours, not the command's
        words, as_json = words[:-1], True
    if "--" not in words or not words[: words.index("--")] or words[-1] == "--":
        raise BadInput("say which nodes and which command: causeway exec NODE... -- COMMAND...")
    pass_on_as_typed(context, lab)
    from causeway.cli import inside

    cut = words.index("--")
    raise typer.Exit(inside.execute(lab, words[:cut], words[cut + 1 :], as_json=as_json))


def shell(context: typer.Context, node: Node, lab: LabName = None, seat: Seat = None) -> None:
    """Open a shell on a node: a real terminal, with job control."""
    pass_on_as_typed(context, lab if host.inside() else lab_of(lab, seat), terminal=True)
    from causeway.cli import inside

    inside.shell(lab, node)


def console(
    context: typer.Context,
    node: Node,
    lab: LabName = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="go on until interrupted")] = False,
) -> None:
    """Show a diskless node's console since it was last switched on."""
    pass_on_as_typed(context, lab)
    from causeway.cli import inside

    inside.console(lab, node, follow=follow)


def reboot(context: typer.Context, node: Node, lab: LabName = None) -> None:
    """Reboot a node: it comes up with what is on its disk, as after `reboot` typed on it, and this waits for that.

    Daemons and mounts of parallel filesystems come up as at home, by `mcstartup` and `mcmount`.
    """
    pass_on_as_typed(context, lab)
    from causeway.cli import inside

    inside.reboot(lab, node)


def drift(
    context: typer.Context,
    nodes: Annotated[
        list[str] | None, typer.Argument(metavar="[NODE]...", help="default: all", autocompletion=complete.nodes)
    ] = None,
    lab: LabName = None,
    as_json: AsJson = False,
) -> None:
    """Show what runs on nodes and is in none of their files, or is in these alone: what a reboot would change.

    Compared are addresses, MTUs, static routes, channels (/etc/network/interfaces) and tunables (/etc/sysctl.d), of
    nodes with disks. Exit codes: 0 nothing, 1 something.
    """
    pass_on_as_typed(context, lab)
    from causeway.cli import inside

    raise typer.Exit(inside.show_drift(lab, nodes or [], as_json=as_json))
