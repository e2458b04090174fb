"""The cluster's configuration: plain files in /var/mc, kept on one node and replicated to all others.

/var/mc/gen/ has a table a file, a row a line, and /var/mc/ssl/ the keys. A change is made in a copy,
/var/mc/stage, and takes the place of both at once; then it goes to every node by ssh. A node that does not
answer gets it when it starts (mcstartup).
"""

import fcntl
import json
import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path

from mc import native
from mc.native import Refused

VAR = Path("/var/mc")
#: What is replicated.
_PARTS = ("gen", "ssl")


class Row:
    """A line of a table; blanks divide its cells, and # begins a comment."""

    def __post_init__(self) -> None:
        for column, cell in vars(self).items():
            if str(cell).split() != [str(cell)] or str(cell).startswith("#"):
                raise Refused(f"{column.replace('_', ' ')} {cell!r}: give one word, and no # before it")


@dataclass(frozen=True)
class Node(Row):
    """A member; `quorum` nodes must be reached (more than half of them) for a member to be active."""

    number: int
    name: str
    address: str
    role: str

    @property
    def quorum(self) -> bool:
        return self.role == "quorum"


@dataclass(frozen=True)
class Filesystem(Row):
    """One that this cluster owns.

    layout: stripe, each file over all servers, of which `parity` may be missing; whole, a file on one of them.
    """

    name: str
    mount_point: str
    servers: str
    bricks: str
    layout: str = "stripe"
    parity: int = 1

    @property
    def server_names(self) -> list[str]:
        return self.servers.split(",")


@dataclass(frozen=True)
class Grant(Row):
    """What another cluster may do with a filesystem of this one."""

    cluster: str
    filesystem: str
    access: str
    root: str


@dataclass(frozen=True)
class RemoteCluster(Row):
    """One that owns filesystems which this cluster mounts; its contacts are asked one after the other."""

    name: str
    contacts: str


@dataclass(frozen=True)
class RemoteFilesystem(Row):
    """Another cluster's filesystem under the name and at the place that it has here."""

    name: str
    remote_name: str
    cluster: str
    mount_point: str
    access: str
    automount: str


@dataclass
class Config:
    """All of it, and the folder that it was read from, or that a change is prepared in."""

    name: str = ""
    id: str = ""
    server: str = ""
    folder: Path = field(default_factory=lambda: VAR)
    nodes: list[Node] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    filesystems: list[Filesystem] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    remote_clusters: list[RemoteCluster] = field(default_factory=list)
    remote_filesystems: list[RemoteFilesystem] = field(default_factory=list)

    @property
    def ssl(self) -> Path:
        """Where the keys are."""
        return self.folder / "ssl"

    def node(self, name: str) -> Node:
        """The member of this name; case does not matter, as in DNS."""
        for node in self.nodes:
            if node.name.lower() == name.lower():
                return node
        raise Refused(f"there is no node {name} in cluster {self.name}; mclsnode lists its nodes")

    def filesystem(self, name: str) -> Filesystem:
        for filesystem in self.filesystems:
            if filesystem.name == name:
                return filesystem
        known = ", ".join(f.name for f in self.filesystems) or "none"
        raise Refused(f"cluster {self.name} owns no filesystem {name}; it owns: {known}")

    def remote_cluster(self, name: str) -> RemoteCluster:
        for cluster in self.remote_clusters:
            if cluster.name == name:
                return cluster
        raise Refused(f"there is no remote cluster {name}; mcremotecluster show lists them, add adds one")

    def here(self) -> Node:
        """The member that this node is, by its addresses."""
        for node in self.nodes:
            if node.address in _own_addresses():
                return node
        raise Refused(f"this node is not in cluster {self.name} any more; mcaddnode on {self.server} adds it")


@cache
def _own_addresses() -> set[str]:
    """This node's, which do not change while a command runs."""
    said = json.loads(native.run(["/usr/bin/ip", "-j", "-4", "address"], quiet=True).out or "[]")
    return {info["local"] for device in said for info in device["addr_info"]}


#: The tables of rows, and what a row of each is.
TABLES: dict[str, type] = {
    "nodes": Node,
    "filesystems": Filesystem,
    "grants": Grant,
    "remote_clusters": RemoteCluster,
    "remote_filesystems": RemoteFilesystem,
}


def member() -> bool:
    """Whether this node is in a cluster, by its own /var."""
    return (VAR / "gen" / "cluster").exists()


