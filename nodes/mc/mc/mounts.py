"""mcmount, mcumount, mclsmount: filesystems on the nodes."""

import argparse
import re

from mc import config as configuration
from mc import drivers, states
from mc.config import Config
from mc.drivers.known import Known
from mc.native import Refused
from mc.table import show


def known(config: Config) -> list[Known]:
    """All of them."""
    own = [Known(f.name, f.name, f.server_names, f.mount_point, "rw", True, False) for f in config.filesystems]
    return own + [
        Known(
            f.name,
            f.remote_name,
            config.remote_cluster(f.cluster).contacts.split(","),
            f.mount_point,
            f.access,
            False,
            f.automount == "yes",
        )
        for f in config.remote_filesystems
    ]


def need_mount_point(text: str) -> None:
    """Refused when it is none, or not as the kernel will call it: whether it is mounted is found out by that."""
    if not re.fullmatch(r"(/(?!\.\.?(/|$))[^/\\]+)+", text):
        raise Refused(f"-T {text}: a mount point begins with /, has no / at its end, and no //, . or .. in it")


def mount(args: argparse.Namespace) -> None:
    """Mount filesystems on this node, or on others.

    Native: {mount}; `ssh` for -a, -w.
    """
    config = configuration.load()
    chosen = wanted(config, args.filesystem)
    if args.all or args.nodes:
        states.everywhere(config, args, f"mcmount {args.filesystem}")
        return
    if (state := states.state_here(config)) != states.ACTIVE:
        raise Refused(f"the daemon of this node is {state}; mcstartup starts it, mcgetstate -a shows all")
    wrong = []
    for filesystem in chosen:
        try:
            print(mount_here(config, filesystem))
        except Refused as refused:
            wrong.append(str(refused))
    if wrong:
        raise Refused("\n".join(wrong))


def mount_here(config: Config, filesystem: Known) -> str:
    """Mount one on this node; says what became of it."""
    name, driver = config.here().name, drivers.of(config)
    state = driver.state(filesystem.mount_point)
    if state is not None and state.usable:
        return f"{name}: {filesystem.name} is mounted at {filesystem.mount_point} already"
    if state is not None:  # denied and granted again: the old client does not try any more
        driver.unmount(filesystem.mount_point, force=True)
    driver.mount(config, filesystem)
    return f"{name}: {filesystem.name} is mounted at {filesystem.mount_point}"


def unmount(args: argparse.Namespace) -> None:
    """Unmount filesystems on this node, or on others.

    Native: {unmount}; `ssh` for -a, -w.
    """
    config = configuration.load()
    chosen = wanted(config, args.filesystem)
    if args.all or args.nodes:
        states.everywhere(config, args, f"mcumount {args.filesystem}")
        return
    driver = drivers.of(config)
    for filesystem in chosen:
        if driver.mounted(filesystem.mount_point):
            driver.unmount(filesystem.mount_point)
            print(f"{config.here().name}: {filesystem.name} is unmounted")


def show_mounts(args: argparse.Namespace) -> None:
    """Say where filesystems are mounted, and how many of its servers each client is connected to.

    Native: {state}; `ssh` for -a.
    """
    config = configuration.load()
    chosen = wanted(config, args.filesystem)
    heads = ["node name", "filesystem", "mount point", "servers"]
    if not args.all:
        show(heads, _rows(config, chosen), args.json)
        return
    said = states.ask(config, config.nodes, f"mclsmount {args.filesystem} --json")
    rows: list[list[object]] = []
    for node, answer in zip(config.nodes, said, strict=True):
        if answer is None:
            rows.append([node.name, "", "", states.UNKNOWN])
        else:
            rows += [list(row.values()) for row in answer]
    show(heads, rows, args.json)


def _rows(config: Config, chosen: list[Known]) -> list[list[object]]:
    rows: list[list[object]] = []
    for filesystem in chosen:
        state = drivers.of(config).state(filesystem.mount_point)
        seen = f"{state.connected} of {state.servers}" if state else "not mounted"
        rows.append([config.here().name, filesystem.name, filesystem.mount_point, seen])
    return rows


def wanted(config: Config, name: str) -> list[Known]:
    """The filesystem of a local name, or all; Refused where there is none."""
    everything = known(config)
    found = [f for f in everything if name in ("all", f.name)]
    if not found:
        names = ", ".join(f.name for f in everything) or "none (mcremotefs add names one)"
        raise Refused(f"there is no filesystem {name} in cluster {config.name}; there are: {names}")
    return found
