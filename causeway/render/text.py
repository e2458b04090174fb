"""Rendered files, and the templates that they are made from."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


@dataclass(frozen=True)
class File:
    """A rendered file's text and permission bits."""

    text: str
    mode: int = 0o644


#: What lies on nodes as it stands there; a file NAME.j2 is filled in and becomes NAME.
NODES = Path(__file__).parents[2] / "nodes"
#: path -> file
Files = dict[str, File]


#: Files to which several may add lines of their own.
_TABLES = ("etc/fstab",)


def together(*parts: Files) -> Files:
    """All files of several parts; ValueError where two have the same path, but for tables, which are joined."""
    whole: Files = {}
    for part in parts:
        for path, file in part.items():
            if path in whole and not path.endswith(_TABLES):
                raise ValueError(f"{path} is rendered twice")
            whole[path] = File(whole[path].text + file.text, file.mode) if path in whole else file
    return whole


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader([Path(__file__).parent, NODES]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def fill(template: str, **values: object) -> str:
    """The text of a template in this folder or in nodes/."""
    return _templates().get_template(template).render(**values)
