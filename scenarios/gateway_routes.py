"""One route back is missing at one storage server: whoever is behind that gateway loses one server, and nobody else.

Claim: when a storage server's node lacks its route to the nodes behind one gateway, exactly these lose exactly that
server, and read on, as parity makes up for it. When a second one lacks it, too, they cannot mount at all. Those behind
other gateways have all servers all the while.

Cause: each server answers by its own node's routes; that the others answer does not help it.

Source: GPFS at NERSC, section V: with two networks "we had to set specific routes to access the NGF system from the
nodes on the IPoIB network"; there must be a way back for each of them.
"""

from functools import partial

from causeway.lab.faults import route_missing
from causeway.lab.filesystems.administrators import mc
from causeway.plan.paths import Ways, without_routes
from causeway.report.result import Table
from causeway.scenario.cast import Answered, Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.transports import digest

#: A server that is silent makes a client wait for ten seconds; and it looks for it anew every few.
PATIENCE_S = 60
SIZE_MIB = 8


def cast(ask: Ask) -> Answered:
    return ask.answered()


def play(stage: Stage, cast: Answered) -> None:
    lab, client, others, name = stage.lab, cast.client, cast.others, cast.filesystem
    at, whole = stage.site.topology.filesystems[name].mount_point, due_mounts(stage, client)[name]
    (second, (node, to)), (third, (other, also)) = list(cast.by.items())[1:3]
    total = len(cast.by)
    rows: list[list[str]] = []

    def servers(host: str) -> str:
        return mounted(stage, host)[name]

    def answering(*missing: tuple[str, str]) -> int:
        """How many servers find a way back to the client, computed."""
        site = stage.site
        for lacking, gone in missing:
            routes = [route.to for route in site.nodes[lacking].routes if str(site.destination(route)) == gone]
            site = without_routes(site, [lacking], routes)
        ways = Ways(site)
        return sum(ways.reaches(client, server) for server in cast.by)

    def judge_all(title: str, due: str) -> None:
        stage.until(f"{title}: servers of {client}", partial(servers, client), is_=due, within_s=PATIENCE_S)
        seen = {host: servers(host) for host in others}
        stage.same(f"{title}: servers of the others", dict.fromkeys(others, whole), seen)
        rows.extend([title, host, of] for host, of in [(client, due), *seen.items()])

    with stage.arrange(f"{client} has a file"):
        file = f"{at}/routes.{client}"
        stage.defer(lambda: lab.on(client, "rm", "-f", file).must(), "the file is gone")
        lab.on(client, "dd", "if=/dev/urandom", f"of={file}", "bs=1M", f"count={SIZE_MIB}", "conv=fsync").must()

    with stage.healthy("all clients reach all servers"):
        judge_all("all routes", whole)
        written = digest(stage, others[0], file)

    with stage.perturb(f"{node}, before {second}, lacks its route to {to}"):
        missing = stage.make(route_missing(lab, node, to))

    with stage.judge(f"{client} loses {second}, and reads on; nobody else loses anything"):
        judge_all("one route missing", f"{answering((node, to))} of {total}")
        lab.on(client, "sh", "-c", "echo 3 >/proc/sys/vm/drop_caches")
        stage.same(f"the file, as {client} reads it", written, digest(stage, client, file))

    with stage.perturb(f"{other}, before {third}, lacks it, too"):
        stage.defer(lambda: mc(lab, client, "mcmount", name).must(), f"{client} has not mounted {name}")
        mc(lab, client, "mcumount", name).must()
        too = stage.make(route_missing(lab, other, also))

    with stage.judge(f"{client} cannot mount, the others have all servers"):
        left = answering((node, to), (other, also))
        stage.holds(
            f"servers that answer {client}: too few", left < total - stage.site.topology.filesystems[name].parity, left
        )
        refused = mc(lab, client, "mcmount", name)
        stage.holds("the mount is refused", refused.rc != 0, refused.stderr.strip()[-80:])
        stage.same("servers of the others", dict.fromkeys(others, whole), {host: servers(host) for host in others})

    with stage.contrast("with both routes it mounts, and reaches all servers"):
        too.undo()
        missing.undo()
        mc(lab, client, "mcmount", name).must()
        judge_all("routes back", whole)
        stage.same(f"the file, as {client} reads it with both", written, digest(stage, client, file))
        stage.show(Table("Servers that answer", ["when", "client", "servers"], rows))

    with stage.restore("all have all servers"):
        everybody = [client, *others]
        stage.same("servers", dict.fromkeys(everybody, whole), {host: servers(host) for host in everybody})
