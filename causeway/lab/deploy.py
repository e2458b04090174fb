"""Bring a lab up on this lab host and take it down again."""

import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from causeway.errors import BadInput, LabBroken
from causeway.folders import LABS
from causeway.lab import clock, disks, pools
from causeway.lab.evidence import collect
from causeway.lab.filesystems import administrators
from causeway.lab.lab import RUNS, Lab
from causeway.lab.parts import Parts
from causeway.lab.probes import neighbours
from causeway.lab.probes.channels import wait_for_channels
from causeway.lab.probes.switching import deal_buckets
from causeway.model.load import load_site
from causeway.process import follow, run
from causeway.render.overlay import check_overlay
from causeway.render.secrets import Secrets
from causeway.render.site import render
from causeway.render.text import Files
from causeway.wait import until

#: containerlab waits for ever when one of its steps fails; a node takes 1 to 3 s of wall time.
_DEPLOY_NODE_S = 30
_SYSCTL = Path("/proc/sys")
#: How many watchers of files root may have, and what is enough: for the machine's own, and for a node's.
_WATCHERS = "fs/inotify/max_user_instances"
_OWN_WATCHERS, _NODE_WATCHERS = 128, 8


def write(files: Files, folder: Path) -> None:
    """Write rendered files below a folder."""
    for path, file in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # never more open than it is to be, not for a moment: some are private keys
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            out.write(file.text)
        target.chmod(file.mode)


def overlay(nodes: Path, folder: Path, diskless: Collection[str]) -> None:
    """Put the user's own files into written ones' place: folder/NODE/PATH is NODE's /PATH."""
    check_overlay(folder, [d.name for d in nodes.iterdir() if d.is_dir()], diskless)
    _lay_over(nodes, folder)


def _lay_over(target: Path, source: Path) -> None:
    """What is there by an entry's name goes, if one of the two is no folder; and no link is followed."""
    for entry in source.iterdir():
        there = target / entry.name
        if entry.is_dir() and not entry.is_symlink():
            if there.is_symlink() or not there.is_dir():
                there.unlink(missing_ok=True)
                there.mkdir()
            shutil.copymode(entry, there)
            _lay_over(there, entry)
            continue
        if there.is_dir() and not there.is_symlink():
            shutil.rmtree(there)
        there.unlink(missing_ok=True)
        shutil.copy2(entry, there, follow_symlinks=False)


@dataclass(frozen=True)
class Deployment:
    """What to bring up: a site's file, pools' numbers of nodes (None: as it says), the user's own files."""

    topology: Path
    counts: Mapping[str, int] | None
    overlay: Path | None
    clock: str

    def words(self) -> list[str]:
        """The words of a command that say the same, but for the clock."""
        words = [str(self.topology.absolute())]
        for pool, number in (self.counts or {}).items():
            words += ["--count", f"{pool}={number}"]
        if self.overlay is not None:
            words += ["--overlay", str(self.overlay.absolute())]
        return words


def up(wanted: Deployment, progress: Callable[[str], None]) -> Lab:
    """Deploy a site and wait until every node is up and every channel negotiated.

    What each part took, in seconds of wall time, is kept in the lab's lab.json. On failure, and when
    interrupted, what was started is taken down before the error is passed on; of a failure what the nodes say is kept.
    """
    site = load_site(wanted.topology, wanted.counts)
    lab = Lab(site, LABS / site.name)
    if lab.folder.exists():
        raise BadInput(f"{site.name} is up already; `causeway down {site.name}` ends it")
    if not clock.is_uml() and (others := _containers(lab)):
        raise BadInput(f"somebody else has a containerlab lab {site.name} here: {' '.join(others)}; end it first")
    disks.ready(site)
    lab.folder.mkdir(parents=True)
    lab.folder.chmod(0o700)
    parts = Parts(RUNS / f"bring-up-{site.name}.json", progress, repeats=wanted.clock == "virtual")
    try:
        parts.begin("render")
        shutil.copy(wanted.topology, lab.folder / "topology.yaml")
        files = render(disks.fitted(site, disks.memory_mib()), Secrets(site))
        write(files, lab.folder)
        if wanted.overlay is not None:
            overlay(lab.folder / "nodes", wanted.overlay, site.diskless())
        _kernel_wide(lab)
        parts.begin("containerlab")
        parts.say(f"deploying {len(site.nodes)} nodes and {len(site.cables)} links")
        containerlab(lab, "deploy", parts.say)
        parts.begin("nodes")
        _wait_for_nodes(lab, parts.say)
        parts.begin("channels")
        wait_for_channels(lab, [end for channel in site.channels for end in channel.ends], parts.say)
        deal_buckets(lab)
        neighbours.settle(lab)
        if site.topology.filesystems:
            parts.begin("filesystems")
            administrators.serve(lab, parts.say)
        if site.diskless():
            parts.begin("boot")
            pools.boot(lab, parts.say)
        if site.topology.filesystems:
            parts.begin("mounts")
            disks.forget_beginnings()
            administrators.join(lab, parts.say)
        parts.keep()
        (lab.folder / "lab.json").write_text(json.dumps({"counts": wanted.counts, "bring_up_s": parts.took_s}))
    except BaseException as error:
        if isinstance(error, LabBroken):
            _keep_evidence(lab, error, progress)
        down(lab)
        raise
    return lab


