"""GlusterFS.

    start, stop, answers      the daemon of a node (glusterd)
    serve                     make a filesystem on its servers: stripes with parity, or each file whole on one of them
    trust                     whose public keys daemons accept: those in ssl/glusterfs.clients; and mounts: those in
                              ssl/glusterfs.ca. They read them at each connection
    grant                     which cluster may mount it, and how; the servers enforce it
    mount, unmount, state     on a client
    pagepool, maxblocksize    write-behind's cache of a file, and what it gathers before it sends (write-behind(xlator))
    pingTimeout               how long a silent server makes a client wait

Sources: gluster(8), mount.glusterfs(8), "Setting up GlusterFS with SSL/TLS" of its administrator's guide.
"""

from __future__ import annotations

import re
import shlex
import socket
import struct
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mc import keys, native
from mc.config import Config, Filesystem
from mc.drivers.known import Disk, Known, State
from mc.native import Refused

if TYPE_CHECKING:
    from mc.drivers.driver import Keys

NATIVE: Mapping[str, str] = {
    "shown": "`ssl/glusterfs.*`",
    "admitted": "`ssl/glusterfs.clients`",
    "trusted": "`ssl/glusterfs.ca`",
    "start": "`/etc/ssl/glusterfs.*`, `/var/lib/glusterd/secure-access` and, of who was denied meanwhile,"
    " `/var/lib/glusterd/vols/*/*.vol`; `/run/mc.name`; `glusterd`",
    "stop": "`pkill` ends glusterd and its bricks",
    "answers": "`gluster pool list` asks the quorum nodes' daemons; this node's own is asked the same by its socket",
    "serve": "`gluster pool list`, `gluster peer probe`, `gluster peer status`, `gluster volume create`,"
    " `gluster volume set`, `gluster volume start`",
    "grant": "`gluster volume set` auth.ssl-allow, server.root-squash; `gluster volume start` and `ssh` start bricks"
    " anew where read-only access changes, or an earlier command was broken off, and `ssh` ends what a server serves"
    " whose daemon is down",
    "mount": "`glusterfs`, asked by `stat` for its first answer, or `umount` and `glusterfs` where the client was"
    " denied; for read-only access `gluster system:: getspec` and `glusterfs`; `openssl s_client` asks the contacts"
    " why not",
    "state": "reads .meta of each mount",
    "level": "`glusterfs --version`",
    "disks": "`gluster system:: getspec` asks the contacts what they tell clients",
    "unmount": "`umount`",
    "keys": "glusterfs.{pem,key}     the pair in use, as the native daemons want it\n"
    "glusterfs.clients       all public keys that may mount, this cluster's own among them\n"
    "glusterfs.ca            all public keys that may serve, this cluster's own among them",
    "taken": "`umount -l`",
    "attributes": "`gluster volume set` network.ping-timeout",
}
KEYS: Keys = keys
PORT = 24007
#: What this node is called, for filter/brick: bricks are.
_CALLED = Path("/run/mc.name")
#: Has glusterd leave out what it does in vain.
_PRELOAD = "/usr/lpp/mc/preload/glusterd.so"
_SECURE = Path("/var/lib/glusterd/secure-access")
_LOGS = Path("/var/log/glusterfs")
#: Where a daemon keeps its bricks' volume files, and their lines that name whom they let in; `/ro` of filter/brick's
#: export for those who may only read.
_VOLUMES = Path("/var/lib/glusterd/vols")
_LETS_IN = re.compile(r"^( *option auth\.login\.(/ro(?=/))?\S+\.ssl-allow )(\S+)$", re.MULTILINE)
#: The keys under the names that daemons look for: the public one in use, its private one, those that mounts trust
#: (GlusterFS's own default), and those that servers do (filter/brick and glusterd.vol tell them).
_NAMES = ("glusterfs.pem", "glusterfs.key", "glusterfs.ca", "glusterfs.clients")
_KEYS = {name.removeprefix("glusterfs."): f"/etc/ssl/{name}" for name in _NAMES}
_LET_IN = "State: Peer in Cluster (Connected)"
_ANSWER_S = 2.5
#: Where a node's daemon listens for `gluster`, and what `gluster pool list` sends there: a record with a call of ONC
#: RPC (RFC 5531: its number, call, version 2, program, its version, procedure, no credentials, no verifier), of all
#: nodes, with nothing more. What it takes for an answer begins with: that number, reply, accepted, no verifier,
#: success, done.
_OWN_SOCKET = "/var/run/glusterd.socket"
_XID = 1
_POOL_LIST = struct.pack(">13I", 1 << 31 | 48, _XID, 0, 2, 1238463, 2, 3, *(0, 0), *(0, 0), 2, 0)
_LISTED = struct.pack(">7I", _XID, 1, 0, *(0, 0), 0, 0)
_READY_S = 20
_RESTART_S = 60
#: How long the servers may be busy with a command that was broken off, and how often they are asked again.
_BUSY_S = 30
_POLL_S = 0.5
#: Clients try a lost brick every 3 s: who is not back within this time is not let in any more.
_CLIENTS_S = 10
#: How often all servers are asked for their clients, or by a client that is started for it, for what is to be healed:
#: that takes a quarter of a second of a CPU, which they need to heal.
_LOOK_S = 1
#: How long a mount may take, and how often it is tried: a client that begins just as some servers have been told of a
#: change, and others not, now and then waits for ever, and the next one does not. A first contact that says nothing
#: takes a minute (docs/trust.md).
_MOUNT_S, _MOUNTS = 120, 2
#: How long a contact that is content with a key may say nothing.
_CONTENT_S = 3
_CACHE, _GATHERED = "cache-size", "aggregate-size"
_NO_CONTACT = "no contact node answers; is the owner up, and the route to it?"
#: What a client's log says when the mount failed, and what it means; the first that is found counts.
_MEANINGS = {
    "Authentication failed": "the owner has not granted it to this cluster (mcauth grant), or read-only (-o ro)",
    "certificate verify failed": "the contact's key is not the one that this cluster knows: get the owner's"
    " id_rsa.pub again (mcremotecluster update)",
    "alert unknown ca": "the owner does not know this cluster's key (mcauth add there)",
    "first lookup on root failed": "too few of its servers serve it; mcgetstate -a there",
    "failed to get the 'volume file' from server": "the owner has no filesystem of that name",
    "failed to fetch volume file": _NO_CONTACT,
    "Exhausted all volfile servers": _NO_CONTACT,
}


