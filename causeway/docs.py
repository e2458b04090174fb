"""Write the pages of docs/ from what they describe, so that they cannot drift from it.

A lab's page comes from its topology file, a scenario's from its docstring and the sentences of its steps,
the commands' from the tool's own help, the faults' from the docstrings and signatures of their functions,
and the administrator's commands' from their help, around a text that stands beside them. `make docs` writes
them; tests/meta compares them.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import typer

from causeway.cli import app
from causeway.lab.faults.catalogue import FAULTS
from causeway.labhost.folders import REPO
from causeway.model.load import load_site
from causeway.model.site import Port, Site
from causeway.model.topology import ChannelEnd
from causeway.render.graph import mermaid
from causeway.report.result import Phase
from mc import config as mc_config
from mc import keys as mc_keys
from mc import main as mc_main

DOCS = REPO / "docs"
MC = REPO / "images/base/mc/about.md"
#: Folders of docs/ in which every page is a generated one.
_OWN_FOLDERS = ("labs", "scenarios")
#: Generated pages beside them.
_OWN_PAGES = ("commands.md", "faults.md", "mc.md")


def pages() -> dict[str, str]:
    """Every generated page by its path in docs/."""
    found = {"commands.md": commands_page(), "faults.md": faults_page(), "mc.md": mc_page()}
    for file in sorted((REPO / "topologies").glob("*.yaml")):
        found[f"labs/{file.stem}.md"] = lab_page(file)
    for file in sorted((REPO / "scenarios").glob("*.py")):
        found[f"scenarios/{file.stem}.md"] = scenario_page(file)
    return found


def stored() -> dict[str, str]:
    """The pages in docs/ that are there now and that only the generator writes."""
    files = [*(DOCS / page for page in _OWN_PAGES), *(f for name in _OWN_FOLDERS for f in (DOCS / name).glob("*.md"))]
    return {str(f.relative_to(DOCS)): f.read_text() for f in files if f.exists()}


def write() -> None:
    """Bring docs/ to what `pages` says; a page whose source is gone goes, too."""
    wanted, present = pages(), stored()
    for name in present.keys() - wanted.keys():
        (DOCS / name).unlink()
    for name, text in wanted.items():
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / name).write_text(text)


def lab_page(file: Path) -> str:
    """A lab: its file's own header, the drawing, and what the file says as tables."""
    site = load_site(file)
    lines = [f"# Lab {site.name}", "", _made_from(file), "", "```text", *_header(file), "```", ""]
    lines += ["```mermaid", *mermaid(site).splitlines(), "```", ""]
    lines += _section("Networks", "network|addresses|a link's rate|MTU", _networks(site))
    lines += _section("Nodes", "node|cluster|role|switches network", _nodes(site))
    lines += _section("Addresses", "node|interface|network|address|names", _addresses(site))
    lines += _section("Links", "end|end|network|rate|MTU", _links(site))
    lines += ["## Channels", "", "Each end decides by its own hash policy what it sends.", ""]
    lines += _table("end|sends by|members|end|sends by|members|each|LACP rate", _channels(site))
    lines += _section("Routes", "nodes|to|through", _routes(site))
    lines += _section("Services", "service|where", _services(site))
    if site.topology.io_nodes and (DOCS / "labs" / f"{site.name}-boot.log").exists():
        lines += _boot(site)
    return "\n".join(lines)


def _boot(site: Site) -> list[str]:
    """How the I/O nodes boot: the blocks, and one node's console, kept in a file, drawn as a timeline."""
    pool, boot = site.topology.io_nodes, site.topology.services.boot
    assert pool is not None and boot is not None
    log = DOCS / "labs" / f"{site.name}-boot.log"
    lines = ["## Boot", ""]
    lines += [
        f"The I/O nodes are diskless and boot from {boot.server}: address by DHCP, boot image by TFTP, trees by NFS,",
        "then the start scripts of the system's and the site's rc3.d, merged by name. They are booted in blocks:",
        f"`bglallocate BLOCK USER` on {boot.server}; `causeway up` does it for {pool.booted}.",
        "",
    ]
    blocks = ([name, f"`{pattern}`"] for name, pattern in pool.blocks.items())
    lines += _table("block|its I/O nodes, as a pattern", blocks)
    link = f"[{log.name}]({log.name})"
    lines += [f"One node of a block of eight, in milliseconds since power-on (its console: {link}):", ""]
    return [*lines, "```mermaid", *_timeline(log.read_text()), "```", ""]


