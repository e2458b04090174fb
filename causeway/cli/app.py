"""The command line: which commands there are, and what becomes of errors."""

import os
import sys
from importlib import import_module
from pathlib import Path

import typer

from causeway import errors
from causeway.cli.screen import err, tell
from causeway.errors import BadInput, CheckFailed, LabBroken, Unsupported

#: What completion in a shell is for, and what help says: the command that people type.
PROGRAM = "causeway"
#: Each command and the function of this folder that does it, in the order of --help.
COMMANDS = {
    "doctor": "sites.doctor",
    "build": "sites.build",
    "bundle": "bundles.bundle",
    "unbundle": "bundles.unbundle",
    "render": "sites.render",
    "up": "bringing_up.up",
    "down": "labs.down",
    "status": "labs.status",
    "watch": "watching.watch",
    "checkpoint": "checkpoints.checkpoint",
    "back": "checkpoints.back",
    "checkpoints": "checkpoints.checkpoints",
    "templates": "templates.templates",
    "exec": "labs.exec_",
    "run": "runs.run",
    "report": "reports.report",
    "bench": "runs.bench",
    "rehearse": "rehearsals.rehearse",
    "collect": "sources.collect",
    "import": "sources.import_",
    "shell": "labs.shell",
    "console": "labs.console",
    "reboot": "labs.reboot",
    "drift": "labs.drift",
    "graph": "sites.graph",
    "hash": "sites.hash_",
    "schema": "sites.schema",
    "size": "sizes.size",
    "completion": "complete.completion",
    "fault": "faults.app",
    "lab": "lessons.app",
}
#: How the words of some are read: what comes after NODE... -- is no option of ours.
_SETTINGS = {"exec": {"allow_interspersed_args": False, "ignore_unknown_options": True}}


def app(command: str = "") -> typer.Typer:
    """The command line; of a command that is named only that, for what the others need takes half a second to load."""
    made = typer.Typer(
        help="Causeway: two computing centres' clusters and their network, emulated.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(lambda: None)  # else a command alone would have no name
    for name in [command] if command in COMMANDS else COMMANDS:
        module, _, function = COMMANDS[name].partition(".")
        does = getattr(import_module(f"causeway.cli.{module}"), function)
        if isinstance(does, typer.Typer):
            made.add_typer(does, name=name)
        else:
            made.command(name, context_settings=_SETTINGS.get(name))(does)
    return made


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code (see errors)."""
    words = sys.argv[1:] if argv is None else argv
    try:
        code = app(*words[:1])(words, prog_name=PROGRAM, standalone_mode=False, obj=words)
        return int(code or 0)
    except typer.TyperException as error:
        tell(error.format_message())
        return errors.EXIT_BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        tell("interrupted")
        return errors.EXIT_INTERRUPTED
    except BadInput as error:
        tell(str(error))
        if len(error.problems) > 1:
            tell(f"{len(error.problems)} mistakes; nothing was started")
        return errors.EXIT_BAD_INPUT
    except LabBroken as error:
        tell(f"lab broken: {error}")
        return errors.EXIT_LAB_BROKEN
    except CheckFailed as error:
        tell(f"check failed: {error}")
        return errors.EXIT_CHECK_FAILED
    except Unsupported as error:
        tell(f"skipped: {error}")
        return errors.EXIT_NOTHING_RAN
    except OSError as error:  # of a file that was named; a full disk is nobody's bad input
        tell(str(error))
        return errors.EXIT_BAD_INPUT if _is_named(error.filename, words) else errors.EXIT_LAB_BROKEN
    except Exception:  # a mistake of ours is no verdict on anything
        err.print_exception()
        return errors.EXIT_LAB_BROKEN


def _is_named(file: object, words: list[str]) -> bool:
    """Whether a command's words name a file, or a folder that it is in."""
    named = [os.path.abspath(word.rpartition("=")[2]) for word in words if word]
    return isinstance(file, str) and any(Path(os.path.abspath(file)).is_relative_to(one) for one in named)
