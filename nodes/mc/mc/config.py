"""The cluster's configuration: plain files in /var/mc, kept on one node and replicated to all others.

/var/mc/gen/ has a table a file, a row a line, and /var/mc/ssl/ the keys. Both are links into a folder, state.a or
state.b, that the link /var/mc/now leads to. A change is made in a copy, /var/mc/stage, which becomes the other folder;
then `now` is exchanged, so that whoever reads or is killed at any moment finds all of it old or all of it new. Then it
goes to every node by ssh. A node that does not answer gets it when it starts (mcstartup). Each change has a number, the
generation, and a node keeps what it has when it is given an older one.

A cluster may have a secondary configuration server. Then a change counts only when that has it, too, so that whichever
of the two is lost, the other has the last one; mcchcluster makes another node the one that keeps it.
"""

import fcntl
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from mc import native
from mc.native import Refused

VAR = Path("/var/mc")
#: The kernel's routes, by prefix: a line for an address, and one or more below it for what becomes of its packets.
FIB = Path("/proc/net/fib_trie")
#: Who changes /var/mc holds this, a file of the node's own: an I/O node's /var/mc is on its server.
LOCK = Path("/run/mc.lock")
#: What is replicated.
_PARTS = ("gen", "ssl")
#: How long a node waits for a state that is on its way to it, in seconds.
_ARRIVES_S = 60
#: The exit code of a node that has a newer state than it is given.
_OLDER = 9


class Node(NamedTuple):
    """A member; `quorum` nodes must be reached (more than half of them) for a member to be active."""

    number: int
    name: str
    address: str
    role: str

    @property
    def quorum(self) -> bool:
        return self.role == "quorum"


class Filesystem(NamedTuple):
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


class Grant(NamedTuple):
    """What another cluster may do with a filesystem of this one.

    state: held; or, until the servers have been told, coming, or leaving: then it does not count any more.
    """

    cluster: str
    filesystem: str
    access: str
    root: str
    state: str = "held"

    @property
    def counts(self) -> bool:
        """Whether the servers are to allow it."""
        return self.state != "leaving"


class RemoteCluster(NamedTuple):
    """One that owns filesystems which this cluster mounts; its contacts are asked one after the other."""

    name: str
    contacts: str


class RemoteFilesystem(NamedTuple):
    """Another cluster's filesystem under the name and at the place that it has here."""

    name: str
    remote_name: str
    cluster: str
    mount_point: str
    access: str
    automount: str


class NodeSetting(NamedTuple):
    """What mcchconfig -N sets: an attribute's value on one node, in place of the cluster's."""

    node: str
    attribute: str
    value: str


#: A line of a table.
Row = TypeVar("Row", Node, Filesystem, Grant, RemoteCluster, RemoteFilesystem, NodeSetting)


def wellformed(row: Row) -> Row:
    """The row; Refused where its table cannot hold it: blanks divide cells, and # begins a comment."""
    for column, cell in zip(row._fields, row, strict=True):
        if str(cell).split() != [str(cell)] or str(cell).startswith("#"):
            raise Refused(f"{column.replace('_', ' ')} {cell!r}: give one word, and no # before it")
    return row


class Config:
    """All of it, and the folder that it was read from, or that a change is prepared in.

    `server` keeps it, `secondary`, where there is one, has each change before it counts. `shell` and `copy` are the
    programs by which nodes are reached and given it, where they are not the usual ones.
    """

    def __init__(self, name: str, id: str, server: str, generation: int = 0) -> None:
        self.name, self.id, self.server, self.generation = name, id, server, generation
        self.secondary = self.shell = self.copy = ""
        self.folder = VAR
        self.nodes: list[Node] = []
        self.settings: dict[str, str] = {}
        self.node_settings: list[NodeSetting] = []
        self.clusters: list[str] = []
        self.filesystems: list[Filesystem] = []
        self.grants: list[Grant] = []
        self.remote_clusters: list[RemoteCluster] = []
        self.remote_filesystems: list[RemoteFilesystem] = []

    @property
    def ssl(self) -> Path:
        """Where the keys are."""
        return self.folder / "ssl"

    @property
    def edition(self) -> str:
        """What no other state of this cluster's configuration has, nor of another cluster's."""
        return f"{self.id}.{self.generation}"

    @property
    def servers(self) -> list[str]:
        """The configuration servers, one or two."""
        return [name for name in (self.server, self.secondary) if name]

    def value(self, attribute: str, node: str) -> str | None:
        """An attribute's value on a node; None where it has none."""
        own = (row.value for row in self.node_settings if (row.attribute, row.node) == (attribute, node))
        return next(own, self.settings.get(attribute))

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
            if node.address in own_addresses():
                return node
        raise Refused(f"this node is not in cluster {self.name} any more; mcaddnode on {self.server} adds it")


