"""Read a change of a site: another version of its file, a patch of it, native files, or commands."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from causeway.errors import BadInput, Problem
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.yaml_text import Text
from causeway.rehearse.commands import apply
from causeway.rehearse.keys import Keys, is_about_keys
from causeway.rehearse.lacks import Overlay
from causeway.rehearse.overlay import apply_overlay, read_overlay
from causeway.rehearse.state import Fails, NotPredicted, State

_YAML = (".yaml", ".yml")
_COMMAND = re.compile(r"(?P<nodes>[^\s#]+)#\s+(?P<command>\S.*)")
_CARRIED = re.compile(r"(?P<source>[^\s:#]+):(?P<path>/\S+)\s+>\s+(?P<node>[^\s:#]+):(?P<to>/\S+)")


@dataclass(frozen=True)
class Step:
    """A line of a file of commands, on the nodes that it is for, and the site and its clusters' keys after it."""

    line: int
    nodes: list[str]
    command: str
    after: Site
    keys: Keys


@dataclass(frozen=True)
class Carried:
    """A file that is carried by hand: from a node's path to another node's."""

    source: str
    path: str
    node: str
    to: str

    def __str__(self) -> str:
        return f"{self.source}:{self.path} > {self.node}:{self.to}"


def carried(line: str) -> Carried | None:
    """A line of a file of commands that has a file carried; None for one that is typed."""
    found = _CARRIED.fullmatch(line)
    return Carried(**found.groupdict()) if found else None


@dataclass(frozen=True)
class Change:
    """A site before and after; `overlay` are the files that nodes then have in place of rendered ones.

    `fails` are commands that would be refused, `unpredicted` what of the change is not interpreted.
    """

    before: Site
    after: Site
    overlay: Overlay = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    fails: list[str] = field(default_factory=list)
    unpredicted: list[str] = field(default_factory=list)


def read_change(file: Path, counts: Mapping[str, int] | None, change: Path) -> Change:
    """What a change makes of a site. Raises BadInput with all mistakes of both.

    A folder has native files as NODE/PATH. A YAML file with `lab` is another version of the site's file, and one
    without a patch of it (RFC 7396). Any other file has commands, a line each: `NODE# COMMAND`, or files that are
    carried by hand: `NODE:PATH > NODE:PATH`.
    """
    before = load_site(file, counts)
    if change.is_dir():
        return _of_folder(before, change)
    if change.suffix not in _YAML:
        return _of_commands(before, change)
    whole = "lab" in Text(change).data
    after = load_site(change, counts) if whole else load_site(file, counts, change)
    if after.name != before.name:
        raise BadInput(
            f"{change}: this is site {after.name}, and {file} is {before.name}; compare versions of one site"
        )
    return Change(before, after)


def _of_folder(before: Site, folder: Path) -> Change:
    overlay, said = read_overlay(before, folder)
    state = State(before)
    said += apply_overlay(state, overlay)
    fails = [text for text in said if " fails: " in text]
    return Change(before, state.site, overlay, [], fails, [text for text in said if text not in fails])


def _of_commands(before: Site, file: Path) -> Change:
    state, keys = State(before), Keys(before)
    steps: list[Step] = []
    fails: list[str] = []
    unpredicted: list[str] = []
    for line, nodes, command in read_commands(before, file):
        for node in nodes:
            try:
                if (file_is := carried(command)) is not None:
                    keys = keys.carried(file_is.source, file_is.path, node, file_is.to)
                elif is_about_keys(command):
                    keys = keys.done(node, command)
                else:
                    apply(state, node, command)
            except Fails as why:
                fails.append(f"{file}:{line}: {node}# {command} fails: {why}")
            except NotPredicted as why:
                unpredicted.append(f"{file}:{line}: {node}# {command}: {why}")
        steps.append(Step(line, nodes, command, state.site, keys))
    return Change(before, state.site, {}, steps, fails, unpredicted)


def read_commands(site: Site, file: Path) -> list[tuple[int, list[str], str]]:
    """Each line of a file of commands: its number, the nodes that its pattern stands for, the command.

    NODE may be a pattern as a shell has it; # begins a comment. Of a file that is carried, the command is the whole
    line, and the node is who gets it. BadInput names every line that is none.
    """
    try:
        text = file.read_text()
    except OSError as error:
        raise BadInput(
            f"{file}: {error.strerror}; name a site's file, a patch, a folder or a file of commands"
        ) from None
    except UnicodeDecodeError:
        raise BadInput(
            f"{file}: this is no text; name a site's file, a patch, a folder or a file of commands"
        ) from None
    found: list[tuple[int, list[str], str]] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if (file_is := carried(line.strip())) is not None:
            for name in (file_is.source, file_is.node):
                if name not in site.nodes:
                    what = f"no node is called {name}"
                    problems.append(Problem(str(file), number, "-", what, "use a node's name"))
            found.append((number, [file_is.node], line.strip()))
            continue
        parts = _COMMAND.fullmatch(line.strip())
        if parts is None:
            problems.append(Problem(str(file), number, "-", "this is no command of a node", "write NODE# COMMAND"))
            continue
        nodes = [name for name in site.nodes if fnmatchcase(name, parts["nodes"])]
        if not nodes:
            what = f"no node is called {parts['nodes']}"
            problems.append(Problem(str(file), number, "-", what, "use a node's name, or a pattern of names"))
        found.append((number, nodes, parts["command"]))
    if problems:
        raise BadInput(problems)
    if not found:
        raise BadInput(f"{file}: there is no command in it; write NODE# COMMAND, a line each")
    return found