def _keep_evidence(lab: Lab, why: LabBroken, progress: Callable[[str], None]) -> None:
    """Keep what nodes say of themselves beside the runs, in place of what was kept of the last failure of this lab."""
    folder = RUNS / f"broken-{lab.site.name}"
    try:
        shutil.rmtree(folder, ignore_errors=True)
        collect(lab, folder, str(why))
    except (OSError, LabBroken) as error:
        progress(f"what the nodes say could not be kept: {error}")
    else:
        progress(f"what the nodes say is kept in {folder.name}, beside the runs")


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
    env["CLAB_LABDIR_BASE"] = str(lab.folder)  # its own files, which it else leaves where the user is
    rc = follow(argv, on_line, log=lab.folder / "containerlab.log", env=env)
    if rc != 0:
        errors = [line for line in said if "level=error" in line or line.startswith("Error")]
        raise LabBroken(f"containerlab {verb} ended with {rc}: {' '.join((errors or said)[-2:])}")


def clab_file(lab: Lab) -> Path:
    return lab.folder / f"{lab.site.name}.clab.yml"


def _kernel_wide(lab: Lab) -> None:
    """Tunables that the kernel keeps once for all its network namespaces (net.core.*) must be set here.

    So must what nodes share though each has its own at home: how often root may watch files (inotify). Each container
    has one watcher, and where 128 are all that there may be, the NFS server of the 288 I/O nodes dies of it.
    What they were is kept in the lab's folder, for its end.
    """
    wanted = {
        path: f"{value}\n"
        for key, value in lab.site.topology.sysctl.items()
        if key.startswith("net.core.") and (path := _SYSCTL / key.replace(".", "/")).exists()
    }
    watchers = _OWN_WATCHERS + _NODE_WATCHERS * len(lab.site.nodes)
    if int((_SYSCTL / _WATCHERS).read_text()) < watchers:
        wanted[_SYSCTL / _WATCHERS] = f"{watchers}\n"
    _before(lab).write_text(json.dumps({str(path): path.read_text() for path in wanted}))
    for path, value in wanted.items():
        path.write_text(value)


def _before(lab: Lab) -> Path:
    """What the machine's tunables were before the lab."""
    return lab.folder / "sysctl.json"


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


def down(lab: Lab) -> None:
    """Take a lab down and remove what it left; fine for one that is half up or not there."""
    if clab_file(lab).exists() and _containers(lab):
        pools.power_off(lab)
        containerlab(lab, "destroy", lambda _: None)
    if _before(lab).exists():
        for path, value in json.loads(_before(lab).read_text()).items():
            Path(path).write_text(value)
    shutil.rmtree(lab.folder, ignore_errors=True)
    with suppress(OSError):  # others' labs are there
        LABS.rmdir()
        LABS.parent.rmdir()


def down_here(folder: Path) -> None:
    """Take down what is in a lab's folder, however far it came: killed while it came up, it is in no list of labs."""
    about, topology = folder / "lab.json", folder / "topology.yaml"
    if topology.exists():
        counts = json.loads(about.read_text())["counts"] if about.exists() else None
        down(Lab(load_site(topology, counts), folder))
    else:  # nothing was started
        shutil.rmtree(folder)


def _containers(lab: Lab) -> list[str]:
    """What Docker has of a lab of this name, whoever's."""
    words = ["docker", "ps", "-a", "--filter", f"label=containerlab={lab.site.name}", "--format", "{{.Names}}"]
    return run(words).must().split()
