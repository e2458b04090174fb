"""A scenario's page, from its docstring, the sentences of its steps, and who plays it on the labs."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

from causeway.docs.markdown import made_from, section
from causeway.folders import site_file, sites
from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.report.result import Phase
from causeway.scenario.playbill import billing
from causeway.scenario.runner import load


def scenario_page(file: Path) -> str:
    """A scenario: its docstring, and what its steps say, in the order of the file."""
    tree = ast.parse(file.read_text(), str(file))
    title, *parts = (ast.get_docstring(tree) or "").split("\n\n")
    lines = [f"# {file.stem}", "", made_from(file), "", f"**{title}**", ""]
    for part in parts:
        text = " ".join(part.split())
        lines += [re.sub(r"^([A-Z][a-z]+): (.)", lambda m: f"**{m[1]}.** {m[2].upper()}", text), ""]
    lines += section("Steps", "|phase|step", ([str(i), *s] for i, s in enumerate(steps(tree), 1)))
    if any("{" in sentence for _, sentence in steps(tree)):
        lines += ["What stands in braces is filled in when the step is taken, once for each turn of a loop.", ""]
    lines += section("Who plays it", "lab|in the order of the parts, or why nobody can", _players(file))
    lines += ["```sh", f"bin/causeway run {file.stem} --clock virtual --seed 1", "```", ""]
    return "\n".join(lines)


def _players(file: Path) -> Iterator[list[str]]:
    """A lab with its players."""
    scenario = load(file.stem)
    for name in sites():
        yield [f"[{name}](../labs/{name}.md)", billing(scenario, _site(name)).line]


@cache
def _site(lab: str) -> Site:
    return load_site(site_file(lab))


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
