"""One run of scenarios and what is kept of it: runs/ID with report, transcript and, on failure, dumps."""

import os
import shutil
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from rich.console import Console

from causeway.lab import clock
from causeway.lab.lab import Lab
from causeway.labhost import folders
from causeway.process import run_all, transcript
from causeway.report import files
from causeway.report.result import Run
from causeway.scenario.runner import Scenario, play

#: In a UML lab host the launcher's folder for results is mounted here.
RUNS = Path("/runs") if clock.is_uml() else folders.runs()

#: What is asked of every node's network when something went wrong, and of every switch.
_DUMPS = {
    "ip-addr.json": ["ip", "-j", "-s", "addr"],
    "ip-route.json": ["ip", "-j", "route"],
    "tc.txt": ["tc", "-s", "qdisc"],
    "sockets.txt": ["ss", "-tni"],
    "bonding.txt": ["sh", "-c", "tail -n +1 /proc/net/bonding/* 2>/dev/null"],
}
_SWITCH_DUMP = ["sh", "-c", "ovs-vsctl show; ovs-appctl bond/show; ovs-appctl lacp/show"]


def play_all(lab: Lab, scenarios: Sequence[Scenario], seed: int, started: datetime, say: Console) -> Run:
    """Play scenarios one after the other and write their report."""
    name = f"{started:%Y%m%d-%H%M%S}-{clock.name()}-{seed}-{os.urandom(2).hex()}"
    folder = RUNS / name
    folder.mkdir(parents=True)
    transcript.to(folder / "transcript.txt")
    watch, lag_before = clock.Watch(), clock.lag_s() if clock.paced() else 0.0
    results = []
    for scenario in scenarios:
        say.print(f"{scenario.name}: {scenario.title}", markup=False)
        transcript.note(f"# scenario {scenario.name}")
        result = play(scenario, lab, seed, partial(collect, lab, folder / "evidence" / scenario.name))
        say.print(f"{scenario.name}: {result.verdict} ({result.wall_s:.1f} s) {result.why}", markup=False)
        results.append(result)
    run = Run(
        id=name,
        lab=lab.site.name,
        lab_host="uml" if clock.is_uml() else "native",
        clock=clock.name(),
        seed=seed,
        started=started.isoformat(timespec="seconds"),
        wall_s=watch.wall_s,
        virtual_s=watch.virtual_s,
        fell_behind_s=clock.lag_s() - lag_before if clock.paced() else None,
        scenarios=results,
    )
    transcript.to(None)
    files.write(run, folder)
    say.print(f"report: runs/{name}/report.html", markup=False)
    return run


def collect(lab: Lab, folder: Path, why: str) -> None:
    """Dump what every running node says of itself, and the lab's own files without its secrets."""
    folder.mkdir(parents=True)
    (folder / "why.txt").write_text(f"{why}\n")
    nodes = [node for node in lab.site.nodes if lab.state(node) != "down"]
    switches = [node for node in lab.nodes_of_role("switch", "router") if node in nodes]
    asked = [(node, file, lab.plug(node, argv)) for file, argv in _DUMPS.items() for node in nodes]
    asked += [(node, "openvswitch.txt", lab.enter(node, _SWITCH_DUMP)) for node in switches]
    for (node, file, _), dump in zip(asked, run_all([argv for _, _, argv in asked], timeout_s=30), strict=True):
        if dump.stdout.strip():
            (folder / node).mkdir(exist_ok=True)
            (folder / node / file).write_text(dump.stdout)
    for log in (lab.folder / "containerlab.log", Path("/run/dockerd.log")):
        if log.exists():
            shutil.copy(log, folder)
    consoles = lab.folder / "service" / "logs"
    if consoles.exists():
        shutil.copytree(consoles, folder / "consoles")
