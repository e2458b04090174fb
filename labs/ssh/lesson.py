"""Root's ssh between all nodes of a cluster, from nothing: whom a node knows, and whom it lets in."""

from dataclasses import dataclass

from causeway.errors import Unsupported
from causeway.lab.changes.change import Change, Step
from causeway.lessons.desk import Desk
from causeway.lessons.lesson import AskLesson
from causeway.scenario.words.logins import IN, KNOWN, NOT_AUTHORIZED, called, login

#: Nobody is known by a question that was answered with yes, or never asked.
STRICT = ("-o", "StrictHostKeyChecking=yes")


@dataclass(frozen=True)
class Host:
    """A host, and what the others call it."""

    name: str
    called: str


@dataclass(frozen=True)
class Cast:
    """Hosts of a cluster that all talk with each other."""

    cluster: str
    hosts: list[Host]

    @property
    def pairs(self) -> list[tuple[Host, Host]]:
        """Everyone, and everyone else."""
        return [(one, other) for one in self.hosts for other in self.hosts if one != other]


def cast(ask: AskLesson) -> Cast:
    nodes = [node for node in ask.colleagues() if node not in ask.site.diskless()]
    if len(nodes) < 2:
        raise Unsupported(f"{ask.site.name} has not two hosts with disks of one cluster that talk")
    return Cast(str(ask.site.nodes[nodes[0]].cluster), [Host(node, called(ask.site, node)) for node in nodes])


def begin(desk: Desk, cast: Cast) -> None:
    for host in cast.hosts:
        gone = Step(host.name, ("sh", "-c", f"rm -rf /root/.ssh {KNOWN}"))
        desk.make(Change(f"{host.name} knows nobody, and lets nobody in", (gone,), ()))


def task_1(desk: Desk, cast: Cast) -> None:
    """Every host knows the host key of every other one, before anybody is asked."""
    for one in cast.hosts:
        others = [other for other in cast.hosts if other != one]
        known = [o.called for o in others if login(desk, one.name, o.name, *STRICT) in (IN, NOT_AUTHORIZED)]
        desk.same(f"whom {one.called} knows", [other.called for other in others], known)


def task_2(desk: Desk, cast: Cast) -> None:
    """Root logs in from every host on every other one, without a question."""
    for one in cast.hosts:
        others = [other for other in cast.hosts if other != one]
        open_to = [other.called for other in others if login(desk, one.name, other.name, *STRICT) == IN]
        desk.same(f"where root of {one.called} gets in", [other.called for other in others], open_to)


def task_3(desk: Desk, cast: Cast) -> None:
    """No private key is where it was not made, and nobody but root reads one."""
    prints, found = set(), 0
    for host in cast.hosts:
        shown = desk.lab.on(host.name, "sh", "-c", "cat /root/.ssh/id_*.pub 2>/dev/null | cut -d' ' -f2").stdout.split()
        found += len(set(shown))
        prints |= set(shown)
        loose = desk.lab.on(host.name, "find", "/root/.ssh", "-name", "id_*", "!", "-name", "*.pub", "-perm", "/077")
        desk.same(f"private keys of {host.called} that others could read", [], loose.stdout.split())
    desk.holds(
        "each host has a key pair of its own", found == len(prints) >= len(cast.hosts), f"{len(prints)} different ones"
    )