def _until(what: str, holds: Callable[[], bool], limit_s: float, every_s: float = 0.2) -> None:
    if not native.comes(holds, limit_s, every_s):
        raise Refused(f"{what}: not within {limit_s:g} s")


def answers(_config: Config, host: str | None = None) -> bool:
    """Whether a node's daemon answers (None: this node's). With TLS, another's does to the cluster's own key only."""
    try:  # far cheaper than to start the client of a daemon that does not listen
        socket.create_connection((host or "localhost", PORT), _ANSWER_S).close()
    except OSError:
        return False
    if host is None:
        return answers_by(_OWN_SOCKET)
    return native.run(["gluster", f"--remote-host={host}", "pool", "list"], timeout_s=_ANSWER_S, quiet=True).rc == 0


def answers_by(path: str) -> bool:
    """Whether the daemon that listens there lists its pool, as `gluster pool list` would see, which takes 70 ms."""
    with socket.socket(socket.AF_UNIX) as own:
        own.settimeout(_ANSWER_S)
        try:
            own.connect(path)
            own.sendall(_POOL_LIST)
            with own.makefile("rb") as reply:
                return reply.read(4 + len(_LISTED))[4:] == _LISTED
        except OSError:
            return False


def start(config: Config) -> None:
    """Start this node's daemon, with TLS where the cluster has chosen a cipher list."""
    _LOGS.mkdir(parents=True, exist_ok=True)
    _SECURE.parent.mkdir(parents=True, exist_ok=True)
    if "cipherList" in config.settings:
        native.step(f"touch {_SECURE}")
        _SECURE.touch()
    else:
        native.step(f"rm -f {_SECURE}")
        _SECURE.unlink(missing_ok=True)
    for link in map(Path, _KEYS.values()):
        native.link(link, f"/var/mc/ssl/{link.name}")
    native.write(_CALLED, f"{config.here().name}\n")
    _shut_out(config)
    native.must(["glusterd"], preload=_PRELOAD)
    _until("glusterd answers", lambda: answers(config), _READY_S)


