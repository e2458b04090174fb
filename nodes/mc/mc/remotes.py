"""mcremotecluster, mcremotefs: the clusters and filesystems of others that this cluster mounts.

Source: Redpaper, "On the local CLIENT cluster, access the remote GPFS file systems".
"""

import argparse
from pathlib import Path

from mc import config as configuration
from mc import drivers, mounts
from mc.config import Config, RemoteCluster, RemoteFilesystem
from mc.native import Refused
from mc.nodes import resolve
from mc.table import show


def add_cluster(args: argparse.Namespace) -> None:
    """Know a cluster that owns filesystems by its public key and its contact nodes.

    Native: `host` asks for each contact, `openssl x509` checks the key; changes `gen/remote_clusters`,
    `ssl/known_cluster.*`, {trusted}; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    configuration.need_name(args.cluster)
    with configuration.change() as config:
        if args.cluster == config.name or any(c.name == args.cluster for c in config.remote_clusters):
            raise Refused(f"cluster {args.cluster} is known already; mcremotecluster update changes it")
        _take(config, args, RemoteCluster(args.cluster, _contacts(args.contacts)))


def update_cluster(args: argparse.Namespace) -> None:
    """Know it by other public keys, or by other contact nodes.

    Native: `host` asks for each contact, `openssl x509` checks the keys; changes `gen/remote_clusters`,
    `ssl/known_cluster.*`, {trusted}; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    with configuration.change() as config:
        known = config.remote_cluster(args.cluster)
        config.remote_clusters.remove(known)
        _take(config, args, RemoteCluster(args.cluster, _contacts(args.contacts) if args.contacts else known.contacts))


def delete_cluster(args: argparse.Namespace) -> None:
    """Forget it.

    Native: changes `gen/remote_clusters`, `ssl/known_cluster.*`, {trusted};
    `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    with configuration.change() as config:
        known = config.remote_cluster(args.cluster)
        if used := [f.name for f in config.remote_filesystems if f.cluster == known.name]:
            raise Refused(f"{known.name} owns {', '.join(used)}; first: mcremotefs delete {used[0]}")
        config.remote_clusters.remove(known)
        drivers.of(config).KEYS.forget(_key_of(config, known.name))
        drivers.of(config).trust(config)


def show_clusters(args: argparse.Namespace) -> None:
    """Show the clusters whose filesystems this one mounts.

    Native: `openssl x509` says the digests.
    """
    config = configuration.load()
    chosen = config.remote_clusters if args.cluster == "all" else [config.remote_cluster(args.cluster)]
    rows = []
    for known in chosen:
        owned = ", ".join(f"{f.remote_name} ({f.name})" for f in config.remote_filesystems if f.cluster == known.name)
        digests = ", ".join(drivers.of(config).KEYS.digests(_key_of(config, known.name)))
        rows.append([known.name, known.contacts, digests, owned or "(none defined)"])
    show(["cluster name", "contact nodes", "SHA-256 digest", "filesystems"], rows, args.json)


def add_filesystem(args: argparse.Namespace) -> None:
    """Name another cluster's filesystem, and say where it is to be mounted.

    Native: changes `gen/remote_filesystems`; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    with configuration.change() as config:
        config.remote_cluster(args.cluster)
        for known in config.remote_filesystems:
            if known.name == args.name or known.mount_point == args.mount_point:
                raise Refused(f"there is {known.name} at {known.mount_point} already; mcremotefs show lists them")
        mounts.need_mount_point(args.mount_point)
        remote = args.remote or args.name
        for name in (args.name, remote):
            configuration.need_filesystem_name(name)
        new = RemoteFilesystem(args.name, remote, args.cluster, args.mount_point, args.access, args.automount)
        config.remote_filesystems.append(new)


def delete_filesystem(args: argparse.Namespace) -> None:
    """Forget another cluster's filesystem.

    Native: changes `gen/remote_filesystems`; `tar`, `ssh`, `scp` and `sh` give it to all nodes.
    """
    with configuration.change() as config:
        found = [f for f in config.remote_filesystems if f.name == args.name]
        if not found:
            raise Refused(f"there is no remote filesystem {args.name}; mcremotefs show lists them")
        if drivers.of(config).mounted(found[0].mount_point):
            raise Refused(f"{args.name} is mounted; first: mcumount {args.name} -a")
        config.remote_filesystems.remove(found[0])


def show_filesystems(args: argparse.Namespace) -> None:
    """Show the filesystems of other clusters that this one mounts."""
    config = configuration.load()
    rows = [
        [f.name, f.remote_name, f.cluster, f.mount_point, f.access, f.automount]
        for f in config.remote_filesystems
        if args.name in ("all", f.name) and args.cluster in (None, f.cluster)
    ]
    show(["local name", "remote name", "cluster name", "mount point", "options", "automount"], rows, args.json)


def _contacts(names: str) -> str:
    for name in names.split(","):
        resolve(name)
    return names


def _take(config: Config, args: argparse.Namespace, cluster: RemoteCluster) -> None:
    config.remote_clusters.append(cluster)
    if args.key:
        driver = drivers.of(config)
        driver.KEYS.know(_key_of(config, args.cluster), Path(args.key), args.cluster)
        driver.trust(config)


def _key_of(config: Config, cluster: str) -> Path:
    return config.ssl / f"known_cluster.{cluster}"