def load() -> Config:
    """The configuration that this node has."""
    gen = VAR / "gen"
    if not (gen / "cluster").exists():
        raise Refused("this node is in no cluster; mccrcluster makes one, mcaddnode adds it to one")
    about = dict(_rows(gen / "cluster"))
    config = Config(about["name"], about["id"], about["server"])
    config.settings = dict(_rows(gen / "settings"))
    config.clusters = [row[0] for row in _rows(gen / "clusters")]
    for table, kind in TABLES.items():
        numbers = [column.type is int for column in fields(kind)]
        rows = [[int(v) if n else v for n, v in zip(numbers, row, strict=True)] for row in _rows(gen / table)]
        setattr(config, table, [kind(*row) for row in rows])
    return config


def _rows(file: Path) -> list[list[str]]:
    lines = file.read_text().splitlines() if file.exists() else []
    return [line.split() for line in lines if line and not line.startswith("#")]


def save(config: Config, folder: Path) -> None:
    """Write the tables."""
    tables: dict[str, list[list[object]]] = {
        "cluster": [["name", config.name], ["id", config.id], ["server", config.server]],
        "settings": [[key, value] for key, value in config.settings.items()],
        "clusters": [[name] for name in config.clusters],
    }
    heads = {"clusters": ["cluster"]}
    for table, kind in TABLES.items():
        heads[table] = [column.name for column in fields(kind)]
        tables[table] = [[getattr(row, name) for name in heads[table]] for row in getattr(config, table)]
    (folder / "gen").mkdir(parents=True, exist_ok=True)
    for table, rows in tables.items():
        head = f"# {' '.join(heads[table])}\n" if table in heads else ""
        native.write(folder / "gen" / table, head + "".join(" ".join(map(str, row)) + "\n" for row in rows))


@contextmanager
def change(first: Config | None = None) -> Iterator[Config]:
    """Change the configuration, whole or not at all, and replicate it; `first` begins that of a new cluster.

    Only on the cluster's configuration server. What the caller raises leaves all as it was.
    """
    VAR.mkdir(parents=True, exist_ok=True)
    with (VAR / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        now = first or load()
        if now.here().name != now.server:
            raise Refused(f"the configuration of cluster {now.name} is kept on {now.server}; do it there")
        stage = VAR / "stage"
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(mode=0o700)
        try:
            for part in _PARTS:
                if (VAR / part).exists():
                    shutil.copytree(VAR / part, stage / part, symlinks=True)
            now.folder = stage
            now.ssl.mkdir(mode=0o700, exist_ok=True)
            yield now
            save(now, stage)
            _take_over()
        finally:
            shutil.rmtree(stage, ignore_errors=True)
        now.folder = VAR
    replicate([node for node in now.nodes if node.name != now.server])


def _take_over() -> None:
    """Put what is in stage/ in its place. What was there leaves by a rename, too: daemons read the keys meanwhile."""
    for part in _PARTS:
        native.step(f"mv {VAR}/stage/{part} {VAR}/{part}")
        if (VAR / part).exists():
            os.rename(VAR / part, VAR / "stage" / f"{part}.old")
        os.rename(VAR / "stage" / part, VAR / part)


def _pack() -> list[str]:
    """A command that prints an archive of the parts; packed, for then one that was cut off is known by that."""
    return ["tar", "-C", str(VAR), "-czf", "-", *_PARTS]


def _unpack() -> str:
    """A shell's command that reads such an archive and puts the parts in their place."""
    return (
        f"mkdir -p {VAR} && cd {VAR} && rm -rf stage && mkdir -m 700 stage && tar -xzpf - -C stage &&"
        " rm -rf gen ssl && mv stage/* . && rmdir stage"
    )


def replicate(nodes: list[Node]) -> None:
    """Give nodes this node's copy, owners and modes kept; those that do not answer are named."""
    packed = native.run(_pack()).raw if nodes else b""

    def give(node: Node) -> str:
        return "" if native.ssh(node.name, _unpack(), stdin=packed).rc == 0 else node.name

    late = [name for name in native.side_by_side(give, nodes) if name]
    if late:
        print(f"these nodes do not answer, and get the change when they start: {' '.join(late)}")


def fetch(config: Config) -> Config:
    """The configuration server's copy, now this node's, too; or what this node has, when it does not answer."""
    if config.here().name == config.server:
        return config
    got = native.ssh(config.server, shlex.join(_pack()))
    if got.rc == 0:
        native.must(["sh", "-c", _unpack()], stdin=got.raw)
        return load()
    print(f"{config.server} does not answer; going on with the configuration of this node")
    return config
