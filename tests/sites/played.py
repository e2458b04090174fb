"""Plays scenarios on sites that nobody wrote: drawn, renamed or with other numbers; and says what is wrong with a run.

    python -m tests.sites.played drawn-17                   every scenario on the site of seed 17
    python -m tests.sites.played renamed single_stream io   some on jubl under other names
    python -m tests.sites.played nightly                    all that takes a night: see nightly()

Each run is kept in runs/sites/SITE.json, its report beside others in runs/. Exit codes: 0 all is well, 1 it is not.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from tests.sites import draw
from tests.sites.renamed import renamed
from tests.sites.slower import JUBL, slower

REPO = Path(__file__).resolve().parents[2]
KEPT = REPO / "runs" / "sites"
AS_DRAWN = REPO / "tests" / "lab" / "plays" / "as_drawn.py"
COLLECTED = REPO / "tests" / "lab" / "plays" / "collected.py"
#: jubl under other names, and with other numbers.
OTHERS = {"renamed": renamed, "slower": slower}
#: How many sites a night draws, and how many a run of the tests.
DRAWN_NIGHTLY, DRAWN_DAILY = 20, 1
#: Not played on sites of the day yet: what uneven spreads of whole files and of connections bound is computed, and
#: not proven on many sites; nor is which connections a switch loses that a host heard nothing of for long (`make
#: nightly` plays them, and says so).
UNPROVEN = ("channel_static_or_lacp", "deny_interrupted", "io")
#: Played by night alone, wherever it can be: a client that mounts just as a killed `volume set` has told some servers
#: now and then (1 of 7 plays) hangs, and `mcmount` with it, whose time-out waits for the client to close its output;
#: for the others there is no time by day.
AT_NIGHT = (
    "deny_interrupted",
    "jobfs_loop",
    "keys_private_server",
    "limits_daemon",
    "multicast_snooping",
    "network_disk",
    "orphans_after_reset",
    "rolling_update",
)
#: Seconds on the wall that one run may take on a slow machine.
TIMEOUT_S = 5400


def seeds(count: int) -> list[int]:
    """The seeds of the day's sites: from CAUSEWAY_SITES_SEED on where it is set, else from the date's, in UTC, on."""
    day = os.environ.get("CAUSEWAY_SITES_SEED") or f"{datetime.now(UTC):%Y%m%d}00"
    return [int(day) + place for place in range(count)]


def nightly() -> list[tuple[str, int]]:
    """Sites and seeds of a run, all of them with every scenario."""
    drawn = [(f"drawn-{seed}", 1) for seed in seeds(DRAWN_NIGHTLY)]
    shipped = [("jubl", 2), ("jubl", 464), ("deisa", 1), ("xe", 1), ("xeboot", 1), ("xeboot", 464)]
    shipped += [(block, seed) for block in ("dcs9900", "ds3400", "ds5300", "planck", "swgpfs") for seed in (1, 464)]
    return [*shipped, ("race", 1), ("renamed", 1), ("slower", 1), *drawn]


def site_file(site: str, folder: Path) -> str:
    """What --lab takes for a site: a file of it in the folder, or the name of a shipped one."""
    kind, _, seed = site.partition("-")
    if kind == "drawn":
        text = draw.text(int(seed))
    elif site in OTHERS:
        text = yaml.safe_dump(OTHERS[site](yaml.safe_load(JUBL.read_text())), sort_keys=False)
    elif site == "race":
        return str(REPO / "tests" / "sites" / "race.yaml")
    else:
        return site
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{site}.yaml"
    file.write_text(text)
    return str(file)


def command(site: str, scenarios: Sequence[str], seed: int, folder: Path) -> list[str]:
    """The command line that plays scenarios (none: all that there are) on a site, in virtual time."""
    own = ["--lab", site_file(site, folder), "--seed", str(seed), "--clock", "virtual", "--json"]
    return [str(REPO / "bin" / "causeway"), "run", *scenarios, *own]


def wrong(run: Any, site: str) -> list[str]:
    """What is wrong with a run, a sentence each: what failed or broke, and who is left out and not told why."""
    found = []
    for scenario in run["scenarios"]:
        name, verdict, why = scenario["name"], scenario["verdict"], scenario["why"]
        if verdict in ("fail", "broken"):
            found.append(f"{site}: {name}: {verdict}: {why}")
        elif verdict == "skipped" and len(why.split()) < 4:
            found.append(f"{site}: {name} is skipped, and {why!r} is no sentence")
    if not run["scenarios"]:
        found.append(f"{site}: nothing was played")
    return found


def again(site: str, scenarios: Sequence[str] = (), seed: int = 1) -> str:
    """The one command that repeats a site's run."""
    words = ["bin/causeway python -m tests.sites.played", site, *scenarios, *([f"--seed {seed}"] if seed != 1 else [])]
    return " ".join(words)


def play(site: str, scenarios: Sequence[str], seed: int) -> list[str]:
    """Play, keep the result, and say what is wrong."""
    name = f"{site}-seed-{seed}" if seed != 1 else site
    words = command(site, scenarios, seed, KEPT)
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False)
        run = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        return [f"{site}: no result: {error}"]
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{name}.json").write_text(done.stdout)
    verdicts = [scenario["verdict"] for scenario in run["scenarios"]]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in sorted(set(verdicts)))
    print(f"{name}: {counts}; {KEPT / name}.json", flush=True)
    return wrong(run, site)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("site", help=f"drawn-SEED, {', '.join(OTHERS)}, race, nightly, or what `run --lab` takes")
    parser.add_argument("scenario", nargs="*", help="default: every shipped one, and whether the lab is as drawn")
    parser.add_argument("--seed", type=int, default=1, help="of the run")
    given = parser.parse_args()
    shipped = sorted(file.stem for file in (REPO / "scenarios").glob("*.py"))
    scenarios = given.scenario or [str(AS_DRAWN), *shipped]
    runs = nightly() if given.site == "nightly" else [(given.site, given.seed)]
    found = False
    for site, seed in runs:
        if sentences := play(site, scenarios, seed):
            found = True
            print("\n".join([*sentences, f"  again: {again(site, given.scenario, seed)}"]), flush=True)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
