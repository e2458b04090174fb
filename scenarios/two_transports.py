"""The same files by two networks at the same time, to different nodes: the route decides, and nobody else has to know.

Claim: clients that go to the servers' gateways by the fast network and clients that go there by the slow one read one
filesystem at once, each at what its way lets through; what one side writes the other reads. A gateway that loses its
cable to the slow network is lost to those that go by it, and not to the others; all read on.

Cause: a filesystem's connections go by the client's routes; parity makes up for one server.

Source: CITA, "Xe cluster details", "Events": Lustre over InfiniBand and Gigabit Ethernet at once. A route stands here
for what is a transport there (o2ib, tcp).
"""

from dataclasses import dataclass
from functools import partial

from causeway.lab.faults import link_down
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Transports
from causeway.scenario.stage import Stage
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.transports import digest, megabytes, mount_anew, moved, read_at_once, write_each

WITHIN = 0.1
WHY = "records of TLS, headers of calls, and the start and end of files come on top"
PATIENCE_S = 60


@dataclass(frozen=True)
class Cast:
    """A filesystem with two ways to it, clients that go by the usual one, and as many that will not."""

    ways: Transports
    fast: list[str]
    slow: list[str]


def cast(ask: Ask) -> Cast:
    ways = ask.transports(clients=4)
    return Cast(ways, ways.clients[:2], ways.clients[2:])


def play(stage: Stage, cast: Cast) -> None:
    ways, fast, slow, name = cast.ways, cast.fast, cast.slow, cast.ways.filesystem
    at = stage.site.topology.filesystems[name].mount_point
    servers = len(stage.site.servers(name))
    networks = stage.site.topology.networks
    gateways_mbit = networks[stage.site.known_by(stage.site.servers(name)[0]).network].rate_mbit * servers
    sizes = {node: megabytes(min(networks[ways.usual].rate_mbit, gateways_mbit / 2)) for node in fast}
    sizes |= {node: megabytes(networks[ways.other].rate_mbit) for node in slow}

    def judge_all(title: str) -> None:
        rows = []
        for node, (due, seen) in read_at_once(stage, ways, sizes).items():
            stage.near(f"{title}: {node} reads", round(due, 1), seen, "MB/s", within=WITHIN, why=WHY)
            rows.append([node, ways.other if node in now_slow else ways.usual, f"{due:.1f}", f"{seen:.1f}"])
        stage.show(Table(f"MB/s, {title}", ["client", "by", "computed", "measured"], rows))

    def judge_files() -> None:
        for writer, reader in ((fast[0], slow[0]), (slow[0], fast[0])):
            file = f"{at}/io.{writer}"
            written = digest(stage, writer, file)
            stage.holds(f"what {writer} wrote {reader} reads", digest(stage, reader, file) == written, written[:16])

    def reached(node: str) -> str:
        return mounted(stage, node)[name]

    now_slow: list[str] = []
    whole = due_mounts(stage, fast[0])[name]
    with stage.arrange("each client has a file"):
        files = [f"{at}/io.{node}" for node in sizes]
        stage.defer(lambda: stage.lab.on(fast[0], "rm", "-f", *files).must(), "their files are gone")
        write_each(stage, ways, sizes)

    with stage.healthy(f"all reach all servers by {ways.usual}, and share the servers' links"):
        for node in sizes:
            stage.same(f"servers of {name} that {node} reaches", whole, reached(node))
        judge_all(f"all by {ways.usual}")

    with stage.perturb(f"{' and '.join(slow)} go by {ways.other}"):
        change, by_both = moved(stage, slow, ways.other)
        stage.make(change, then=lambda: mount_anew(stage, name, slow))
        now_slow += slow

    with stage.judge("all read at once, each as fast as its way lets through"), stage.as_if(by_both):
        judge_all(f"{len(fast)} by {ways.usual}, {len(slow)} by {ways.other}")
        judge_files()

    with stage.perturb(f"{ways.port} loses its cable"):
        cable = stage.make(link_down(stage.lab, ways.port.node, ways.port.device))

    with stage.judge("one server less for those that go by it, none for the others; all read on"):
        less = f"{servers - 1} of {servers}"
        for node in slow:
            stage.until(f"servers that {node} reaches", partial(reached, node), is_=less, within_s=PATIENCE_S)
        for node in fast:
            stage.same(f"servers that {node} reaches", whole, reached(node))
        judge_files()

    with stage.contrast("with its cable all reach all servers again"):
        cable.undo()
        for node in [*slow, *fast]:
            stage.until(f"servers that {node} reaches", partial(reached, node), is_=whole, within_s=PATIENCE_S)

    with stage.restore(f"all by {ways.usual} again"):
        for node in slow:
            stage.same(f"servers that {node} reaches", whole, reached(node))
