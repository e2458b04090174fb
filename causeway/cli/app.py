"""The command line: which commands there are, and what becomes of errors."""

import os
import sys
from pathlib import Path

import typer

from causeway import errors
from causeway.cli import (
    bundles,
    checkpoints,
    complete,
    faults,
    labs,
    lessons,
    rehearsals,
    reports,
    runs,
    sites,
    sizes,
    sources,
    templates,
    watching,
)
from causeway.cli.screen import err, tell
from causeway.errors import BadInput, CheckFailed, LabBroken, Unsupported

app = typer.Typer(
    help="Causeway: two computing centres' clusters and their network, emulated.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(sites.doctor)
app.command()(sites.build)
app.command()(bundles.bundle)
app.command()(bundles.unbundle)
app.command()(sites.render)
app.command()(labs.up)
app.command()(labs.down)
app.command()(labs.status)
app.command()(watching.watch)
app.command()(checkpoints.checkpoint)
app.command()(checkpoints.back)
app.command()(checkpoints.checkpoints)
app.command()(templates.templates)
# what comes after NODE... -- is no option of ours
app.command("exec", context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})(labs.exec_)
app.command()(runs.run)
app.command()(reports.report)
app.command()(runs.bench)
app.command()(rehearsals.rehearse)
app.command()(sources.collect)
app.command("import")(sources.import_)
app.command()(labs.shell)
app.command()(labs.console)
app.command()(labs.reboot)
app.command()(labs.drift)
app.command()(sites.graph)
app.command("hash")(sites.hash_)
app.command()(sites.schema)
app.command()(sizes.size)
app.command()(complete.completion)
app.add_typer(faults.app, name="fault")
app.add_typer(lessons.app, name="lab")


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code (see errors)."""
    words = sys.argv[1:] if argv is None else argv
    try:
        code = app(words, prog_name=complete.PROGRAM, standalone_mode=False, obj=words)
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
