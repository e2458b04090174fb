"""Rehearses changes that nobody thought of on sites that nobody wrote: what is played is what was predicted.

    python -m tests.sites.rehearsed SEED      the site and the change of a seed
    python -m tests.sites.rehearsed nightly   20 of them, by the date

Each is kept in runs/sites/rehearsed-SEED.json. Exit codes: 0 all is as predicted and as before in the end, 1 it is not.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from causeway.model.load import load_site
from tests.sites import changes
from tests.sites.played import DRAWN_NIGHTLY, KEPT, REPO, TIMEOUT_S, seeds, site_file

#: What must have nothing worse, whatever a change moves.
SILENT = ("prediction", "back", "lost")


def again(seed: int) -> str:
    """The one command that repeats a seed's rehearsal."""
    return f"bin/causeway python -m tests.sites.rehearsed {seed}"


def wrong(rehearsal: Any) -> list[str]:
    """What came otherwise than predicted, is not as before, or is lost of who can talk, a line each."""
    keys = ("question", "what", "before", "predicted", "played", "pairs")
    worse = (answer for answer in rehearsal["answers"] if answer["turn"] == "worse")
    return [json.dumps([answer[key] for key in keys]) for answer in worse if answer["question"] in SILENT]


def command(site: str, change: Path, env: Mapping[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    """`causeway rehearse` of a change, in a lab of its own; its standard output is JSON where it was played."""
    argv = [str(REPO / "bin" / "causeway"), "rehearse", site, "--change", str(change), *words, "--json"]
    return subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=dict(env))


def tell(done: Iterable[tuple[str, list[str], str]]) -> int:
    """Say of each rehearsal, as it ends, what is wrong, and what repeats it; returns the exit code."""
    found = 0
    for head, lines, repeats in done:
        print(head, flush=True)
        if lines:
            found = 1
            print("\n".join([*lines, f"  again: {repeats}"]), flush=True)
    return found


def rehearse(seed: int, folder: Path, env: Mapping[str, str]) -> list[str]:
    """Rehearse the change of a seed on the site of that seed, and say what is wrong."""
    site = site_file(f"drawn-{seed}", folder)
    change = folder / f"change-{seed}.txt"
    change.write_text(changes.draw(seed, load_site(Path(site))))
    done = command(site, change, env)
    if done.returncode not in (0, 1) or not done.stdout:
        return [f"it ended with {done.returncode}: {done.stderr[-2000:]}"]
    (folder / f"rehearsed-{seed}.json").write_text(done.stdout)
    return wrong(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("seed", help="a number, or nightly")
    given = parser.parse_args()
    wanted = seeds(DRAWN_NIGHTLY) if given.seed == "nightly" else [int(given.seed)]
    each = ((seed, rehearse(seed, KEPT, os.environ)) for seed in wanted)
    sys.exit(tell((f"rehearsed-{seed}: {len(lines)} differences", lines, again(seed)) for seed, lines in each))


if __name__ == "__main__":
    main()
