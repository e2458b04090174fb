"""What nodes have mounted of the parallel filesystems, and the daemons that this takes, for scenarios."""

from functools import partial

from causeway.lab.filesystems import administrators
from causeway.lab.filesystems.administrators import mc, rows
from causeway.scenario.stage import Stage


def due_mounts(stage: Stage, node: str) -> dict[str, str]:
    """What a node has mounted when the lab is up, and how many of whose servers answer: "4 of 4"."""
    names = stage.site.mounts(stage.site.nodes[node].cluster or "")
    numbers = {name: len(stage.site.servers(name)) for name in names}
    return {name: f"{n} of {n}" for name, n in sorted(numbers.items())}


def mounted(stage: Stage, node: str) -> dict[str, str]:
    """What a node has mounted, as due_mounts has it."""
    servers = {row["filesystem"]: row["servers"] for row in rows(stage.lab, node, "mclsmount", "all")}
    return {name: servers.get(name, "unknown") for name in due_mounts(stage, node)}


def unmount(stage: Stage, node: str) -> None:
    """Take away what a node has mounted, if it has anything, until the scenario's undo."""
    for name in due_mounts(stage, node):
        stage.defer(partial(_mc, stage, node, "mcmount", name), f"{node} has not mounted {name}")
        _mc(stage, node, "mcumount", name)


def end_daemon(stage: Stage, node: str) -> None:
    """End a node's daemon, until the scenario's undo, which has all of its cluster mounted again."""
    lab, cluster = stage.lab, stage.site.nodes[node].cluster or ""
    stage.defer(lambda: administrators.mount_everywhere(lab, cluster), f"{cluster} has nothing mounted")
    stage.defer(partial(_mc, stage, node, "mcstartup"), f"{node}'s daemon is down")
    _mc(stage, node, "mcshutdown")


def start_daemon(stage: Stage, node: str) -> None:
    """Have a node that was rebooted serve and mount what it did, where its cluster owns or mounts anything."""
    cluster = stage.site.nodes[node].cluster or ""
    if cluster in (*stage.site.owners(), *stage.site.clients()):
        _mc(stage, node, "mcstartup")
        administrators.mount_everywhere(stage.lab, cluster)


def _mc(stage: Stage, node: str, *argv: str) -> None:
    mc(stage.lab, node, *argv).must()
