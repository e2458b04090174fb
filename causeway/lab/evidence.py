"""What is kept of a failure: what every node says of itself, and the lab's own files."""

import shutil
from pathlib import Path

from causeway.lab.lab import Lab
from causeway.process import run_all

#: Somebody else's silence is no reason to keep nothing of all others.
_PATIENCE = ["timeout", "5"]

#: What is asked of every node's network when something went wrong, and of every switch.
_DUMPS = {
    "ip-addr.json": ["ip", "-j", "-s", "addr"],
    "ip-route.json": ["ip", "-j", "route"],
    "tc.txt": ["tc", "-s", "qdisc"],
    "sockets.txt": ["ss", "-tni"],
    "bonding.txt": ["sh", "-c", "tail -n +1 /proc/net/bonding/* 2>/dev/null"],
}
_SWITCH_DUMP = ["sh", "-c", "ovs-vsctl show; ovs-appctl bond/show; ovs-appctl lacp/show"]


def collect(lab: Lab, folder: Path, why: str) -> None:
    """Dump what every running node says of itself, and the lab's own files without its secrets."""
    folder.mkdir(parents=True)
    (folder / "why.txt").write_text(f"{why}\n")
    nodes = [node for node in lab.site.nodes if lab.state(node) != "down"]
    switches = [node for node in nodes if lab.site.nodes[node].switch is not None]
    asked = [(node, file, lab.plug(node, [*_PATIENCE, *argv])) for file, argv in _DUMPS.items() for node in nodes]
    asked += [(node, "openvswitch.txt", lab.enter(node, [*_PATIENCE, *_SWITCH_DUMP])) for node in switches]
    for (node, file, _), dump in zip(asked, run_all([argv for _, _, argv in asked], timeout_s=30), strict=True):
        if dump.stdout.strip():
            (folder / node).mkdir(exist_ok=True)
            (folder / node / file).write_text(dump.stdout)
    for log in (lab.folder / "containerlab.log", Path("/run/dockerd.log")):
        if log.exists():
            shutil.copyfile(log, folder / log.name)  # the text alone: the folder is the machine's, who keeps its modes
    consoles = lab.folder / "service" / "logs"
    if consoles.exists():
        (folder / "consoles").mkdir()
        for log in filter(Path.is_file, consoles.iterdir()):
            shutil.copyfile(log, folder / "consoles" / log.name)