def _shut_out(config: Config) -> None:
    """Take from this node's bricks, before its daemon starts them, whom the tables do not let in any more.

    A daemon starts its bricks with what it was told when it last ran, and hears the others' news only then. Whom they
    are to let in besides it hears so, too.
    """
    for filesystem in config.filesystems:
        granted = {(g.cluster, g.access) for g in config.grants if g.filesystem == filesystem.name and g.counts}
        granted |= {(config.name, "rw")}
        for file in sorted(_VOLUMES.glob(f"{filesystem.name}/{filesystem.name}.*.vol")):
            text = file.read_text()
            if (fewer := _LETS_IN.sub(partial(_fewer, granted, config.name), text)) != text:
                native.write(file, fewer, 0o600)  # it has a password in it


def _fewer(granted: set[tuple[str, str]], own: str, line: re.Match[str]) -> str:
    """A line that names clusters, without those that are granted nothing; `own` where none would be left."""
    still = [name for name in line[3].split(",") if (name, "ro" if line[2] else "rw") in granted]
    return line[1] + (",".join(still) or own)


def stop() -> None:
    """End this node's daemon and what it serves."""
    for daemon in ("glusterd", "glusterfsd", "glusterfs"):
        native.run(["pkill", "-x", daemon])
    _until("the daemons have ended", lambda: native.run(["pgrep", "-x", "gluster(d|fsd|fs)"], quiet=True).rc != 0, 20)


def trust(config: Config) -> None:
    """Daemons show the pair in use, and accept public keys by files that they read themselves.

    A cluster that may mount is not trusted as a server by that, nor the other way: two clusters that mount each other's
    filesystems know each other twice.
    """
    shown, private, servers, clients = (config.ssl / name for name in _NAMES)
    for link, target in {private: "id_rsa", shown: "id_rsa.cert"}.items():
        if keys.in_use(config.ssl) is not None and not link.is_symlink():
            native.link(link, target)
    native.write(servers, keys.trusted(config.ssl, "known_cluster"))
    native.write(clients, keys.trusted(config.ssl, "authorized_cluster"))


def serve(config: Config, filesystem: Filesystem) -> None:
    """Make a filesystem and start it."""
    layout = _layout(filesystem)
    here = config.here().name
    pool = [here, *native.must(["gluster", "pool", "list"]).split()]
    for server in filesystem.server_names:
        if server not in pool:
            native.must(["gluster", "peer", "probe", server])
    _until("the servers are connected with each other", lambda: _full_mesh(here, filesystem.server_names), _READY_S)
    bricks = [f"{server}:{filesystem.bricks}" for server in filesystem.server_names]
    _gluster("volume", "create", filesystem.name, *layout, *bricks, "force")
    tls = {"client.ssl": "on", "server.ssl": "on", "ssl.certificate-depth": "1", "auth.ssl-allow": config.name}
    wait = {"network.ping-timeout": config.settings.get("pingTimeout", "10")}
    _set(filesystem.name, tls | wait)
    _gluster("volume", "start", filesystem.name)


def _layout(filesystem: Filesystem) -> list[str]:
    """The words that say it; Refused where it is none. (gluster(8): redundancy, less than half of the bricks.)"""
    servers, parity = len(filesystem.server_names), filesystem.parity
    if filesystem.layout == "whole":
        if parity:
            raise Refused(f"parity {parity}: a file that is whole on one server has none; use 0")
        return []
    if not 0 < 2 * parity < servers:
        raise Refused(
            f"{servers} servers, parity {parity}: stripes take a parity of 1 or more, and over twice as many servers"
        )
    return ["disperse", str(servers), "redundancy", str(parity)]


