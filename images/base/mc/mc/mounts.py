"""mcmount, mcumount, mclsmount: filesystems on the nodes."""

import argparse
from dataclasses import dataclass

from mc import config as configuration
from mc import gluster, states
from mc.config import Config
from mc.native import Refused
from mc.table import show


@dataclass(frozen=True)
class Known:
    """A filesystem that the nodes of this cluster can mount, its own or another cluster's."""

    name: str
    remote_name: str
    contacts: list[str]
    mount_point: str
    access: str
    own: bool
    automount: bool


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
    """Refused when it is none."""
    if not text.startswith("/"):
        raise Refused(f"-T {text}: a mount point begins with /")


def mount(args: argparse.Namespace) -> None:
    """Mount filesystems on this node, or on others.

    Native: `mount`, or `umount` and `mount` where the client was denied; for read-only access
    `gluster system:: getspec` and `mount`; `openssl s_client` asks the contacts why not; `ssh` for -a, -w.
    """
    config = configuration.load()
    wanted = _wanted(config, args.filesystem)
    if args.all or args.nodes:
        states.everywhere(config, args, f"mcmount {args.filesystem}")
        return
    if (state := states.state_here(config)) != states.ACTIVE:
        raise Refused(f"the daemon of this node is {state}; mcstartup starts it, mcgetstate -a shows all")
    wrong = []
    for filesystem in wanted:
        try:
            print(mount_here(config, filesystem))
        except Refused as refused:
            wrong.append(str(refused))
    if wrong:
        raise Refused("\n".join(wrong))


def mount_here(config: Config, filesystem: Known) -> str:
    """Mount one on this node; says what became of it."""
    name = config.here().name
    state = gluster.state(filesystem.mount_point)
    if state is not None and state.usable:
        return f"{name}: {filesystem.name} is mounted at {filesystem.mount_point} already"
    if state is not None:  # denied and granted again: the old client does not try any more
        gluster.unmount(filesystem.mount_point, force=True)
    gluster.mount(
        filesystem.name,
        filesystem.remote_name,
        filesystem.contacts,
        filesystem.mount_point,
        access=filesystem.access,
        own=filesystem.own,
    )
    return f"{name}: {filesystem.name} is mounted at {filesystem.mount_point}"


def unmount(args: argparse.Namespace) -> None:
    """Unmount filesystems on this node, or on others.

    Native: `umount`; `ssh` for -a, -w.
    """
    config = configuration.load()
    wanted = _wanted(config, args.filesystem)
    if args.all or args.nodes:
        states.everywhere(config, args, f"mcumount {args.filesystem}")
        return
    for filesystem in wanted:
        if gluster.mounted(filesystem.mount_point):
            gluster.unmount(filesystem.mount_point)
            print(f"{config.here().name}: {filesystem.name} is unmounted")


def show_mounts(args: argparse.Namespace) -> None:
    """Say where filesystems are mounted, and how many of its servers each client is connected to.

    Native: reads .meta of each mount; `ssh` for -a.
    """
    config = configuration.load()
    wanted = _wanted(config, args.filesystem)
    heads = ["node name", "filesystem", "mount point", "servers"]
    if not args.all:
        show(heads, _rows(config, wanted), args.json)
        return
    said = states.ask(config, config.nodes, f"mclsmount {args.filesystem} --json")
    rows: list[list[object]] = []
    for node, answer in zip(config.nodes, said, strict=True):
        if answer is None:
            rows.append([node.name, "", "", states.UNKNOWN])
        else:
            rows += [list(row.values()) for row in answer]
    show(heads, rows, args.json)


def _rows(config: Config, wanted: list[Known]) -> list[list[object]]:
    rows: list[list[object]] = []
    for filesystem in wanted:
        state = gluster.state(filesystem.mount_point)
        seen = f"{state.connected} of {state.servers}" if state else "not mounted"
        rows.append([config.here().name, filesystem.name, filesystem.mount_point, seen])
    return rows


def _wanted(config: Config, name: str) -> list[Known]:
    everything = known(config)
    found = [f for f in everything if name in ("all", f.name)]
    if not found:
        names = ", ".join(f.name for f in everything) or "none (mcremotefs add names one)"
        raise Refused(f"there is no filesystem {name} in cluster {config.name}; there are: {names}")
    return found
