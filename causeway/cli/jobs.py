"""Scenarios side by side: each is a run of its own in a lab of its own, a clone of one template; one report of all."""

import re
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Lock

from causeway import folders, interrupts, process, took
from causeway.cli.screen import err, out, print_json, tell
from causeway.errors import EXIT_INTERRUPTED, EXIT_LAB_BROKEN, LabBroken
from causeway.hosts import host, memory
from causeway.hosts.labs import MOST_LABS
from causeway.lab.deploy import Deployment
from causeway.model.site import Site
from causeway.process import Background, Result
from causeway.report import console, merge
from causeway.report.result import to_json

#: A scenario plays no longer, however many are beside it.
_LONGEST_S = 2 * 3600
_REPORT = re.compile(r"^report: runs/(\S+)/report\.html$", re.MULTILINE)
#: Where in the run's folder its parts are.
_PARTS = "parts"


def play(labs: Sequence[Sequence[str]], wanted: Deployment, site: Site, seed: int, jobs: int, *, as_json: bool) -> int:
    """Play the scenarios of each lab, in so many at once as were asked for and as memory allows, what took longest the
    last time first; returns the run's exit code.

    An interrupt ends those that play as it would end a run of each alone; no other one begins.
    """
    template, rc = host.template(wanted, site, tell)
    if rc:
        return rc
    file, *options = wanted.words()
    argv = [str(folders.REPO / "bin" / "causeway"), "run", "--lab", file, *options]
    argv += ["--clock", wanted.clock, "--seed", str(seed)]
    at_once = _at_once(min(jobs, len(labs)), int(template.about["memory_mib"]))
    known = folders.runs() / f"played-{site.name}-jobs.json"
    last_s = took.known(known)
    longest_first = sorted(labs, key=lambda names: -sum(last_s.get(name, 0.0) for name in names))
    parts, broken, interrupted = _play(longest_first, argv, at_once)
    for names, said in broken.items():
        tell(f"{names}: {said}")
    if not parts:
        if interrupted:
            return EXIT_INTERRUPTED
        raise LabBroken("no scenario was played")
    merged = merge.merge(parts, folders.runs())
    kept = folders.runs() / merged.id
    (kept / _PARTS).mkdir()
    for part in parts:
        part.rename(kept / _PARTS / part.name)
    took.keep(known, last_s | merged.judged_s)
    tell(f"report: {kept / 'report.html'}")
    if as_json:
        print_json(to_json(merged))
    console.show(merged, err if as_json else out)
    if interrupted:
        return EXIT_INTERRUPTED
    return EXIT_LAB_BROKEN if broken else merged.exit_code


def _at_once(jobs: int, mib: int) -> int:
    """How many labs there is room for; says so where that is fewer than were asked for."""
    found = memory.room()
    able = max(1, min(jobs, MOST_LABS, found.left_mib // mib))
    if able < jobs:
        tell(
            f"{able} of {jobs} at once: a lab may take {mib} MiB, {found.left_mib} are left ({found.terms}), and"
            f" {MOST_LABS} labs are the most that one template has"
        )
    return able


def _play(labs: Sequence[Sequence[str]], argv: Sequence[str], at_once: int) -> tuple[list[Path], dict[str, str], bool]:
    """The folders of what was played, what was said of those that could not be, and whether an interrupt came."""
    running: list[Background] = []
    beginning, ended = Lock(), False

    def one(names: Sequence[str]) -> Result | None:
        with beginning:
            if ended:
                return None
            running.append(process.start([*argv, *names]))
            own = running[-1]
        return own.result(_LONGEST_S)

    parts: list[Path] = []
    broken: dict[str, str] = {}
    with ThreadPoolExecutor(at_once) as pool:
        asked = {pool.submit(one, names): " ".join(names) for names in labs}
        left = set(asked)
        while left:
            try:
                with interrupts.raised():
                    done, left = wait(left, return_when=FIRST_COMPLETED)
            except KeyboardInterrupt:
                with beginning:
                    ended = True
                    for each in running:
                        each.interrupt()
                continue
            for future in done:
                if (result := future.result()) is None:
                    continue
                if reported := _REPORT.search(result.stdout + result.stderr):
                    parts.append(folders.runs() / reported[1])
                    for played in merge.read(parts[-1]).scenarios:
                        tell(f"{played.name}: {played.verdict} ({played.wall_s:.1f} s) {played.why}".rstrip())
                else:
                    broken[asked[future]] = (result.stderr.strip().splitlines() or [f"ended with {result.rc}"])[-1]
    return parts, broken, ended
