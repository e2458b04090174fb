"""The parallel filesystem, GlusterFS: what the commands ask of one. Another one would be a module like this.

    start, stop, answers      the daemon of a node (glusterd)
    serve                     make a filesystem on its servers: stripes of four, one of them parity
    (trust)                   whose public keys daemons accept: those in ssl/glusterfs.ca, which keys.publish writes;
                              they read it at each connection
    grant                     which cluster may mount it, and how; the servers enforce it
    mount, unmount, state     on a client
    set_ping_timeout          how long a silent server makes a client wait

Sources: gluster(8), mount.glusterfs(8), "Setting up GlusterFS with SSL/TLS" of its administrator's guide.
"""

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mc import native
from mc.config import Config, Filesystem
from mc.native import Refused

#: Of four servers one may be missing.
_REDUNDANCY = 1
_PORT = 24007
_SECURE = Path("/var/lib/glusterd/secure-access")
_LOGS = Path("/var/log/glusterfs")
_KEYS = {part: f"/etc/ssl/glusterfs.{part}" for part in ("pem", "key", "ca")}
_READY_S = 20
_RESTART_S = 60
#: Clients try a lost brick every 3 s: who is not back within this time is not let in any more.
_CLIENTS_S = 10
#: How long a contact that is content with a key may say nothing.
_CONTENT_S = 3
_NO_CONTACT = "no contact node answers; is the owner up, and the route to it?"
#: What a client's log says when the mount failed, and what it means; the first that is found counts.
_MEANINGS = {
    "Authentication failed": "the owner has not granted it to this cluster (mcauth grant), or read-only (-o ro)",
    "certificate verify failed": "the contact's key is not the one that this cluster knows: get the owner's"
    " id_rsa.pub again (mcremotecluster update)",
    "alert unknown ca": "the owner does not know this cluster's key (mcauth add there)",
    "first lookup on root failed": "too few of its servers serve it (of four it takes three); mcgetstate -a there",
    "failed to get the 'volume file' from server": "the owner has no filesystem of that name",
    "failed to fetch volume file": _NO_CONTACT,
    "Exhausted all volfile servers": _NO_CONTACT,
}


@dataclass(frozen=True)
class State:
    """A mounted filesystem as its client sees it."""

    connected: int
    servers: int

    @property
    def usable(self) -> bool:
        return self.servers > 0 and self.connected >= self.servers - _REDUNDANCY


def _until(what: str, holds: Callable[[], bool], limit_s: float) -> None:
    if not native.comes(holds, limit_s):
        raise Refused(f"{what}: not within {limit_s:g} s")


def answers(host: str | None = None, timeout_s: float = 2.5) -> bool:
    """Whether a node's daemon answers (None: this node's). With TLS, it does so to the cluster's own key only."""
    try:  # far cheaper than to start the client of a daemon that does not listen
        socket.create_connection((host or "localhost", _PORT), timeout_s).close()
    except OSError:
        return False
    remote = [f"--remote-host={host}"] if host else []
    return native.run(["gluster", *remote, "pool", "list"], timeout_s=timeout_s, quiet=True).rc == 0


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
    native.must(["glusterd"])
    _until("glusterd answers", answers, _READY_S)


def stop() -> None:
    """End this node's daemon and what it serves."""
    for daemon in ("glusterd", "glusterfsd", "glusterfs"):
        native.run(["pkill", "-x", daemon])
    _until("the daemons have ended", lambda: native.run(["pgrep", "-x", "gluster(d|fsd|fs)"], quiet=True).rc != 0, 20)


def serve(config: Config, filesystem: Filesystem) -> None:
    """Make a filesystem and start it."""
    pool = native.must(["gluster", "pool", "list"])
    for server in filesystem.server_names[1:]:
        if server not in pool.split():
            native.must(["gluster", "peer", "probe", server])
    _until("the servers are connected with each other", lambda: _full_mesh(filesystem.server_names), _READY_S)
    bricks = [f"{server}:{filesystem.bricks}" for server in filesystem.server_names]
    size = ["disperse", str(len(bricks)), "redundancy", str(_REDUNDANCY)]
    _gluster("volume", "create", filesystem.name, *size, *bricks, "force")
    tls = {"client.ssl": "on", "server.ssl": "on", "ssl.certificate-depth": "1", "auth.ssl-allow": config.name}
    wait = {"network.ping-timeout": config.settings.get("pingTimeout", "10")}
    _set(filesystem.name, tls | wait)
    _gluster("volume", "start", filesystem.name)


def _full_mesh(servers: list[str]) -> bool:
    seen = [native.run(["gluster", f"--remote-host={s}", "pool", "list"], quiet=True).out for s in servers]
    return all(text.count("Connected") >= len(servers) for text in seen)


def _gluster(*words: str) -> str:
    return native.must(["gluster", "--mode=script", *words])


def _set(volume: str, options: dict[str, str]) -> None:
    _gluster("volume", "set", volume, *(word for option in options.items() for word in option))


def serving(filesystem: Filesystem) -> bool:
    """Whether all its servers serve it."""
    said = native.run(["gluster", "volume", "status", filesystem.name], quiet=True).out
    return len(re.findall(r"^Brick .* Y +\d+ *$", said, re.MULTILINE)) == len(filesystem.server_names)


def set_ping_timeout(config: Config, seconds: str) -> None:
    """Clients take the change at their next mount."""
    for filesystem in config.filesystems:
        _set(filesystem.name, {"network.ping-timeout": seconds})