@cache
def own_addresses() -> set[str]:
    """This node's, as they were when the program first asked: those whose packets its kernel keeps."""
    found, prefix = set[str](), ""
    for words in map(str.split, FIB.read_text().splitlines()):
        if words[0] == "|--":
            prefix = words[1]
        elif words == ["/32", "host", "LOCAL"]:
            found.add(prefix)
    return found


#: What gen/cluster may say of a cluster besides, where it is not as usual.
_UNUSUAL = ("secondary", "shell", "copy")
#: The tables of rows, and what a row of each is.
TABLES: dict[str, type] = {
    "nodes": Node,
    "node_settings": NodeSetting,
    "filesystems": Filesystem,
    "grants": Grant,
    "remote_clusters": RemoteCluster,
    "remote_filesystems": RemoteFilesystem,
}


def need_name(cluster: str) -> None:
    """Refused where it is no name for a cluster: the servers' lists of names know commas and patterns."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", cluster):
        raise Refused(f"{cluster!r} is no name for a cluster; use letters, digits, dots and dashes")


def need_filesystem_name(name: str) -> None:
    """Refused where it is none: it becomes a part of files' names, and a word of commands on other nodes."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name) or name == "all":
        raise Refused(f"{name!r} is no name for a filesystem; use letters, digits, _ and dashes, and not `all`")


def member() -> bool:
    """Whether this node is in a cluster, by its own /var."""
    return (VAR / "gen" / "cluster").exists()


def load() -> Config:
    """The configuration that this node has."""
    gen = VAR / "gen"
    if not (gen / "cluster").exists():
        raise Refused("this node is in no cluster; mccrcluster makes one, mcaddnode adds it to one")
    about = dict(_rows(gen / "cluster"))
    config = Config(about["name"], about["id"], about["server"], int(about["generation"]))
    for key in _UNUSUAL:
        setattr(config, key, about.get(key, ""))
    native.use(config.shell, config.copy)
    config.settings = dict(_rows(gen / "settings"))
    config.clusters = [row[0] for row in _rows(gen / "clusters")]
    for table, kind in TABLES.items():
        numbers = [of is int for of in kind.__annotations__.values()]
        rows = [[int(v) if n else v for n, v in zip(numbers, row, strict=True)] for row in _rows(gen / table)]
        setattr(config, table, [kind(*row) for row in rows])
    return config


def _rows(file: Path) -> list[list[str]]:
    lines = file.read_text().splitlines() if file.exists() else []
    return [line.split() for line in lines if line and not line.startswith("#")]


def save(config: Config, folder: Path) -> None:
    """Write the tables. Refused where a row does not fit its own."""
    tables: dict[str, list[list[object]]] = {
        "cluster": [
            *([key, getattr(config, key)] for key in ("name", "id", "server", "generation")),
            *([key, getattr(config, key)] for key in _UNUSUAL if getattr(config, key)),
        ],
        "settings": [[key, value] for key, value in config.settings.items()],
        "clusters": [[name] for name in config.clusters],
    }
    heads = {"clusters": ["cluster"]}
    for table, kind in TABLES.items():
        heads[table] = list(kind.__annotations__)
        tables[table] = [list(wellformed(row)) for row in getattr(config, table)]
    (folder / "gen").mkdir(parents=True, exist_ok=True)
    for table, rows in tables.items():
        head = f"# {' '.join(heads[table])}\n" if table in heads else ""
        native.write(folder / "gen" / table, head + "".join(" ".join(map(str, row)) + "\n" for row in rows))


#: Whether this process has it; see `alone`.
_alone = False


@contextmanager
def alone() -> Iterator[None]:
    """Let no other command change the configuration meanwhile, or what follows from it on the servers.

    The later of two commands thus begins with what the earlier one has ended with. Within itself it does nothing.
    """
    global _alone
    if _alone:
        yield
        return
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another command changes the configuration; waiting for its end", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        _alone = True
        try:
            yield
        finally:
            _alone = False


