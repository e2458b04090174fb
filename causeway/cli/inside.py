"""The commands that run in the lab host: what is passed on into it ends up here."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from causeway.cli import tables
from causeway.cli.screen import err, out, print_json, show, tell
from causeway.errors import EXIT_CHECK_FAILED, EXIT_PASSED, BadInput
from causeway.folders import LABS
from causeway.lab import clock, deploy, pools, power
from causeway.lab.bench import measure
from causeway.lab.deploy import Deployment
from causeway.lab.faults import catalogue, ledger
from causeway.lab.lab import Lab
from causeway.lab.probes.drift import drift
from causeway.lab.status import status
from causeway.play import stay
from causeway.play.rehearsal import Wanted
from causeway.play.rehearsal import measure as measure_before
from causeway.play.rehearsal import play as play_change
from causeway.process import become, run_all
from causeway.rehearse.change import Change
from causeway.rehearse.parts import Part
from causeway.report import console as report
from causeway.report.rehearsal import as_data
from causeway.report.result import to_json
from causeway.scenario.playbill import about
from causeway.scenario.run import play_all
from causeway.scenario.runner import load_all


def the_lab(name: str | None) -> Lab:
    """The lab of this name. (A UML lab host has just one, and outside it may go by the lab host's name.)"""
    return Lab.find(None if clock.is_uml() else name)


def up(wanted: Deployment, say: Callable[[str], None], *, quiet: bool) -> Lab:
    """Deploy, turn the clock to its pace, and show what is there."""
    lab = deploy.up(wanted, say)
    if wanted.clock == "paced":
        clock.pace()
    if not quiet:
        _print_status(lab)
    parts = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in lab.bring_up_s.items())
    tell(f"brought up in {sum(lab.bring_up_s.values()):.1f} s of wall time: {parts}")
    return lab


def _print_status(lab: Lab) -> None:
    for table in tables.status(status(lab)):
        out.print(table)


def down(name: str | None) -> None:
    """Take down one lab, or every lab of this lab host."""
    for folder in sorted(LABS.glob(name or "*")):
        deploy.down_here(folder)


def show_status(name: str | None, *, as_json: bool) -> None:
    """Print what the lab looks like now."""
    lab = the_lab(name)
    if as_json:
        print_json(status(lab))
    else:
        _print_status(lab)


def reboot(name: str | None, node: str) -> None:
    """Reboot a node; says how long that took on the lab's clock."""
    lab = the_lab(name)
    lab.check_known([node])
    tell(f"{node} is up again after {power.reboot(lab, node):.1f} s")


def show_drift(name: str | None, nodes: list[str], *, as_json: bool) -> int:
    """Print what a reboot would change on nodes (all: none are named); returns the exit code."""
    lab = the_lab(name)
    lab.check_known(nodes)
    found = drift(lab, nodes or lab.site.nodes)
    if as_json:
        print_json([asdict(one) for one in found])
    elif found:
        out.print(tables.drift(found))
    else:
        tell("all is as the nodes' files say")
    return EXIT_CHECK_FAILED if found else EXIT_PASSED


def execute(name: str | None, nodes: list[str], command: list[str], *, as_json: bool) -> int:
    """Run a command on nodes; returns the highest exit code."""
    lab = the_lab(name)
    if nodes == ["all"]:
        nodes = list(lab.site.nodes)
    lab.check_known(nodes)
    results = run_all([lab.enter(node, command) for node in nodes], timeout_s=600)
    rows = [
        {"node": node, "rc": r.rc, "stdout": r.stdout, "stderr": r.stderr}
        for node, r in zip(nodes, results, strict=True)
    ]
    if as_json:
        print_json(rows)
    else:
        for row in rows:
            label = f"{row['node']}: " if len(nodes) > 1 else ""
            for stream, text in ((sys.stdout, row["stdout"]), (sys.stderr, row["stderr"])):
                for line in str(text).splitlines():
                    stream.write(f"{label}{line}\n")
            if row["rc"]:
                sys.stderr.write(f"{row['node']}: ended with {row['rc']}\n")
    return max(abs(result.rc) for result in results)


def shell(name: str | None, node: str) -> None:
    """Become a shell on a node, on this process's terminal."""
    lab = the_lab(name)
    lab.check_known([node])
    become(lab.terminal(node))


