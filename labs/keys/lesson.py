"""Two clusters that know nothing of each other, up to a filesystem that is mounted; then a new key, and no break."""

from dataclasses import dataclass

from causeway.lab.changes.change import Change, Step
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import AskLesson
from causeway.scenario.cast import Mounts
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.trust import Trust

#: Where the client's administrator finds the digest of the key that is to be replaced.
BEFORE = "/root/digest-of-the-old-key"
#: Who writes to the filesystem on a node as soon as it is mounted there, and where it notes that it could not.
WRITER, FAILED = "/usr/local/sbin/writer", "/var/log/write-failed"
#: Writes and syncs twice a second. What was never mounted is not missed; what was is missed at once.
_WRITER = f"""#!/bin/sh
had=
while :; do
    if mountpoint -q "$1"; then
        had=yes
        timeout 20 sh -c 'echo x >"$1/writer" && sync "$1/writer"' sh "$1" 2>/dev/null || date >>{FAILED}
    elif [ "$had" ]; then
        date >>{FAILED}
    fi
    sleep 0.5
done
"""
#: A command that works on all nodes of a cluster, on a machine that is busy.
PATIENCE_S = 600


@dataclass(frozen=True)
class Shared:
    """A filesystem, and where it is mounted."""

    name: str
    at: str


@dataclass(frozen=True)
class Cast:
    """The clusters by their names, where their administrators work, what is shared, by whom, and one of its users."""

    mounts: Mounts
    owner: str
    client: str
    owner_node: str
    client_node: str
    user: str
    shared: list[Shared]
    contacts: str


def cast(ask: AskLesson) -> Cast:
    site, found = ask.site, ask.mounts(alone=True)
    filesystems = site.topology.filesystems
    servers = dict.fromkeys(node for name in found.filesystems for node in site.servers(name))
    owner_node = site.administrator(found.owner) or ""
    return Cast(
        mounts=found,
        owner=f"{found.owner}.{site.topology.domain}",
        client=f"{found.client}.{site.topology.domain}",
        owner_node=owner_node,
        client_node=found.administrator,
        user=found.user,
        shared=[Shared(name, filesystems[name].mount_point) for name in found.filesystems],
        contacts=",".join(site.known_by(node).names[0] for node in servers),
    )


def begin(desk: Desk, cast: Cast) -> None:
    def types(node: str, *argv: str) -> None:
        desk.lab.on(node, *argv, timeout_s=PATIENCE_S).must()

    write = Step(cast.user, ("sh", "-c", 'cat >"$0" && chmod 755 "$0"', WRITER), stdin=_WRITER)
    desk.make(Change(f"{cast.user} has a writer", (write,), ()))
    digest = _trust(desk, cast).digest_at_home()
    desk.make(
        Change("the old key is noted", (Step(cast.client_node, ("sh", "-c", f"cat >{BEFORE}"), stdin=digest),), ())
    )
    for shared in cast.shared:
        types(cast.client_node, "mcumount", shared.name, "-a")
        types(cast.client_node, "mcremotefs", "delete", shared.name)
    types(cast.client_node, "mcremotecluster", "delete", cast.owner)
    types(cast.owner_node, "mcauth", "delete", cast.client)
    types(cast.user, "sh", "-c", f"setsid {WRITER} {cast.shared[0].at} >/dev/null 2>&1 </dev/null &")


def task_1(desk: Desk, cast: Cast) -> None:
    """Each side knows the other by the very key that it has at home."""
    trust = _trust(desk, cast)
    home = trust.digest_at_home()
    desk.soon(f"{cast.owner} knows {cast.client} by its key", True, lambda: trust.digest_at_owner() == home, 0)
    shown = desk.lab.on(cast.client_node, "mcremotecluster", "show", "--json").stdout
    desk.holds(f"{cast.client} knows {cast.owner}", f'"{cast.owner}"' in shown, "it does not")


def task_2(desk: Desk, cast: Cast) -> None:
    """What is granted is mounted, on the administrator's node and on the user's."""
    trust = _trust(desk, cast)
    granted = sorted(trust.granted()) if cast.client in _known(desk, cast) else []
    desk.same(f"what {cast.owner} lets {cast.client} mount", sorted(shared.name for shared in cast.shared), granted)
    for node in (cast.client_node, cast.user):
        desk.same(f"servers of what {node} has mounted", due_mounts(desk, node), mounted(desk, node))


def task_3(desk: Desk, cast: Cast) -> None:
    """The client has another key than before, that alone, the owner knows it by that, and nobody missed a file."""
    trust = _trust(desk, cast)
    before, home = desk.lab.read(cast.client_node, BEFORE).strip(), trust.digest_at_home()
    desk.holds(f"{cast.client} has another key than it had", before not in home, "the old one")
    desk.soon(f"{cast.owner} knows {cast.client} by it", True, lambda: trust.digest_at_owner() == home, 0)
    at = cast.shared[0].at
    has = (
        desk.lab.on(cast.user, "mountpoint", "-q", at).rc == 0
        and desk.lab.on(cast.user, "test", "-e", f"{at}/writer").rc == 0
    )
    desk.holds(f"{cast.user} writes to {at}", has, "it does not")
    desk.same("writes that have failed", 0, len(desk.lab.on(cast.user, "cat", FAILED).stdout.splitlines()))


def _trust(desk: Desk, cast: Cast) -> Trust:
    return Trust(desk, cast.mounts.filesystems[0], cast.mounts.owner, cast.mounts.client)


def _known(desk: Desk, cast: Cast) -> str:
    """What the owner's administrator sees of the clusters that may come."""
    return desk.lab.on(cast.owner_node, "mcauth", "show", "--json").stdout
