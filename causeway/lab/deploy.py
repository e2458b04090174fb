"""Bring a lab up on this lab host and take it down again."""

import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from causeway.errors import BadInput, LabBroken
from causeway.lab import filesystems
from causeway.lab.channels import read_channel
from causeway.lab.clock import Watch
from causeway.lab.lab import LABS, Lab
from causeway.lab.switching import deal_buckets
from causeway.lab.wait import until
from causeway.model.load import load_site
from causeway.process import follow, run
from causeway.render.files import render
from causeway.render.secrets import Secrets
from causeway.render.text import Files

#: containerlab waits for ever when one of its steps fails; a node takes 1 to 3 s of wall time.
_DEPLOY_NODE_S = 30
#: LACP in fast rate agrees within 3 frames a second apart; OVS and bonding start at different moments.
_CHANNELS_DEADLINE_S = 60


def write(files: Files, folder: Path) -> None:
    """Write rendered files below a folder."""
    for path, file in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.text)
        target.chmod(file.mode)


def overlay(nodes: Path, folder: Path, diskless: list[str]) -> None:
    """Put the user's own files into written ones' place: folder/NODE/PATH is NODE's /PATH."""
    strangers = [d.name for d in sorted(folder.iterdir()) if not (nodes / d.name).is_dir()]
    if strangers:
        raise BadInput(f"{folder}: {', '.join(strangers)}: no such node; name its folders like nodes")
    if mine := [d.name for d in sorted(folder.iterdir()) if d.name in diskless]:
        raise BadInput(
            f"{folder}: {', '.join(mine)}: an I/O node has no files of its own; use the boot server's bgl/dist"
        )
    shutil.copytree(folder, nodes, symlinks=True, dirs_exist_ok=True)


@dataclass(frozen=True)
class Deployment:
    """What to bring up: a topology file, how many I/O nodes (None: as it says), the user's own files."""

    topology: Path
    io_nodes: int | None
    overlay: Path | None
    clock: str


def up(wanted: Deployment, progress: Callable[[str], None]) -> Lab:
    """Deploy a site and wait until every node is up and every channel negotiated.

    What each part took, in seconds of wall time, is kept in the lab's lab.json. On failure, and when
    interrupted, what was started is taken down before the error is passed on.
    """
    site = load_site(wanted.topology, wanted.io_nodes)
    lab = Lab(site, LABS / site.name)
    if lab.folder.exists():
        raise BadInput(f"{site.name} is up already; `causeway down {site.name}` ends it")
    lab.folder.mkdir(parents=True)
    lab.folder.chmod(0o700)
    times: dict[str, float] = {}
    watch = Watch()

    def took(part: str) -> None:
        times[part] = round(watch.wall_s - sum(times.values()), 2)

    try:
        shutil.copy(wanted.topology, lab.folder / "topology.yaml")
        files = render(site, Secrets(site))
        write(files, lab.folder)
        if wanted.overlay is not None:
            overlay(lab.folder / "nodes", wanted.overlay, lab.nodes_of_role("ion"))
        _kernel_wide(site.topology.services.sysctl)
        took("render")
        progress(f"deploying {len(site.nodes)} nodes and {len(site.cables)} links")
        containerlab(lab, "deploy", progress)
        took("containerlab")
        _wait_for_nodes(lab, progress)
        took("nodes")
        _wait_for_channels(lab, progress)
        deal_buckets(lab)
        took("channels")
        if site.topology.filesystems:
            filesystems.serve(lab, progress)
        took("filesystems")
        _boot(lab, progress)
        took("boot")
        if site.topology.filesystems:
            filesystems.join(lab, progress)
        took("mounts")
        (lab.folder / "lab.json").write_text(json.dumps({"io_nodes": wanted.io_nodes, "bring_up_s": times}))
    except BaseException:
        down(lab)
        raise
    return lab


