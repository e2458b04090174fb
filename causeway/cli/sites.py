"""Commands that start no lab: what this machine has, and what a site's file says."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from causeway import errors
from causeway.cli import complete, tables
from causeway.cli.command import AsJson, Count, Topology, counts
from causeway.cli.screen import out, print_json, progress, show, tell
from causeway.errors import BadInput
from causeway.folders import DEFAULT_SITE, site_file
from causeway.hosts import artefacts, needs
from causeway.hosts.host import ensure_images
from causeway.lab.deploy import write
from causeway.model import schema as model_schema
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.plan.choices import Party, choices, find
from causeway.plan.paths import Ambiguous, Unreachable
from causeway.render import graph as drawing
from causeway.render import site as rendering
from causeway.render.drawing.page import page
from causeway.render.drawing.svg import svg
from causeway.render.secrets import Secrets
from causeway.report import load


def doctor(as_json: AsJson = False) -> None:
    """Say what this machine has and lacks, and which lab host it gets, and why."""
    chosen, why = needs.choose()
    groups = {"uml": needs.uml_needs(), "native": needs.native_needs()}
    if as_json:
        rows = {
            host: [{"what": n.what, "found": n.found, "detail": n.detail, "remedy": n.remedy} for n in group]
            for host, group in groups.items()
        }
        print_json({"lab_host": chosen, "why": why, "needs": rows})
    else:
        for host, group in groups.items():
            out.print(tables.needs(host, group))
        show(f"This machine gets the lab host {chosen}: {why}.")
    if any(need.lacking for need in groups[chosen]):
        raise typer.Exit(errors.EXIT_BAD_INPUT)


def build() -> None:
    """Build and cache what a lab host is made of (`up` and `run` do it where it is missing)."""
    with progress() as say:
        ensure_images(say)
    for artefact in artefacts.ALL:
        tell(f"{artefact.about}: {artefact.folder}")


def render(
    lab: Topology = DEFAULT_SITE,
    to: Annotated[Path, typer.Option(help="folder to write to; it must not exist")] = Path("rendered"),
    count: Count = None,
) -> None:
    """Write the containerlab file and every node's files of a site, and start nothing."""
    site = load_site(site_file(lab), counts(site_file(lab), count))
    if to.exists():
        raise BadInput(f"{to} exists; name a folder that does not, with --to")
    write(rendering.render(site, Secrets(site)), to)
    tell(f"rendered {site.name} ({len(site.nodes)} nodes) into {to}")


class Form(StrEnum):
    """What a site can be drawn as."""

    mermaid = "mermaid"
    svg = "svg"
    html = "html"


_DRAW = {Form.mermaid: drawing.mermaid, Form.svg: svg, Form.html: page}


def graph(
    lab: Topology = DEFAULT_SITE,
    count: Count = None,
    form: Annotated[
        Form, typer.Option("--format", help="mermaid, svg, or html: a page that shows paths")
    ] = Form.mermaid,
    run: Annotated[
        Path | None, typer.Option(metavar="RUN", help="html: with what the links carried in a run (its folder)")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw a site: clusters, nodes, links and channels as a diagram in one file, or as JSON."""
    site = load_site(site_file(lab), counts(site_file(lab), count))
    if run is not None:
        if form is not Form.html or as_json:
            raise BadInput("--run: what a run's links carried is shown by --format html alone")
        sys.stdout.write(page(site, load.read(run)))
    elif as_json:
        print_json(drawing.as_data(site))
    else:
        sys.stdout.write(_DRAW[form](site))


def schema() -> None:
    """Print the form of a site's file as a JSON schema, for editors (docs/sites.md says how)."""
    sys.stdout.write(model_schema.text())


def hash_(
    one: Annotated[str, typer.Argument(metavar="FROM:PORT", help="a node, a host name or an address, and its port")],
    other: Annotated[str, typer.Argument(metavar="TO:PORT", help="the other end of the connection")],
    lab: Annotated[
        str,
        typer.Option(
            "--lab", metavar="SITE", help="a shipped site's name, or its file", autocompletion=complete.shipped
        ),
    ] = DEFAULT_SITE,
    count: Count = None,
    as_json: AsJson = False,
) -> None:
    """Say by which member each end of the channels on the way sends a TCP connection, for each policy."""
    site = load_site(site_file(lab), counts(site_file(lab), count))
    found: list[Party] = []
    mistakes: list[str] = []
    for words in one, other:
        try:
            found.append(_party(site, words))
        except LookupError as error:
            mistakes.append(f"{words}: {error.args[0]}")
    if mistakes:
        raise BadInput("\n".join(mistakes))
    try:
        chosen = choices(site, found[0], found[1])
    except (Unreachable, Ambiguous) as error:
        raise BadInput(f"{one} {other}: {error}") from None
    if as_json:
        print_json({"lab": site.name, "ends": [choice.as_data() for choice in chosen]})
    elif chosen:
        for table in tables.choices(chosen):
            out.print(table)
    else:
        tell(f"no channel lies between {found[0].node} and {found[1].node} in {site.name}")


def _party(site: Site, words: str) -> Party:
    """One end of a connection from NAME:PORT; LookupError with what would be right."""
    name, _, port = words.rpartition(":")
    if not name or not port.isdecimal() or not 0 < int(port) < 65536:
        raise LookupError("say NAME:PORT, with a port from 1 to 65535")
    return Party(*find(site, name), int(port))
