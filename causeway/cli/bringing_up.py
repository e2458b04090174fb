"""The command that brings up a lab that people work in.

What only the lab host does is imported when it is done there, and what comes after all when that is.
"""

from time import monotonic
from typing import Annotated

import typer

from causeway import folders
from causeway.cli.command import Clock, Count, Overlay, Topology, counts, pass_on
from causeway.cli.screen import progress, tell
from causeway.errors import BadInput
from causeway.folders import DEFAULT_SITE, site_file
from causeway.hosts import asking, host
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
        from causeway.cli import inside

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
        from causeway.cli import hints

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
