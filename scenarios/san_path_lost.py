"""A node on the storage's own network loses its adapters there, one by one, and goes on by the other way.

Claim: a node with an adapter in each array's network uses these, though it has a longer way, too. When one is pulled,
what is written meanwhile waits for some seconds and ends without an error; that array is reached by the other way, and
the rate is what it was, for the adapters that are left bound it. With all of them pulled it has what the other way
carries. Back in their places they carry at once what it sends, and what it reads once it has mounted anew.

Cause: of two ways to one network the kernel takes the nearer one while that has a carrier; the filesystem's client does
without a server that is silent, and makes a new connection to it.

Source: GPFS at NERSC, section VI: GPFS "will discover the local path to the storage automatically, and use it if
available"; if not, it "will transparently fail-over to utilizing the network path to the storage".
"""

from dataclasses import replace

from causeway.lab.clock import Watch
from causeway.lab.faults import link_down
from causeway.plan.paths import path
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Private
from causeway.scenario.stage import Made, Stage
from causeway.scenario.words.files import Both, judge_files
from causeway.scenario.words.gateways import connected_from, gateway_mb, lone_files, stripes_mb
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.routes import next_hop
from causeway.scenario.words.storage import judge_ratio
from causeway.scenario.words.transports import mount_anew

#: A silent server makes a client wait for ten seconds, and is asked anew every few.
PATIENCE_S = 60
SIZE_MIB = 32


def cast(ask: Ask) -> Private:
    return ask.private(1, spare=True)


def play(stage: Stage, cast: Private) -> None:
    lab, (node, adapters), name = stage.lab, next(iter(cast.adapters.items())), cast.gateways.filesystem
    at, whole = stage.site.topology.filesystems[name].mount_point, due_mounts(stage, node)[name]
    to = {server: stage.site.known_by(server).address for server in adapters}
    own = {server: stage.site.nodes[node].interfaces[port.device].address for server, port in adapters.items()}
    san_mb = stripes_mb(stage.site, name, adapters.values())
    lan_mb = gateway_mb(stage.site, cast.gateways, cast.gateways.clients[0])["write"]
    rows: list[list[str]] = []

    def work(title: str, of_mb: float, of: str) -> Both:
        both = lone_files(stage, cast.gateways, node, of_mb)
        judge_files(stage, title, both)
        judge_ratio(stage, f"{title}, write", 1, both.written.measured_mb, of_mb, of)
        rows.append([title, *(f"{mb:.1f}" for seen in both.ways.values() for mb in (seen.bound_mb, seen.measured_mb))])
        return both

    def direct() -> list[str]:
        """The servers to which the client has connections from its adapters."""
        sources = connected_from(stage, node, name)
        return [server for server in adapters if own[server] in sources[server]]

    def judge_hops(title: str) -> None:
        due = {server: str(path(stage.site, node, to[server]).hops[0].next_hop) for server in to}
        stage.same(f"{title}: next hops", due, {server: next_hop(stage, node, to[server]) for server in to})

    def pull(server: str) -> Made:
        return stage.make(link_down(lab, node, adapters[server].device))

    def goes_on(server: str, left: list[str]) -> None:
        """A file is written without an error, and the server answers by the other way."""
        watch, file, without = Watch(), f"{at}/lost.{node}", f"without {adapters[server]}"
        argv = ("dd", "if=/dev/zero", f"of={file}", "bs=1M", f"count={SIZE_MIB}", "conv=fsync")
        stage.same(f"{without}: exit code of a write", 0, lab.on(node, *argv).rc)
        stage.holds(f"{without}: it took less than a minute", watch.virtual_s < PATIENCE_S)
        rows.append([f"{SIZE_MIB} MiB, {adapters[server]} just pulled", f"{watch.virtual_s:.1f} s", "", "", ""])
        lab.on(node, "rm", "-f", file).must()
        stage.until(f"{without}: servers reached by adapters", direct, is_=left, within_s=PATIENCE_S)
        stage.until("servers", lambda: mounted(stage, node)[name], is_=whole, within_s=PATIENCE_S)

    with stage.healthy("its files go by its adapters"):
        stage.same("servers reached by adapters", [*adapters], direct())
        judge_hops("as built")
        work("adapters", san_mb, "its adapters")

    first, *others = adapters
    with stage.perturb(f"{adapters[first]} loses its cable"):
        cables = [pull(first)]

    with stage.observe("what is written ends without an error, and the array answers by the other way"):
        goes_on(first, others)

    without = replace(stage.site, down=frozenset({adapters[first]}))
    with stage.judge("its files go by the other way to that array, at the other adapters' rate"), stage.as_if(without):
        judge_hops("one pulled")
        work("one pulled", san_mb, "its adapters")

    for n, server in enumerate(others, 1):
        with stage.perturb(f"{adapters[server]} loses its cable, too"):
            cables.append(pull(server))
        with stage.observe("and so does that array"):
            goes_on(server, others[n:])

    without = replace(stage.site, down=frozenset(adapters.values()))
    with stage.judge("all goes by the other way, at what that carries"), stage.as_if(without):
        judge_hops("all pulled")
        work("all pulled", lan_mb, "a gateway's link")

    with stage.contrast("with their cables the adapters are used at once, and by new connections both ways"):
        for cable in cables:
            cable.undo()
        judge_hops("cables back")
        work("cables back", san_mb, "its adapters")
        mount_anew(stage, name, [node])
        stage.until("servers reached by adapters", direct, is_=[*adapters], within_s=PATIENCE_S)
        work("mounted anew", san_mb, "its adapters")
        heads = ["when", "write, computed", "measured", "read, computed", "measured"]
        stage.show(Table(f"Files of {node}, MB/s", heads, rows))

    with stage.restore("all servers answer, by its adapters"):
        stage.same("servers", whole, mounted(stage, node)[name])
        stage.same("servers reached by adapters, afterwards", [*adapters], direct())