def _full_mesh(here: str, servers: list[str]) -> bool:
    """Whether each knows all others, and takes their word: one that is connected may still have to be let in.

    This node, which may serve nothing itself, knows them by the names that it was told; others may by other names.
    """
    all_ = dict.fromkeys([here, *servers])
    seen = {s: native.run(["gluster", f"--remote-host={s}", "peer", "status"], quiet=True).out for s in all_}
    let_in = {word for peer in seen[here].split("Hostname: ")[1:] if _LET_IN in peer for word in peer.split()}
    return let_in >= all_.keys() - {here} and all(text.count(_LET_IN) >= len(all_) - 1 for text in seen.values())


def _gluster(*words: str) -> str:
    return native.must(["gluster", "--mode=script", *words])


def _set(volume: str, options: dict[str, str]) -> None:
    """Each server is told. What a command that was killed has begun goes on for a moment, and is waited for."""
    argv = ["gluster", "--mode=script", "volume", "set", volume, *(w for option in options.items() for w in option)]
    deadline = time.monotonic() + _BUSY_S
    while (done := native.run(argv)).rc != 0:
        if "Another transaction is in progress" not in done.said or time.monotonic() > deadline:
            raise Refused(f"`{shlex.join(argv)}` failed: {done.said}")
        time.sleep(_POLL_S)


def absent(filesystem: Filesystem) -> list[str]:
    """Its servers that do not serve it, as those that answer say."""
    said = native.run(["gluster", "volume", "status", filesystem.name], quiet=True).out
    present = re.findall(r"^Brick ([^:]+):.* Y +\d+ *$", said, re.MULTILINE)
    return [server for server in filesystem.server_names if server not in present]


def end(filesystem: Filesystem, server: str) -> bool:
    """End a server's brick, which goes on where only its daemon has died. Whether it is certain that it has ended."""
    each = f"for file in {_pid_files(filesystem)}; do n=0"
    gone = "while pkill -x -F $file glusterfsd 2>/dev/null; do n=$((n + 1)); [ $n -lt 100 ] || exit 1; sleep 0.1; done"
    return native.ssh(server, f"{each}; {gone}; done").rc == 0


def _pid_files(filesystem: Filesystem) -> str:
    return f"/run/gluster/vols/{filesystem.name}/*.pid"


def _set_ping_timeout(config: Config, seconds: str) -> None:
    """Clients take the change at their next mount."""
    if not seconds.isdigit():
        raise Refused(f"pingTimeout={seconds}: give seconds, or 0 to wait for ever")
    for filesystem in config.filesystems:
        _set(filesystem.name, {"network.ping-timeout": seconds})


ATTRIBUTES: Mapping[str, Callable[[Config, str], None]] = {"pingTimeout": _set_ping_timeout}


def grant(config: Config, filesystem: Filesystem, *, restart: bool) -> None:
    """Have the servers allow what the grants that count say: at once, and denied clients lose it at once.

    Read-only access is an export of its own, which filter/brick adds to the bricks by the same grants; the
    servers read it only when a brick starts. So `restart` starts them anew, one after the other; one that does not
    run, as when this was broken off, is started first.
    """
    rows = [g for g in config.grants if g.filesystem == filesystem.name and g.counts]
    allowed = [config.name, *(g.cluster for g in rows if g.access == "rw")]
    squash = {g.root for g in rows} - {"no"}
    options = {"auth.ssl-allow": ",".join(allowed), "server.root-squash": "on" if squash else "off"}
    for ids in squash:
        options["server.anonuid"], options["server.anongid"] = ids.split(":")
    _set(filesystem.name, options)
    if restart:
        _gluster("volume", "start", filesystem.name, "force")
        _until(f"all servers serve {filesystem.name}", lambda: not absent(filesystem), _RESTART_S)
        for server in filesystem.server_names:
            _restart_brick(filesystem, server)


