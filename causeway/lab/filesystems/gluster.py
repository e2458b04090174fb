"""GlusterFS, as a lab sees it: what a mount of it is called, where its bricks listen, what these are asked.

Source: gluster(8).
"""

import re
from collections.abc import Callable
from xml.etree import ElementTree

from causeway.lab.filesystems.administrators import member, place
from causeway.lab.lab import Lab
from causeway.plan.streams import End
from causeway.process import Result
from causeway.wait import until

MOUNT_TYPE = "fuse.glusterfs"
ADMITTED = "/var/mc/ssl/glusterfs.clients"
#: Why a client has not mounted.
NOT_GRANTED, NO_HANDSHAKE = "refused: not granted", "refused in the handshake"
_PORT = 24007
#: Within how many seconds a server that starts has all its daemons.
_STARTS_S = 60
_KEY = ("-cert", "/etc/ssl/glusterfs.pem", "-key", "/etc/ssl/glusterfs.key")
_SHOWS_KEY = ("openssl", "s_client", "-ign_eof", *_KEY, "-connect")


def listening(lab: Lab, filesystem: str) -> dict[End, str]:
    """The address and port of each brick -> its server."""
    ports = parse_ports(_gluster(lab, filesystem, "status", filesystem, "--xml"))
    servers = {member(lab, node): node for node in lab.site.servers(filesystem)}
    return {(lab.site.known_by(servers[name]).address, port): servers[name] for name, port in ports.items()}


def parse_ports(text: str) -> dict[str, int]:
    """Read `gluster volume status VOLUME --xml`: the name of each brick's server -> the brick's port."""
    found = {}
    for node in ElementTree.fromstring(text).iter("node"):
        name, path, port = (node.findtext(tag) or "" for tag in ("hostname", "path", "port"))
        if path.startswith("/") and port.isdigit():  # self-heal daemons are listed, too, by a host's name and an id
            found[name] = int(port)
    return found


def holders(lab: Lab, filesystem: str) -> dict[str, str]:
    """Each file of a brick, but for those that only say on which other brick one lies (their sticky bit is set)."""
    found: dict[str, str] = {}
    for server in lab.site.servers(filesystem):
        brick = f"/disks/{filesystem}/brick"
        files = lab.on(
            server, "find", brick, "-maxdepth", "1", "!", "-type", "d", "!", "-perm", "-1000", "-printf", "%f\\n"
        )
        found |= dict.fromkeys(files.must().split(), server)
    return found


def unhealed(lab: Lab, filesystem: str) -> int:
    """What all bricks together say of it."""
    return parse_unhealed(_gluster(lab, filesystem, "heal", filesystem, "info"))


def parse_unhealed(text: str) -> int:
    """Read `gluster volume heal VOLUME info`: a brick that does not say what it lacks (`-`) counts as one entry."""
    counts = re.findall(r"^Number of entries: (\S+)", text, re.MULTILINE)
    return sum(int(count) if count.isdigit() else 1 for count in counts)


def heal(lab: Lab, filesystem: str) -> None:
    """By the index of what each brick knows that others lack. (The daemons look at it every ten minutes.)

    A server that was started just now has no daemon for it yet, and then it is refused for all; soon it is not.
    """

    def refused() -> str:
        asked = _asked(lab, filesystem, "heal", filesystem)
        return f"{asked.rc}: {(asked.stderr or asked.stdout).strip()}" if asked.rc else ""

    until(f"the healing of {filesystem} is begun", refused, deadline_s=_STARTS_S, poll_s=1)


def count_calls(lab: Lab, filesystem: str) -> Callable[[], None]:
    """Have the bricks count their clients' calls."""
    _gluster(lab, filesystem, "profile", filesystem, "start")

    def stop() -> None:
        _gluster(lab, filesystem, "profile", filesystem, "stop")

    return stop


def mount_directly(lab: Lab, filesystem: str, node: str, at: str) -> str:
    """By mount.glusterfs, which asks the first server for the volume file.

    Why a server refuses a key, its client does not always see: openssl waits for that.
    """
    server, log = member(lab, lab.site.servers(filesystem)[0]), f"{at}.log"
    lab.on(node, "mkdir", "-p", at).must()
    lab.on(node, "rm", "-f", log).must()
    lab.on(node, "mount", "-t", "glusterfs", "-o", f"log-file={log}", f"{server}:/{filesystem}", at, timeout_s=300)
    used = lab.on(node, "ls", at).rc == 0
    if used and lab.on(node, "stat", "-f", "-c", "%T", at).stdout.strip() == "fuse":
        return ""
    return refusal(lab.read(node, log), lab.on(node, "timeout", "3", *_SHOWS_KEY, f"{server}:{_PORT}").stderr)


def refusal(log: str, handshake: str) -> str:
    """Why a client has not mounted, by its log and by what openssl says of a handshake with its key."""
    if "Authentication failed" in log:
        return NOT_GRANTED
    if "alert unknown ca" in handshake:
        return NO_HANDSHAKE
    errors = [line for line in log.splitlines() if "] E [" in line]
    return f"not mounted: {'; '.join(errors[-3:])}; handshake: {handshake.strip().rpartition(chr(10))[2]}"


def calls(lab: Lab, filesystem: str) -> str:
    """What the bricks have counted: locks, writes and reads."""
    said = _gluster(lab, filesystem, "profile", filesystem, "info", "cumulative")
    return "\n".join(line for line in said.splitlines() if re.search("Brick:|Fop|INODELK|WRITE|READ ", line))


def made_files(lab: Lab, filesystem: str) -> int:
    """How many calls that make a file the bricks have counted, all together."""
    return parse_calls(_gluster(lab, filesystem, "profile", filesystem, "info", "cumulative"), "CREATE")


def together(lab: Lab, filesystem: str) -> bool:
    """As each of their daemons says."""
    asked = {place(lab, lab.site.topology.filesystems[filesystem].owner), *lab.site.servers(filesystem)}
    return all(parse_pool(lab.on(node, "gluster", "pool", "list").stdout) for node in asked)


def parse_pool(text: str) -> bool:
    """Read `gluster pool list`: whether there are others, and all are connected."""
    states = [line.split()[-1] for line in text.splitlines()[1:]]
    return len(states) > 1 and set(states) == {"Connected"}


def parse_calls(text: str, call: str) -> int:
    """Read `gluster volume profile VOLUME info cumulative`: how often all bricks were asked for something."""
    return sum(int(count) for count in re.findall(rf"(\d+) +{call}$", text, re.MULTILINE))


def _gluster(lab: Lab, filesystem: str, *words: str) -> str:
    return _asked(lab, filesystem, *words).must()


def _asked(lab: Lab, filesystem: str, *words: str) -> Result:
    owner = lab.site.topology.filesystems[filesystem].owner
    return lab.on(place(lab, owner), "gluster", "volume", *words)