def containerlab(lab: Lab, verb: str, progress: Callable[[str], None]) -> None:
    """Run containerlab on the lab's plain file, following its log."""
    limit_s = 60 + _DEPLOY_NODE_S * len(lab.site.nodes)
    argv = ["timeout", str(limit_s), "containerlab", verb, "-t", str(clab_file(lab))]
    if verb == "destroy":
        argv.append("--cleanup")
    said: list[str] = []

    def on_line(line: str) -> None:
        said.append(line)
        if match := re.search(r'Creating container: \\?"?([^"\\]+)', line):
            progress(f"creating {match.group(1)}")

    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
    rc = follow(argv, on_line, log=lab.folder / "containerlab.log", env=env)
    if rc != 0:
        errors = [line for line in said if "level=error" in line or line.startswith("Error")]
        raise LabBroken(f"containerlab {verb} ended with {rc}: {' '.join((errors or said)[-2:])}")


def clab_file(lab: Lab) -> Path:
    return lab.folder / f"{lab.site.name}.clab.yml"


def _kernel_wide(sysctl: dict[str, int | str]) -> None:
    """Tunables that the kernel keeps once for all its network namespaces must be set here."""
    for key, value in sysctl.items():
        path = Path("/proc/sys", key.replace(".", "/"))
        if path.exists():
            path.write_text(f"{value}\n")


def _wait_for_nodes(lab: Lab, progress: Callable[[str], None]) -> None:
    def not_up() -> str:
        states = {node: lab.state(node) for node in lab.site.nodes}
        for node, state in states.items():
            if state == "down" or state.startswith("failed"):
                logs = run(["docker", "logs", "--tail", "5", lab.container(node)])
                raise LabBroken(f"{node} is {state}: {logs.stdout}{logs.stderr}".strip())
        waiting = {node: state for node, state in states.items() if state not in ("up", "off")}
        progress(f"{len(states) - len(waiting)} of {len(states)} nodes up")
        return ", ".join(f"{node} {state}" for node, state in waiting.items())

    until("every node is up", not_up, deadline_s=120)


def _wait_for_channels(lab: Lab, progress: Callable[[str], None]) -> None:
    left = [end for channel in lab.site.topology.channels for end in channel.ends]

    def not_negotiated() -> str:
        nonlocal left
        left = [end for end in left if not read_channel(lab, end).negotiated]
        progress(f"{len(left)} channel ends still negotiating")
        return ", ".join(f"{end.node}:{end.name}" for end in left)

    until("every channel is negotiated", not_negotiated, deadline_s=_CHANNELS_DEADLINE_S, poll_s=1)


def _boot(lab: Lab, progress: Callable[[str], None]) -> None:
    """Have the service node boot the block that the topology names."""
    boot, pool = lab.site.topology.services.boot, lab.site.topology.io_nodes
    if boot is None or pool is None:
        return
    said: list[str] = []

    def on_line(line: str) -> None:
        said.append(line)
        progress(line)

    argv = lab.enter(boot.server, ["bglallocate", pool.booted, "root"])
    if follow(argv, on_line, log=lab.folder / "bglallocate.log", env=dict(os.environ)) != 0:
        raise LabBroken("\n".join(said[-10:]))


def down(lab: Lab) -> None:
    """Take a lab down and remove what it left; fine for one that is half up or not there."""
    if clab_file(lab).exists():
        names = run(["docker", "ps", "-aq", "--filter", f"label=containerlab={lab.site.name}"])
        if names.stdout.strip():
            _power_off(lab)
            containerlab(lab, "destroy", lambda _: None)
    shutil.rmtree(lab.folder, ignore_errors=True)


def _power_off(lab: Lab) -> None:
    """Switch the I/O nodes off while their server is still there: their processes would wait for it, and live on."""
    booted = [node for node in lab.nodes_of_role("ion") if lab.state(node) not in ("down", "off", "starting")]
    for node in booted:
        line = os.open(lab.folder / "service" / "power" / node, os.O_RDWR)  # both ways: it needs no reader
        os.write(line, b"off\n")
        os.close(line)
    with suppress(LabBroken):  # what is stuck is for containerlab to complain of
        until("I/O nodes are off", lambda: " ".join(n for n in booted if lab.state(n) != "off"), deadline_s=30)