def _restart_brick(filesystem: Filesystem, server: str) -> None:
    """With parity nobody notices: that stands in for it, and what it misses is healed before the next."""
    name = filesystem.name
    # by its name, too: who has died may have left its number to somebody else
    end = f"for file in {_pid_files(filesystem)}; do pkill -x -F $file glusterfsd; done"
    done = native.ssh(server, f"{end}; gluster volume start {name} force")
    if done.rc != 0:
        raise Refused(f"the brick of {name} on {server} does not start anew: {done.said}")
    _until(f"{server} serves {name} again", lambda: not absent(filesystem), _RESTART_S)
    native.comes(lambda: _even(filesystem), _CLIENTS_S, _LOOK_S)
    if filesystem.parity:
        _until(f"{name} is healed", lambda: _healed(filesystem), _RESTART_S, _LOOK_S)


def _even(filesystem: Filesystem) -> bool:
    said = native.run(["gluster", "volume", "status", filesystem.name, "clients"], quiet=True).out
    counts = re.findall(r"^Clients connected : (\d+)", said, re.MULTILINE)
    return len(counts) == len(filesystem.server_names) and len(set(counts)) == 1


def _healed(filesystem: Filesystem) -> bool:
    said = native.run(["gluster", "volume", "heal", filesystem.name, "info"], quiet=True).out
    return re.findall(r"^Number of entries: (\S+)", said, re.MULTILINE) == ["0"] * len(filesystem.server_names)


def mount(config: Config, filesystem: Known) -> None:
    """Mount a filesystem of another cluster, or of this one: root is root there.

    A cluster with read-only access is let in at the read-only export only: it is tried second.
    """
    name, contacts, at = filesystem.name, filesystem.contacts, filesystem.mount_point
    read_only = filesystem.access == "ro"
    Path(at).mkdir(parents=True, exist_ok=True)
    log = _LOGS / f"mc-{name}.log"
    how = [*(["--read-only"] if read_only else []), *(["--no-root-squash"] if filesystem.own else [])]
    how += [f"--log-file={log}", *_written(config), "--process-name", "fuse"]
    asked = [f"--volfile-server={contact}" for contact in contacts]
    why = _try_mount([*how, *asked, f"--volfile-id=/{filesystem.remote_name}"], at, log)
    if why and read_only and "granted" in why:
        volfile = _read_only_volfile(filesystem.remote_name, contacts)
        if volfile is not None:
            why = _try_mount([*how, f"--volfile={volfile}"], at, log)
    if why == _NO_CONTACT:
        why = next(filter(None, map(_refusal, contacts)), why)
    if why:
        raise Refused(f"{name} cannot be mounted: {why}; {log} has the details")


def _written(config: Config) -> list[str]:
    """What a client holds back of a file that is written, and sends at once, where the cluster says (mcchconfig)."""
    name = config.here().name
    own = {_CACHE: config.value("pagepool", name), _GATHERED: config.value("maxblocksize", name)}
    said = {option: f"{value}B" for option, value in own.items() if value}
    if own[_GATHERED]:  # without this it sends what it has as soon as nothing is under way
        said["trickling-writes"] = "off"
    return [w for option, value in said.items() for w in ("--xlator-option", f"*-write-behind.{option}={value}")]


