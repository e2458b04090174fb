"""A node on the storage's own network loses its adapters there, one by one, and goes on by the other way.

Claim: a node with an adapter in each array's network uses these, though it has a longer way, too. When one is pulled,
what is written meanwhile waits for some seconds and ends without an error; that array is reached by the other way, and
the rate is what it was, for the adapters that are left bound it. With all of them pulled it has what the other way
carries. Mounted anew with all cables it has its adapters' rate again. A node on which nobody takes a lost adapter's
address away stays without that array: parity alone helps it.

Cause: of two ways to one network the kernel takes the nearer one while that has a carrier. The filesystem's client
calls a server again from the address that it had, and from another one only when that is gone.

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
from causeway.scenario.words.adapters import watched
from causeway.scenario.words.files import judge_files
from causeway.scenario.words.gateways import connected_from, gateway_mb, lone_files, stripes_mb
from causeway.scenario.words.routes import next_hop, own_addresses
from causeway.scenario.words.servers import due_whole, heal, whole
from causeway.scenario.words.storage import judge_ratio
from causeway.scenario.words.transports import mount_anew

#: A silent server makes a client wait for ten seconds, and is asked anew every few; and then it is healed. What it has
#: missed must be there before the next one is lost.
PATIENCE_S, HEALED_S = 60, 120
SIZE_MIB, LOOK_S = 32, 2


def cast(ask: Ask) -> Private:
    return ask.private(1, spare=True)


def play(stage: Stage, cast: Private) -> None:
    lab, (node, adapters), name = stage.lab, next(iter(cast.adapters.items())), cast.gateways.filesystem
    at, due = stage.site.topology.filesystems[name].mount_point, due_whole(stage, node, name)
    to = {server: stage.site.known_by(server).address for server in adapters}
    own = {server: stage.site.nodes[node].interfaces[port.device].address for server, port in adapters.items()}
    san_mb = stripes_mb(stage.site, name, adapters.values())
    lan_mb = gateway_mb(stage.site, cast.gateways, cast.gateways.clients[0])["write"]
    rows: list[list[str]] = []

    def work(title: str, of_mb: float, of: str) -> None:
        """What it writes and reads, and by whom it goes."""
        hops = {server: str(path(stage.site, node, to[server]).hops[0].next_hop) for server in to}
        stage.same(f"{title}: next hops", hops, {server: next_hop(stage, node, to[server]) for server in to})
        both = lone_files(stage, cast.gateways, node, of_mb)
        judge_files(stage, title, both)
        judge_ratio(stage, f"{title}, write", 1, both.written.measured_mb, of_mb, of)
        rows.append([title, *(f"{mb:.1f}" for seen in both.ways.values() for mb in (seen.bound_mb, seen.measured_mb))])

    def direct() -> list[str]:
        """The servers to which the client has connections from its adapters."""
        sources = connected_from(stage, node, name)
        return [server for server in adapters if own[server] in sources[server]]

    def servers() -> str:
        return whole(stage, node, name)[0]

    def addressed() -> bool:
        return {str(address) for address in own.values()} <= {*own_addresses(stage, node)}

    def unhealed() -> int:
        return whole(stage, node, name)[1]

    def is_whole(title: str) -> None:
        stage.until(f"{title}: servers", servers, is_=due[0], within_s=PATIENCE_S, poll_s=LOOK_S)
        heal(stage, name)
        stage.until(f"{title}: what is to be healed", unhealed, is_=due[1], within_s=HEALED_S, poll_s=LOOK_S)

    def pull(server: str) -> Made:
        return stage.make(link_down(lab, node, adapters[server].device))

    def written(without: str) -> None:
        """A file is written without an error, which takes as long as the client waits for the server."""
        watch, file = Watch(), f"{at}/lost.{node}"
        argv = ("dd", "if=/dev/zero", f"of={file}", "bs=1M", f"count={SIZE_MIB}", "conv=fsync")
        stage.same(f"{without}: exit code of a write", 0, lab.on(node, *argv).rc)
        stage.holds(f"{without}: it took less than a minute", watch.virtual_s < PATIENCE_S, f"{watch.virtual_s:.1f} s")
        lab.on(node, "rm", "-f", file).must()

    with stage.healthy("its files go by its adapters"):
        stage.same("servers reached by adapters", [*adapters], direct())
        work("adapters", san_mb, "its adapters")

    with watched(stage, node, [port.device for port in adapters.values()]):
        cables, by_adapters = [], [*adapters]
        for n, server in enumerate(adapters, 1):
            with stage.perturb(f"{adapters[server]} loses its cable, and its address with it"):
                cables.append(pull(server))
            with stage.observe("what is written ends without an error, and the array answers by the other way"):
                without, by_adapters = f"without {adapters[server]}", by_adapters[1:]
                written(without)
                stage.until(
                    f"{without}: servers reached by adapters",
                    direct,
                    is_=by_adapters,
                    within_s=PATIENCE_S,
                    poll_s=LOOK_S,
                )
                is_whole(without)
            if n not in (1, len(adapters)):
                continue
            lost = replace(stage.site, down=frozenset([*adapters.values()][:n]))
            what, of_mb, of = ("one pulled", san_mb, "its adapters") if n == 1 else ("all pulled", lan_mb, "a gateway")
            with stage.judge(f"{what}: its files have the rate of {of}"), stage.as_if(lost):
                work(what, of_mb, of)

        with stage.contrast("with their cables, and mounted anew, its adapters carry its files"):
            for cable in cables:
                cable.undo()
            stage.until("its adapters have their addresses", addressed, is_=True, within_s=PATIENCE_S)
            mount_anew(stage, name, [node])
            stage.until("servers reached by adapters", direct, is_=[*adapters], within_s=PATIENCE_S, poll_s=LOOK_S)
            is_whole("mounted anew")
            work("mounted anew", san_mb, "its adapters")
            heads = ["when", "write, computed", "measured", "read, computed", "measured"]
            stage.show(Table(f"Files of {node}, MB/s", heads, rows))

    first, *others = adapters
    with stage.contrast("where nobody takes a lost adapter's address away the client stays without that array"):
        cable = pull(first)
        without = f"without {adapters[first]}, unwatched"
        written(without)
        stage.let_pass(PATIENCE_S, "the client calls the array again and again")
        stage.same(
            f"{without}: servers that it reaches", f"{len(others)} of {len(adapters)}", whole(stage, node, name)[0]
        )
        stage.same(f"{without}: servers reached by adapters", others, direct())
        cable.undo()
        is_whole("its cable back")

    with stage.restore("all servers answer, by its adapters"):
        stage.same("servers, and what is to be healed", due, whole(stage, node, name))
        stage.same("servers reached by adapters, afterwards", [*adapters], direct())