def _timeline(console: str) -> Iterator[str]:
    """A console's stages as a Mermaid chart; each stage ends where the next begins."""
    stages = {
        "power on": "DHCP",
        "boot image": "TFTP",
        "loaded": "unpack, start",
        "starting ionode": "mount the trees",
        "trees mounted": "start scripts to S14",
        "S15nuttcp": "S15nuttcp to S41fs_mount",
        "boot ended": "",
    }
    at_ms: dict[str, int] = {}
    for line in console.splitlines():
        time, text = line.removeprefix("[").split("] ", 1)
        for mark in stages:
            if mark in text:
                at_ms.setdefault(mark, round(float(time) * 1000))
    yield from ("gantt", "  dateFormat x", "  axisFormat %L ms", "  section boot")
    for (mark, stage), after in zip(stages.items(), list(stages)[1:], strict=False):
        yield f"  {stage} : {at_ms[mark]}, {max(at_ms[after], at_ms[mark] + 1)}"


def scenario_page(file: Path) -> str:
    """A scenario: its docstring, and what its steps say, in the order of the file."""
    tree = ast.parse(file.read_text(), str(file))
    title, *parts = (ast.get_docstring(tree) or "").split("\n\n")
    lines = [f"# {file.stem}", "", _made_from(file), "", f"**{title}**", ""]
    for part in parts:
        text = " ".join(part.split())
        lines += [re.sub(r"^([A-Z][a-z]+): (.)", lambda m: f"**{m[1]}.** {m[2].upper()}", text), ""]
    lines += _section("Steps", "|phase|step", ([str(i), *s] for i, s in enumerate(steps(tree), 1)))
    if any("{" in sentence for _, sentence in steps(tree)):
        lines += ["What stands in braces is filled in when the step is taken, once for each turn of a loop.", ""]
    lines += ["```sh", f"bin/causeway run {file.stem} --clock virtual --seed 1", "```", ""]
    return "\n".join(lines)


def steps(tree: ast.AST) -> list[tuple[str, str]]:
    """(phase, sentence) of every `stage.PHASE("a sentence")` in a scenario, as they stand in the file."""
    phases = {phase.lower(): phase for phase in get_args(Phase)}
    found: list[tuple[int, str, str]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(ast.Name("stage"), verb), args=[sentence, *_]) if verb in phases:
                found.append((node.lineno, phases[verb], _sentence(sentence)))
    return [(phase, text) for _, phase, text in sorted(found)]


def _sentence(text: ast.expr) -> str:
    """The text of a string; what an f-string fills in stays in braces."""
    match text:
        case ast.Constant(value):
            return str(value)
        case ast.JoinedStr(parts):
            return "".join(_sentence(part) for part in parts)
        case ast.FormattedValue(value):
            return f"{{{ast.unparse(value)}}}"
        case _:
            return ast.unparse(text)


def commands_page() -> str:
    """Every command with its arguments and options, as `--help` has them."""
    lines = ["# Commands", "", _made_from(REPO / "causeway" / "cli.py"), ""]
    for name, command in _commands(typer.main.get_command(app)):
        shown = [p for p in command.params if not getattr(p, "hidden", False)]
        arguments = [_argument(p) for p in shown if p.param_type_name == "argument"]
        usage = " ".join(["bin/causeway", name, "[OPTIONS]", *arguments])
        lines += [f"## {name}", "", "```text", usage, "```", "", command.help or "", ""]
        rows = [_parameter(p) for p in shown if getattr(p, "help", None)]
        if rows:
            lines += _table("argument or option|meaning|default", rows)
    return "\n".join(lines)