def grant(config: Config, filesystem: Filesystem, *, restart: bool) -> None:
    """Have the servers allow what the grants say: at once, and denied clients lose it at once.

    Read-only access is an export of its own, which filter/readonly adds to the bricks by the same grants; the
    servers read it only when a brick starts. So `restart` starts them anew, one after the other.
    """
    rows = [g for g in config.grants if g.filesystem == filesystem.name]
    allowed = [config.name, *(g.cluster for g in rows if g.access == "rw")]
    squash = {g.root for g in rows} - {"no"}
    options = {"auth.ssl-allow": ",".join(allowed), "server.root-squash": "on" if squash else "off"}
    for ids in squash:
        options["server.anonuid"], options["server.anongid"] = ids.split(":")
    _set(filesystem.name, options)
    if restart:
        for server in filesystem.server_names:
            _restart_brick(filesystem, server)


def _restart_brick(filesystem: Filesystem, server: str) -> None:
    """Without that anybody notices: the parity stands in for it, and what it misses is healed before the next."""
    name = filesystem.name
    done = native.ssh(server, f"kill $(cat /run/gluster/vols/{name}/*.pid) && gluster volume start {name} force")
    if done.rc != 0:
        raise Refused(f"the brick of {name} on {server} does not start anew: {done.said}")
    _until(f"{server} serves {name} again", lambda: serving(filesystem), _RESTART_S)
    native.comes(lambda: _even(filesystem), _CLIENTS_S)
    _until(f"{name} is healed", lambda: _healed(filesystem), _RESTART_S)


def _even(filesystem: Filesystem) -> bool:
    said = native.run(["gluster", "volume", "status", filesystem.name, "clients"], quiet=True).out
    counts = re.findall(r"^Clients connected : (\d+)", said, re.MULTILINE)
    return len(counts) == len(filesystem.server_names) and len(set(counts)) == 1


def _healed(filesystem: Filesystem) -> bool:
    said = native.run(["gluster", "volume", "heal", filesystem.name, "info"], quiet=True).out
    return re.findall(r"^Number of entries: (\S+)", said, re.MULTILINE) == ["0"] * len(filesystem.server_names)


def mount(name: str, remote: str, contacts: list[str], at: str, *, access: str, own: bool) -> None:
    """Mount a filesystem of another cluster, or of this one (`own`: root is root there).

    A cluster with read-only access is let in at the read-only export only: it is tried second.
    """
    Path(at).mkdir(parents=True, exist_ok=True)
    log = _LOGS / f"mc-{name}.log"
    options = [f"log-file={log}", *(["ro"] if access == "ro" else []), *(["no-root-squash=yes"] if own else [])]
    if contacts[1:]:
        options.append(f"backup-volfile-servers={':'.join(contacts[1:])}")
    why = _try_mount(f"{contacts[0]}:/{remote}", at, options, log)
    if why and access == "ro" and "granted" in why:
        volfile = _read_only_volfile(remote, contacts)
        if volfile is not None:
            why = _try_mount(str(volfile), at, options[:2], log)
    if why == _NO_CONTACT:
        why = next(filter(None, map(_refusal, contacts)), why)
    if why:
        raise Refused(f"{name} cannot be mounted: {why}; {log} has the details")


def _try_mount(what: str, at: str, options: list[str], log: Path) -> str:
    """Why it cannot be mounted, or nothing. The exit code of mount does not always tell."""
    earlier = log.stat().st_size if log.exists() else 0
    done = native.run(["/usr/bin/mount", "-t", "glusterfs", "-o", ",".join(options), what, at])
    now = state(at)
    if now is not None and now.usable:
        return ""
    if now is not None:
        native.run(["/usr/bin/umount", "-l", at])
    if why := meaning(log.read_bytes()[earlier:].decode(errors="replace") if log.exists() else ""):
        return why
    if now is not None and now.servers:
        return f"{now.connected} of its {now.servers} servers can be reached, and it takes {now.servers - _REDUNDANCY}"
    return done.said


def _refusal(contact: str) -> str:
    """Why a contact node refuses this cluster's key, or this node the contact's; nothing where neither does.

    A client of GlusterFS speaks as soon as it has shown its key. A server that refuses the key leaves that unread, so
    its end of the connection is a reset, and whether the client has read the reason by then is a matter of luck. This
    one listens.
    """
    keys = ["-cert", _KEYS["pem"], "-key", _KEYS["key"], "-CAfile", _KEYS["ca"], "-verify_return_error"]
    ask = ["openssl", "s_client", "-connect", f"{contact}:{_PORT}", *keys, "-ign_eof"]
    return meaning(native.run(ask, timeout_s=_CONTENT_S).err)


def meaning(log: str) -> str:
    """Why a mount failed, by what its client has logged; nothing where that says nothing known."""
    return next((meaning for words, meaning in _MEANINGS.items() if words in log), "")


def _read_only_volfile(remote: str, contacts: list[str]) -> Path | None:
    for contact in contacts:
        got = native.run(["gluster", f"--remote-host={contact}", "system::", "getspec", remote], timeout_s=20)
        if got.rc == 0:
            file = Path(f"/run/mc-{remote}-ro.vol")
            native.write(file, got.out.replace("remote-subvolume /", "remote-subvolume /ro/"), 0o600)
            return file
    return None


def mounted(at: str) -> bool:
    """Whether a filesystem is mounted there."""
    rows = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    return any(row[1] == at and row[2] == "fuse.glusterfs" for row in rows)


def state(at: str) -> State | None:
    """What the client of a mounted filesystem says itself; None where nothing is mounted."""
    if not mounted(at):
        return None
    said = [file.read_text() for file in Path(at, ".meta/graphs/active").glob("*-client-*/private")]
    return State(sum("connected = 1" in text for text in said), len(said))


def unmount(at: str, *, force: bool = False) -> None:
    """`force` takes it from those who use it, as a shutdown does."""
    native.must(["/usr/bin/umount", *(["-l"] if force else []), at])
