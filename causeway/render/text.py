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


#: path -> file
Files = dict[str, File]


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def fill(template: str, **values: object) -> str:
    """The text of a template in this folder."""
    return _templates().get_template(template).render(**values)