def mc_page() -> str:
    """The administrator's commands: the text about them, with the tables that it asks for filled in."""
    parts = {
        "commands": _table("command|named after|does|natively", map(_mc_command, mc_commands())),
        "tables": _table("file in `/var/mc/gen`|holds|a line", _mc_tables()),
        "keys": ["```text", *_indented(mc_keys.__doc__ or ""), "```", ""],
        "exit codes": _table("exit code|meaning", re.findall(r"(\d) ([a-z ]+)", mc_main.__doc__ or "")),
    }
    text = MC.read_text()
    for name, lines in parts.items():
        text = text.replace(f"<!-- {name} -->\n", "\n".join(lines))
    title, rest = text.split("\n", 1)
    return f"{title}\n\n{_made_from(MC)}\n{rest}"


def mc_commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Each of the administrator's commands, with a subcommand where it has some (mcauth add), and its parser."""
    for name in mc_main.COMMANDS:
        parser = mc_main.parser(name)
        groups = [a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        for subcommands in groups:
            yield from ((f"{name} {sub}", one) for sub, one in subcommands.items())
        if not groups:
            yield name, parser


def _mc_command(command: tuple[str, argparse.ArgumentParser]) -> list[str]:
    name, parser = command
    does, native = (" ".join((text or "").split()) for text in (parser.description, parser.epilog))
    return [f"`{name}`", f"mm{name[2:]}", does, native.removeprefix("Native: ") or "reads `gen/*`"]


def _mc_tables() -> Iterator[list[str]]:
    yield ["`cluster`", "What the cluster is called, and the node that keeps its configuration.", "key, value"]
    yield ["`settings`", "What mcchconfig sets.", "attribute, value"]
    yield ["`clusters`", "Those that this cluster knows by their public keys, as owner.", "name"]
    for table, row in mc_config.TABLES.items():
        columns = ", ".join(column.name.replace("_", " ") for column in fields(row))
        yield [f"`{table}`", (row.__doc__ or "").splitlines()[0], columns]


def _indented(text: str) -> Iterator[str]:
    """What a docstring has as a list: its indented lines."""
    return (line.removeprefix("    ") for line in text.splitlines() if line.startswith("    "))


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its whole name; of a group, those in it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        elif not command.hidden:
            yield before + name, command


def faults_page() -> str:
    """Every fault: what is wrong then, its parameters, how it is injected, what it triggers, how to look for it."""
    lines = ["# Faults", "", _made_from(REPO / "causeway" / "lab" / "faults"), ""]
    lines += [
        "States that a site should not be in. `causeway fault inject NAME PARAM=VALUE...` brings one about in the lab",
        "that is up, and `causeway fault clear` undoes it. In a scenario `causeway.lab.faults` has them as functions;",
        "each returns its undo. None of them judges: that is the scenario's, or yours.",
        "",
    ]
    for fault in FAULTS.values():
        lines += [f"## {fault.name}", "", fault.state, ""]
        lines += _table("parameter|type|meaning", ([p.name, p.type.__name__, p.kind.meaning] for p in fault.parameters))
        for name, text in (("Injected", fault.injected), ("Triggers", fault.triggers), ("Look", fault.look)):
            lines += [f"**{name}.** {text}", ""]
    return "\n".join(lines)


def _made_from(file: Path) -> str:
    return f"<!-- Made by `make docs` from {file.relative_to(REPO)}; change that, not this page. -->"


def _section(title: str, columns: str, rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"## {title}", "", *_table(columns, rows)]


def _table(columns: str, rows: Iterable[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        escaped = (cell.replace("|", "\\|") for cell in cells)
        return f"| {' | '.join(escaped)} |"

    heads = columns.split("|")
    return [line(heads), line(["---"] * len(heads)), *map(line, rows), ""]


def _header(file: Path) -> Iterator[str]:
    """The comment at the top of a file, without its signs."""
    for line in file.read_text().splitlines():
        if not line.startswith("#"):
            return
        yield line.removeprefix("#").removeprefix(" ").rstrip()


def _rate(site: Site, network: str) -> str:
    return f"{site.topology.networks[network].rate_mbit} Mbit/s"


def _networks(site: Site) -> Iterator[list[str]]:
    for name, network in site.topology.networks.items():
        yield [name, str(network.subnet), _rate(site, name), str(network.mtu)]


def _nodes(site: Site) -> Iterator[list[str]]:
    for name, node in site.nodes.items():
        kind = f" ({site.topology.clusters[node.cluster].kind})" if node.cluster else ""
        yield [name, f"{node.cluster or ''}{kind}", node.role, node.switch or ""]


def _addresses(site: Site) -> Iterator[list[str]]:
    for name, node in site.nodes.items():
        for device, leg in node.interfaces.items():
            length = site.topology.networks[leg.network].subnet.prefixlen
            yield [name, device, leg.network, f"{leg.address}/{length}", ", ".join(leg.names)]


def _links(site: Site) -> Iterator[list[str]]:
    for cable in site.cables:
        if site.channel_of(cable.a) is None:
            mtu = str(site.mtu(cable.a))
            yield [str(cable.a), str(cable.b), cable.network, _rate(site, cable.network), mtu]


def _channels(site: Site) -> Iterator[list[str]]:
    def end(one: ChannelEnd) -> list[str]:
        return [f"{one.node}:{one.name}", one.hash_policy, " ".join(one.members)]

    for channel in site.topology.channels:
        a, b = channel.ends
        each = _rate(site, site.network_of(Port(a.node, a.members[0])))
        yield [*end(a), *end(b), each, channel.lacp_rate]


def _routes(site: Site) -> Iterator[list[str]]:
    """One row a route for the nodes that follow each other and have the same routes."""
    owners = {leg.address: name for name, node in site.nodes.items() for leg in node.interfaces.values()}
    for routes, group in groupby(site.nodes.items(), key=lambda item: item[1].routes):
        names = ", ".join(dict.fromkeys("I/O nodes" if node.role == "ion" else name for name, node in group))
        for route in routes:
            if isinstance(route.to, str):
                to = f"{route.to}: {site.topology.networks[route.to].subnet}"
            else:
                to = f"{route.to} ({owners[route.to]})"
            yield [names, to, f"{route.via} ({owners[route.via]})"]


def _services(site: Site) -> Iterator[list[str]]:
    services = site.topology.services
    for dns in services.dns:
        yield ["DNS", f"{dns.server} serves {site.topology.domain} to the nodes of {dns.cluster}"]
    if services.ntp:
        yield ["NTP", f"{services.ntp.server} gives the time to the other nodes of {services.ntp.cluster}"]
    if services.boot:
        boot = services.boot
        size = f"{boot.nfs_threads} NFS threads, leases of {boot.lease_s} s, {boot.var_mib} MiB for the nodes' own /var"
        yield ["boot", f"{boot.server} boots the I/O nodes: {size}"]
    for key, value in services.sysctl.items():
        yield ["sysctl", f"{key} = {value}"]


def _argument(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _parameter(parameter: Any) -> list[str]:
    if parameter.param_type_name == "argument":
        return [f"`{_argument(parameter)}`", parameter.help, _default(parameter)]
    value = "" if parameter.is_flag else " " + parameter.name.upper()
    return [f"`{parameter.opts[0]}{value}`", parameter.help, _default(parameter)]


def _default(parameter: Any) -> str:
    return "" if parameter.default in (None, False) else f"`{parameter.default}`"


if __name__ == "__main__":
    write()
    sys.stderr.write(f"docs: {len(stored())} pages\n")
