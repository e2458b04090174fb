"""Commands for a lab that people work in: bring it up, look at it, end it."""

from time import monotonic
from typing import Annotated

import typer

from causeway import folders
from causeway.cli import complete, hints, inside
from causeway.cli.command import (
    AsJson,
    Clock,
    Count,
    LabName,
    Node,
    Overlay,
    Seat,
    Topology,
    counts,
    lab_of,
    pass_on,
    pass_on_as_typed,
)
from causeway.cli.screen import progress, tell
from causeway.errors import BadInput
from causeway.folders import DEFAULT_SITE, site_file
from causeway.hosts import asking, host, templates
from causeway.hosts.labs import refuse_a_second
from causeway.hosts.native import NativeHost
from causeway.lab.deploy import Deployment
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.render.overlay import check_overlay


def up(
    lab: Topology = DEFAULT_SITE,
    count: Count = None,
    overlay: Overlay = None,
    clock: Clock = "paced",
    quiet: Annotated[bool, typer.Option(help="no tables at the end")] = False,
) -> None:
    """Bring a lab up: build what is missing, start the lab host, deploy, wait until all is sound."""
    wanted = Deployment(site_file(lab), counts(site_file(lab), count), overlay, clock or "real")
    pass_on(lambda: _bring_up(wanted, quiet=quiet))
    with progress() as say:
        inside.up(wanted, say, quiet=quiet)


def _bring_up(wanted: Deployment, *, quiet: bool) -> int:
    begun = monotonic()
    site = load_site(wanted.topology, wanted.counts)
    if wanted.overlay is not None:
        check_overlay(wanted.overlay, site.nodes, site.diskless())
    chosen, why = host.choose(wanted.clock)
    tell(f"lab host: {chosen}, because {why}" if wanted.clock != "real" else "lab host: native, as asked")
    if wanted.clock == "virtual":
        raise BadInput("an idle lab in virtual time runs ahead of you; use --clock paced, or `causeway run`")
    if chosen == "native":
        rc = NativeHost(site.name).do(["up", *wanted.words(), "--clock", wanted.clock, *(["--quiet"] if quiet else [])])
    else:
        rc = _bring_up_uml(site, wanted, quiet=quiet)
    if rc == 0:
        tell(f"up in {monotonic() - begun:.0f} s")
        for line in hints.after_up(site, wanted.topology):
            tell(line)
    return rc


def _bring_up_uml(site: Site, wanted: Deployment, *, quiet: bool) -> int:
    with progress() as say:
        host.ensure_images(say)
    host.warn_of_the_jail(tell)
    refuse_a_second(folders.state() / site.name)
    template, rc = host.template(wanted, site, tell)
    if rc:
        return rc
    with host.of_a_template(template, site.name, None, tell, stays=True) as lab:
        if quiet:
            lab.ask(asking.STAY)
        elif rc := lab.do(["status"], begin=lambda: lab.ask(asking.STAY)):
            lab.end(graceful_s=0)
    return rc


def down(
    lab: Annotated[
        str | None, typer.Argument(metavar="[LAB]", help="default: every lab", autocompletion=complete.labs)
    ] = None,
) -> None:
    """End a lab and remove all that it left, also after a kill; doing it twice is fine."""
    pass_on(lambda: _end(lab))
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
    cut = words.index("--")
    raise typer.Exit(inside.execute(lab, words[:cut], words[cut + 1 :], as_json=as_json))


def shell(context: typer.Context, node: Node, lab: LabName = None, seat: Seat = None) -> None:
    """Open a shell on a node: a real terminal, with job control."""
    pass_on_as_typed(context, lab if host.inside() else lab_of(lab, seat), terminal=True)
    inside.shell(lab, node)


def console(
    context: typer.Context,
    node: Node,
    lab: LabName = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="go on until interrupted")] = False,
) -> None:
    """Show a diskless node's console since it was last switched on."""
    pass_on_as_typed(context, lab)
    inside.console(lab, node, follow=follow)


def reboot(context: typer.Context, node: Node, lab: LabName = None) -> None:
    """Reboot a node: it comes up with what is on its disk, as after `reboot` typed on it, and this waits for that.

    Daemons and mounts of parallel filesystems come up as at home, by `mcstartup` and `mcmount`.
    """
    pass_on_as_typed(context, lab)
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
    raise typer.Exit(inside.show_drift(lab, nodes or [], as_json=as_json))
