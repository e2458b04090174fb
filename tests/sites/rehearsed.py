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
from collections.abc import Mapping
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


def rehearse(seed: int, folder: Path, env: Mapping[str, str]) -> list[str]:
    """Rehearse the change of a seed on the site of that seed, and say what is wrong."""
    site = site_file(f"drawn-{seed}", folder)
    change = folder / f"change-{seed}.txt"
    change.write_text(changes.draw(seed, load_site(Path(site))))
    words = [str(REPO / "bin" / "causeway"), "rehearse", site, "--change", str(change), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=dict(env))
    if done.returncode not in (0, 1) or not done.stdout:
        return [f"it ended with {done.returncode}: {done.stderr[-2000:]}"]
    (folder / f"rehearsed-{seed}.json").write_text(done.stdout)
    return wrong(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("seed", help="a number, or nightly")
    given = parser.parse_args()
    found = False
    for seed in seeds(DRAWN_NIGHTLY) if given.seed == "nightly" else [int(given.seed)]:
        lines = rehearse(seed, KEPT, os.environ)
        print(f"rehearsed-{seed}: {len(lines)} differences", flush=True)
        if lines:
            found = True
            print("\n".join([*lines, f"  again: {again(seed)}"]), flush=True)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