@contextmanager
def change(first: Config | None = None, *, moves: bool = False, half: bool = False) -> Iterator[Config]:
    """Change the configuration, whole or not at all, and replicate it; `first` begins that of a new cluster.

    Only on the cluster's configuration server, and with its secondary one, where it has one. A change that `moves` the
    configuration may be made on either of them, without the other. Of one that is `half` of what the caller does other
    nodes hear by the other half. What the caller raises leaves all as it was.
    """
    import shutil

    with alone():
        now = first or _agreed(load(), needed=not moves)
        here = now.here().name
        if here not in (now.servers if moves else [now.server]):
            raise Refused(_elsewhere(now, moves))
        stage = VAR / "stage"
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(mode=0o755, parents=True)
        try:
            for part in _PARTS:
                if (VAR / part).exists():
                    shutil.copytree(VAR / part, stage / part, symlinks=True)
            now.folder = stage
            now.ssl.mkdir(mode=0o700, exist_ok=True)
            yield now
            now.generation += 1
            save(now, stage)
            others = [now.node(name) for name in now.servers if name != here]
            _commit(stage, others)
            _take_over()
        finally:
            shutil.rmtree(stage, ignore_errors=True)
        now.folder = VAR
        if not half:
            replicate([node for node in now.nodes if node.name != here and node not in others])


def _elsewhere(config: Config, moves: bool) -> str:
    """Where a change is to be made, for it is not here."""
    if moves:
        return f"the configuration of cluster {config.name} is kept on {' and '.join(config.servers)}; do it there"
    said = f"the configuration of cluster {config.name} is kept on {config.server}; do it there"
    if config.here().name == config.secondary:
        said += f", or, where that is lost, have it kept here: mcchcluster -p {config.secondary}"
    return said


def _agreed(config: Config, *, needed: bool) -> Config:
    """The configuration that both servers have, the newer one's; this node's where it is no server, or the only one.

    Refused where the other one does not answer and is `needed`: it might have been made the one that keeps it.
    """
    here = config.here().name
    if here not in config.servers or len(config.servers) < 2:
        return config
    (other,) = (name for name in config.servers if name != here)
    if here == config.secondary and needed:
        return config  # it is refused for that
    if _fetch_from([other], silently=True):
        return load()
    if needed:
        raise Refused(
            f"{other} does not answer, and a change takes both configuration servers; first: start {other}, or do"
            " without it: mcchcluster -s ''"
        )
    print(f"{other} does not answer; what is changed is the configuration of this node")
    return config


def _commit(stage: Path, servers: list[Node]) -> None:
    """Give the other configuration servers what is in stage/, before it counts. Refused where one does not take it."""
    packed = _packed(stage) if servers else b""
    for node in servers:
        if (rc := _give(node, packed)) != 0:
            why = "has a newer configuration" if rc == _OLDER else "does not take the change"
            raise Refused(f"{node.name} {why}, and it is to keep it, too; nothing has been changed")


def _take_over() -> None:
    """Put what is in stage/ in its place, at once."""
    import shutil

    now, old = VAR / "now", _state()
    new = "state.b" if old == "state.a" else "state.a"
    shutil.rmtree(VAR / new, ignore_errors=True)
    (VAR / "stage").rename(VAR / new)
    native.step(f"ln -sfn {new} {now}")
    other = VAR / ".now.new"
    other.unlink(missing_ok=True)
    other.symlink_to(new)
    other.rename(now)
    for part in _PARTS:
        if not (VAR / part).is_symlink():
            (VAR / part).symlink_to(f"now/{part}")
    if old:
        shutil.rmtree(VAR / old, ignore_errors=True)


def _state() -> str:
    """The folder that the configuration is in; none where there is none yet."""
    now = VAR / "now"
    return str(now.readlink()) if now.is_symlink() else ""


def forget() -> str:
    """A shell's command that takes a node's configuration away."""
    return f"cd {VAR} && rm -rf now gen ssl stage state.a state.b"


def _pack() -> list[str]:
    """A command that prints an archive of the parts; packed, for then one that was cut off is known by that."""
    return ["tar", "-C", str(VAR / "now"), "-czf", "-", *_PARTS]


def _packed(folder: Path) -> bytes:
    return native.run(["tar", "-C", str(folder), "-czf", "-", *_PARTS]).raw


