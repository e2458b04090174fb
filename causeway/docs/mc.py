"""The page of the administrator's commands, from their help, around a text that stands beside them."""

import argparse
import re
from collections.abc import Iterator

from causeway.docs.markdown import page_from, table
from causeway.folders import REPO
from mc import config as mc_config
from mc import drivers as mc_drivers
from mc import keys as mc_keys
from mc import main as mc_main

TEXT = REPO / "nodes/mc.md"


def mc_page() -> str:
    """The administrator's commands: the text about them, with the tables that it asks for filled in."""
    return page_from(
        TEXT,
        {
            "commands": table("command|named after|does|natively", map(_mc_command, mc_commands())),
            "tables": table("file in `/var/mc/gen`|holds|a line", _mc_tables()),
            "keys": ["```text", *_indented(mc_keys.__doc__ or ""), *_drivers_keys(), "```", ""],
            "exit codes": table("exit code|meaning", re.findall(r"(\d) ([a-z ]+)", mc_main.__doc__ or "")),
        },
        REPO / "nodes/mc",
    )


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
    for name, row in mc_config.TABLES.items():
        columns = ", ".join(column.replace("_", " ") for column in row.__annotations__)
        yield [f"`{name}`", (row.__doc__ or "").splitlines()[0], columns]


def _drivers_keys() -> list[str]:
    return [driver.NATIVE["keys"] for driver in mc_drivers.BY_NAME.values()]


def _indented(text: str) -> Iterator[str]:
    """What a docstring has as a list: its indented lines."""
    return (line.removeprefix("    ") for line in text.splitlines() if line.startswith("    "))
