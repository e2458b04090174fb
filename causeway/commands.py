"""The commands that run in the lab host: what `cli` passes on into it ends up here."""

import json
import os
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from causeway.errors import BadInput
from causeway.lab import clock, deploy
from causeway.lab.bench import measure
from causeway.lab.deploy import Deployment
from causeway.lab.faults import catalogue, ledger
from causeway.lab.lab import LABS, Lab
from causeway.lab.status import status
from causeway.process import run_all
from causeway.report import console
from causeway.report.result import to_json
from causeway.scenario.evidence import play_all
from causeway.scenario.runner import load_all

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def up_inside(wanted: Deployment, say: Callable[[str], None], *, quiet: bool) -> Lab:
    """Deploy, turn the clock to its pace, and show what is there."""
    lab = deploy.up(wanted, say)
    if wanted.clock == "paced":
        clock.pace()
    if not quiet:
        show_status(status(lab))
    parts = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in lab.bring_up_s.items())
    err.print(f"brought up in {sum(lab.bring_up_s.values()):.1f} s of wall time: {parts}")
    return lab


def down_inside(name: str | None) -> None:
    """Take down one lab, or every lab of this lab host."""
    for folder in sorted(LABS.glob(name or "*")):
        lab = Lab.find(folder.name)
        deploy.down(lab)


def status_inside(name: str | None, *, as_json: bool) -> None:
    found = status(Lab.find(name))
    if as_json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    else:
        show_status(found)


def show_status(found: dict[str, Any]) -> None:
    """The lab as tables: nodes, links, channels, filesystems."""
    title = f"{found['lab']}: lab host {found['lab_host']}, clock {found['clock']}"
    nodes = Table("node", "cluster", "role", "state", title=title, title_justify="left")
    for node in found["nodes"]:
        nodes.add_row(node["name"], node["cluster"] or "", node["role"], node["state"])
    links = Table("link", "", "network", "Mbit/s", "MTU", "")
    for link in found["links"]:
        state = "up" if link["up"] else "DOWN"
        links.add_row(link["a"], link["b"], link["network"], str(link["rate_mbit"]), str(link["mtu"]), state)
    channels = Table("channel end", "peer", "mode", "sends by", "members up", "")
    for end in found["channels"]:
        ups = [m["name"] for m in end["members"] if m["up"]]
        members = f"{len(ups)} of {len(end['members'])}: {' '.join(ups)}"
        state = "negotiated" if end["negotiated"] else "NOT NEGOTIATED"
        name = f"{end['node']}:{end['name']}"
        channels.add_row(name, end["peer"], end["mode"], end["hash_policy"], members, state)
    filesystems = Table("filesystem", "owner", "served by", "mounted at", "on")
    for f in found["filesystems"]:
        on = f"{len(f['mounted_on'])} nodes: {' '.join(f['mounted_on'])}"
        filesystems.add_row(f["name"], f["owner"], " ".join(f["servers"]), f["mount_point"], on)
    for table in (nodes, links, channels, filesystems):
        out.print(table)


def exec_inside(name: str | None, nodes: list[str], command: list[str], *, as_json: bool) -> int:
    """Run a command on nodes; returns the highest exit code."""
    lab = Lab.find(name)
    if nodes == ["all"]:
        nodes = list(lab.site.nodes)
    lab.check_known(nodes)
    results = run_all([lab.enter(node, command) for node in nodes], timeout_s=600)
    rows = [
        {"node": node, "rc": r.rc, "stdout": r.stdout, "stderr": r.stderr}
        for node, r in zip(nodes, results, strict=True)
    ]
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
    else:
        for row in rows:
            label = f"{row['node']}: " if len(nodes) > 1 else ""
            for stream, text in ((sys.stdout, row["stdout"]), (sys.stderr, row["stderr"])):
                for line in str(text).splitlines():
                    stream.write(f"{label}{line}\n")
            if row["rc"]:
                sys.stderr.write(f"{row['node']}: ended with {row['rc']}\n")
    return max(abs(result.rc) for result in results)


def shell_inside(name: str | None, node: str) -> None:
    """Become a shell on a node, on this process's terminal."""
    lab = Lab.find(name)
    lab.check_known([node])
    os.execvp("docker", lab.terminal(node))


def console_inside(name: str | None, node: str, *, follow: bool) -> None:
    """Print what an I/O node's console shows, and with follow go on until interrupted."""
    lab = Lab.find(name)
    if node not in lab.nodes_of_role("ion"):
        raise BadInput(f"{node} has no console; the I/O nodes have: {', '.join(lab.nodes_of_role('ion'))}")
    log = lab.console_log(node)
    if not log.exists():
        raise BadInput(f"{node} has not been switched on yet")
    os.execvp("tail", ["tail", "-n", "+1", *(["-F"] if follow else []), str(log)])


def inject_inside(name: str | None, fault: str, words: list[str]) -> None:
    """Bring a fault about, and say how to look for it but not what it did."""
    lab = Lab.find(name)
    chosen = catalogue.find(fault)
    new = ledger.enter(lab, fault, chosen.inject(lab, **chosen.read(words, lab.site)))
    out.print(f"fault {new} is in. {chosen.look}", markup=False)
    err.print(f"`causeway fault clear {new}` undoes it", markup=False)


def clear_inside(name: str | None, which: str) -> None:
    """Undo one fault that was injected, or all, the last one first."""
    lab = Lab.find(name)
    chosen = ledger.choose(lab, which)
    for entry in chosen:
        ledger.clear(lab, entry)
    err.print(f"cleared: {', '.join(str(entry.id) for entry in chosen) or 'nothing'}")


def run_inside(
    wanted: list[str],
    seed: int,
    started: datetime,
    own: Deployment | None,
    say: Callable[[str], None],
    *,
    as_json: bool,
) -> int:
    """Run scenarios on the lab that is up, or on one brought up for it; returns the run's exit code."""
    scenarios = load_all(wanted)
    lab = Lab.find() if own is None else up_inside(own, say, quiet=True)
    try:
        run = play_all(lab, scenarios, seed, started, err)
    finally:
        if own is not None and not clock.is_uml():  # a UML lab host ends with its lab
            deploy.down(lab)
    if as_json:
        sys.stdout.write(json.dumps(to_json(run), indent=2) + "\n")
    console.show(run, err if as_json else out)
    return run.exit_code


def bench_inside(wanted: Deployment, say: Callable[[str], None]) -> None:
    """Measure one size of site; the numbers go to the launcher's side as a file."""
    Path("/share/bench.json").write_text(json.dumps(measure(wanted, say)))