def _try_mount(how: list[str], at: str, log: Path) -> str:
    """Why it cannot be mounted, or nothing. The exit code of the client does not always tell.

    It is started as mount.glusterfs would, which asks it for its first answer, too; of a list of servers that makes a
    hundred processes.
    """
    earlier = log.stat().st_size if log.exists() else 0
    for _ in range(_MOUNTS):
        done = native.run(["/usr/sbin/glusterfs", *how, at], timeout_s=_MOUNT_S)
        if done.rc == 0:
            done = native.run(["/usr/bin/stat", "-c", "%i", at], timeout_s=_MOUNT_S)
        if done.rc != native.TIMED_OUT:
            break
        native.run(["/usr/bin/umount", "-f", "-l", at])  # by force: whoever waits for an answer of the client gets none
    now = state(at)
    if now is not None and now.usable:
        return ""
    if now is not None:
        native.run(["/usr/bin/umount", "-l", at])
    if why := meaning(log.read_bytes()[earlier:].decode(errors="replace") if log.exists() else ""):
        return why
    if now is not None and now.servers:
        return f"{now.connected} of its {now.servers} servers can be reached, and it takes {now.needed}"
    return done.said


def _refusal(contact: str) -> str:
    """Why a contact node refuses this cluster's key, or this node the contact's; nothing where neither does.

    A client of GlusterFS speaks as soon as it has shown its key. A server that refuses the key leaves that unread, so
    its end of the connection is a reset, and whether the client has read the reason by then is a matter of luck. This
    one listens.
    """
    own = ["-cert", _KEYS["pem"], "-key", _KEYS["key"], "-CAfile", _KEYS["ca"], "-verify_return_error"]
    ask = ["openssl", "s_client", "-connect", f"{contact}:{PORT}", *own, "-ign_eof"]
    return meaning(native.run(ask, timeout_s=_CONTENT_S).err)


def meaning(log: str) -> str:
    """Why a mount failed, by what its client has logged; nothing where that says nothing known."""
    return next((meaning for words, meaning in _MEANINGS.items() if words in log), "")


def _read_only_volfile(remote: str, contacts: list[str]) -> Path | None:
    told = _told_to_clients(remote, contacts)
    if told is None:
        return None
    file = Path(f"/run/mc-{remote}-ro.vol")
    native.write(file, told.replace("remote-subvolume /", "remote-subvolume /ro/"), 0o600)
    return file


def _told_to_clients(remote: str, contacts: list[str]) -> str | None:
    """What the first contact that answers tells a client that a filesystem consists of; None where none answers."""
    for contact in contacts:
        got = native.run(["gluster", f"--remote-host={contact}", "system::", "getspec", remote], timeout_s=20)
        if got.rc == 0:
            return got.out
    return None


def disks(filesystem: Known) -> list[Disk]:
    """Its bricks, each with its one server, in their order."""
    told = _told_to_clients(filesystem.remote_name, filesystem.contacts)
    if told is None:
        raise Refused(f"none of the contacts of {filesystem.name} answers: {' '.join(filesystem.contacts)}")
    servers = re.findall(r"^ *option remote-host (\S+)$", told, re.MULTILINE)
    return [
        Disk(path, server)
        for path, server in zip(
            re.findall(r"^ *option remote-subvolume (\S+)$", told, re.MULTILINE), servers, strict=True
        )
    ]


def level() -> str:
    """GlusterFS's release."""
    return " ".join(native.must(["glusterfs", "--version"]).split()[:2])


def mounted(at: str) -> bool:
    """Whether a filesystem is mounted there."""
    rows = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    return any(row[1] == at and row[2] == "fuse.glusterfs" for row in rows)


def state(at: str) -> State | None:
    """What the client of a mounted filesystem says itself; None where nothing is mounted."""
    if not mounted(at):
        return None
    graph = Path(at, ".meta/graphs/active")
    said = [file.read_text() for file in graph.glob("*-client-*/private")]
    return State(sum("connected = 1" in text for text in said), len(said), _parity(graph))


def _parity(graph: Path) -> int:
    """How many bricks may be missing, as the client's graph says; none where files are whole."""
    found = (
        re.search(r"^redundancy = (\d+)", file.read_text(), re.MULTILINE) for file in graph.glob("*-disperse-0/private")
    )
    return sum(int(match[1]) for match in found if match)


def unmount(at: str, *, force: bool = False) -> None:
    """`force` takes it from those who use it, as a shutdown does."""
    native.must(["/usr/bin/umount", *(["-l"] if force else []), at])
