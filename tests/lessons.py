"""Plays lessons: each fails its checks at the beginning, every task by itself, and passes them by its model solution.

    python -m tests.lessons                    every lesson on the smallest site that can take it, every level, and
                                               each of its draws that has a model solution of its own
    python -m tests.lessons routes:jubl ...    some, on this site or that; routes:jubl:7:2 with seed 7, on level 2

Each gets a lab of its own, in paced time. Exit codes: 0 all is well, 1 it is not.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from causeway.folders import REPO
from causeway.lessons import lesson as lessons
from causeway.lessons.lesson import Lesson
from causeway.model.site import Site

#: Seconds that one command may take: a boot, or an election, on a slow machine.
TIMEOUT_S = 900
#: Of lessons whose model solution is another one by the seed: what of the cast it depends on.
_DRAWN: dict[str, Callable[[Any], object]] = {
    "slow": lambda cast: cast.wrong,
    "colleague": lambda cast: tuple(trouble.fault for trouble in cast.troubles),
}
#: Among so many seeds there is each of these draws.
_SEEDS = range(1, 41)


@dataclass(frozen=True)
class Play:
    """A lesson on a site."""

    lesson: str
    site: str
    seed: int = 1
    level: int = 1

    def __str__(self) -> str:
        return f"{self.lesson}:{self.site}:{self.seed}:{self.level}"


def every() -> Iterator[Play]:
    """Each lesson on the shipped site of fewest nodes that can take it, each level of it, each draw there once."""
    known = lessons.smallest_first()
    for one in lessons.load_all():
        able = next(site for site in known if not lessons.where(one, site))
        for level in range(1, one.levels + 1):
            yield from (Play(one.name, able.name, seed, level) for seed in draws(one, able, level).values())


def draws(one: Lesson, site: Site, level: int) -> dict[object, int]:
    """What a lesson draws on a level that takes a model solution of its own, each with the first seed that draws it."""
    found: dict[object, int] = {}
    if (of := _DRAWN.get(one.name)) is None:
        return {None: 1}
    for seed in _SEEDS:
        found.setdefault(of(one.for_site(site, seed, level).cast), seed)
    return found


def tool(*words: str) -> "subprocess.CompletedProcess[str]":
    argv = [str(REPO / "bin" / "causeway"), *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def played(play: Play) -> list[str]:
    """What is wrong with a lesson in the lab that is up, a sentence each; the lesson stays on."""
    begun = tool("lab", "start", play.lesson, "--seed", str(play.seed), "--level", str(play.level))
    if begun.returncode:
        return [f"{play}: start ended with {begun.returncode}: {begun.stderr}"]
    before = tool("lab", "check", "--json")
    if before.returncode != 1:
        return [f"{play}: at the beginning check ended with {before.returncode}: {before.stdout}{before.stderr}"]
    wrong = [
        f"{play}: task {t['number']} is done at the beginning" for t in json.loads(before.stdout)["tasks"] if t["done"]
    ]
    hint = tool("lab", "hint")
    if hint.returncode or not hint.stdout.startswith("task 1, hint 1 of "):
        wrong.append(f"{play}: hint ended with {hint.returncode}: {hint.stdout}{hint.stderr}")
    solved = tool("lab", "solve")
    if solved.returncode:
        return [*wrong, f"{play}: solve ended with {solved.returncode}: {solved.stdout}{solved.stderr}"]
    after = tool("lab", "check")
    if after.returncode:
        wrong.append(
            f"{play}: after the model solution check ended with {after.returncode}: {after.stdout}{after.stderr}"
        )
    return wrong


def in_a_lab(play: Play) -> list[str]:
    """Bring a lab up for a lesson, play it, and end the lab."""
    begun = time.monotonic()
    up = tool("up", play.site, "--quiet")
    if up.returncode:
        return [f"{play}: up ended with {up.returncode}: {up.stderr}"]
    brought = time.monotonic() - begun
    try:
        wrong = played(play)
    finally:
        tool("down", play.site)
    took = time.monotonic() - begun - brought
    print(
        f"{play}: {'wrong' if wrong else 'well'}, up in {brought:.0f} s, played in {took:.0f} s",
        *wrong,
        sep="\n",
        flush=True,
    )
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("play", nargs="*", help="LESSON:SITE, LESSON:SITE:SEED or LESSON:SITE:SEED:LEVEL; default: all")
    wanted = [word.split(":") for word in parser.parse_args().play]
    plays = [Play(lesson, site, *map(int, numbers)) for lesson, site, *numbers in wanted] or list(every())
    failed = False
    for play in plays:
        wrong = in_a_lab(play)
        print("".join(f"{sentence}\n" for sentence in wrong), end="", flush=True)
        failed |= bool(wrong)
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