def console(name: str | None, node: str, *, follow: bool) -> None:
    """Print what an I/O node's console shows, and with follow go on until interrupted."""
    lab = the_lab(name)
    lab.check_known([node])
    log = pools.console_log(lab, node)
    if log is None:
        raise BadInput(f"{node} has no console; these nodes have: {', '.join(lab.site.diskless()) or 'none'}")
    if not log.exists():
        raise BadInput(f"{node} has not been switched on yet")
    become(["tail", "-n", "+1", *(["-F"] if follow else []), str(log)])


def inject(name: str | None, fault: str, words: list[str]) -> None:
    """Bring a fault about, and say how to look for it but not what it did."""
    lab = the_lab(name)
    chosen = catalogue.find(fault)
    new = ledger.inject(lab, fault, chosen.change(lab, **chosen.read(words, lab.site)))
    show(f"fault {new} is in. {chosen.look}")
    tell(f"`causeway fault clear {new}` undoes it")


def clear(name: str | None, which: str) -> None:
    """Undo one fault that was injected, or all, the last one first."""
    lab = the_lab(name)
    chosen = ledger.choose(lab, which)
    for entry in chosen:
        ledger.clear(lab, entry)
    tell(f"cleared: {', '.join(str(entry.id) for entry in chosen) or 'nothing'}")


def run(
    wanted: list[str],
    seed: int,
    started: datetime,
    own: Deployment | None,
    say: Callable[[str], None],
    part: tuple[int, int],
    *,
    as_json: bool,
) -> int:
    """Run scenarios on the lab that is up, or on one brought up for it; returns the run's exit code.

    `part` says which of how many parts of them. Of all scenarios those are left out that are about other sites; one
    that was asked for by name is skipped then.
    BadInput where another run plays on that lab: each would see what the other changes.
    """
    scenarios = load_all(wanted)
    lab = Lab.find() if own is None else up(own, say, quiet=True)
    scenarios = scenarios if wanted else about(scenarios, lab.site)
    which, parts = part
    scenarios = scenarios[which - 1 :: parts]  # neighbours by name are alike, and take as long
    try:
        with lab.playing():
            ledger.refuse(lab)
            played = play_all(lab, scenarios, seed, started, err)
    finally:
        if own is not None and not clock.is_uml():  # a UML lab host ends with its lab
            deploy.down(lab)
    if as_json:
        print_json(to_json(played))
    report.show(played, err if as_json else out)
    return played.exit_code


def rehearse(
    own: Deployment, wanted: Wanted, seed: int, started: datetime, say: Callable[[str], None], *, as_json: bool
) -> int:
    """Play a change on the lab that a UML lab host has for it, elsewhere on one that is brought up and ended.

    Returns the exit code that the verdict has.
    """
    lab = Lab.find() if clock.is_uml() else up(own, say, quiet=True)
    try:
        with lab.playing():
            played, folder = play_change(lab, wanted, seed, started, say)
    finally:
        if not clock.is_uml():
            deploy.down(lab)
    if as_json:
        print_json(as_data(played))
    else:
        for part in tables.rehearsal(played):
            out.print(part)
    tell(f"report: runs/{folder.name}/rehearsal.html")
    return played.exit_code


def before_a_change(wanted: Wanted, seed: int, say: Callable[[str], None]) -> None:
    """Measure what is before a change in the lab that a UML lab host has, and leave it for the lab's twin."""
    lab = Lab.find()
    with lab.playing():
        measure_before(lab, wanted, seed, say)


def make_a_step(read: Change, parts: Sequence[Part], number: int) -> None:
    """Make a part of a change in the lab that is up (0: none), and print what came of it."""
    lab = Lab.find()
    with lab.playing():
        if number:
            show(f"step-{number}: {parts[number - 1].title}")
            for act in parts[number - 1].acts:
                show(str(act), indent=2)
        for line in stay.make(lab, read, parts, number):
            show(line, indent=2 if number else 0)


def bench(wanted: Deployment, say: Callable[[str], None]) -> None:
    """Measure one size of site; the numbers go to the launcher's side as a file."""
    Path("/share/bench.json").write_text(json.dumps(measure(wanted, say)))