def _unpack(*, locked: bool = False) -> str:
    """A shell's command that reads such an archive and puts the parts in their place, as _take_over does.

    It ends with _OLDER, and changes nothing, where the node has a newer state of the same cluster. `locked`: whoever
    runs it has the lock.
    """
    lock = "" if locked else f" && exec 9>{LOCK} && flock -w {_ARRIVES_S} 9"
    about = (
        "about() { id= generation=0; [ ! -e $1/gen/cluster ] || while read -r key value; do case $key in"
        " id) id=$value ;; generation) generation=$value ;; esac; done <$1/gen/cluster; }"
    )
    steps = [
        about,
        f"[ -d {LOCK.parent} ] && [ -d {VAR} ] || mkdir -p {LOCK.parent} {VAR}; cd {VAR}{lock} || exit 1",
        "new=state.a old=state.b; [ ! now -ef state.a ] || new=state.b old=state.a",
        f"[ ! -e $new ] || rm -rf $new; mkdir $new && timeout {_ARRIVES_S} tar -xzpf - -C $new || exit 1",
        "about $new; of=$id is=$generation; about now",
        f'[ "$of" != "$id" ] || [ "$is" -ge "$generation" ] || {{ rm -rf $new; exit {_OLDER}; }}',
        "ln -sfn $new .now.new && mv -T .now.new now || exit 1",
        f"for part in {' '.join(_PARTS)}; do [ -L $part ] || ln -s now/$part $part || exit 1; done",
        "[ ! -e $old ] || rm -rf $old || :",
    ]
    return "; ".join(steps)


def replicate(nodes: list[Node]) -> None:
    """Give nodes this node's copy, owners and modes kept; those that do not take it are named."""
    packed = _packed(VAR / "now") if nodes else b""
    codes = native.side_by_side(lambda node: _give(node, packed), nodes)
    late = [node.name for node, rc in zip(nodes, codes, strict=True) if rc not in (0, _OLDER)]
    newer = [node.name for node, rc in zip(nodes, codes, strict=True) if rc == _OLDER]
    if late:
        print(f"these nodes do not answer, and get the change when they start: {' '.join(late)}")
    if newer:
        print(f"these nodes have a newer configuration, and keep it: {' '.join(newer)}")


def _give(node: Node, packed: bytes) -> int:
    """Give a node an archive, which it puts in place; 0, _OLDER, or the exit code of what failed."""
    if not native.copies():
        return native.ssh(node.name, _unpack(), stdin=packed).rc
    import tempfile

    arrived = f"/run/mc.{node.number}.packed"
    with tempfile.NamedTemporaryFile(dir=LOCK.parent) as file:
        file.write(packed)
        file.flush()
        sent = native.copy(file.name, node.name, arrived)
    if sent.rc != 0:
        return sent.rc
    return native.ssh(node.name, f"exec <{arrived} && rm {arrived} || exit 1; {_unpack()}").rc


def fetch(config: Config) -> Config:
    """The configuration servers' copy, now this node's, too; or what this node has, where that is all or is newer.

    A server of filesystems must not go on with what it has: who was denied meanwhile would be let in again. Where the
    configuration servers are silent it asks the other quorum nodes. Refused where more than half of them, itself
    counted, do not answer.
    """
    here = config.here()
    others = [name for name in config.servers if name != here.name]
    if not others:
        return config
    if _fetch_from(others):
        return load()
    does = "does" if len(others) == 1 else "do"
    print(f"{' and '.join(others)} {does} not answer; going on with the configuration of this node")
    if here.name == config.server or not any(here.name in f.server_names for f in config.filesystems):
        return config
    quorum = [node.name for node in config.nodes if node.quorum]
    heard = _fetch_from([name for name in quorum if name not in (here.name, *others)]) + here.quorum
    if 2 * heard <= len(quorum):
        raise Refused(
            f"this node serves filesystems, and of {len(quorum)} quorum nodes {heard} say who may mount them: more than"
            f" half must; first: start {config.server}"
        )
    return load()


def _fetch_from(nodes: list[str], *, silently: bool = False) -> int:
    """Take the newest state that they and this node have; returns how many answer."""
    answers = native.side_by_side(lambda name: native.ssh(name, shlex.join(_pack())), nodes)
    found = [(name, got.raw) for name, got in zip(nodes, answers, strict=True) if got.rc == 0]
    for name, packed in found:
        taken = native.run(["sh", "-c", _unpack(locked=silently)], stdin=packed)
        if taken.rc == _OLDER and not silently:
            print(f"{name} has an older configuration than this node; going on with that of this node")
        elif taken.rc not in (0, _OLDER):
            raise Refused(f"the configuration of {name} cannot be put in place: {taken.said}")
    return len(found)
