"""Storage servers are added one by one in front of an array: each carries its link's rate, until the array bounds.

Claim: all clients by one server have that one's link among them, as with a file server that is alone; by two they have
twice that. The rate grows by a server's link for each server more, until it is what the array writes or reads: then one
more adds nothing. The array reads slower than it writes, so for reading fewer servers are enough.

Cause: what clients send goes by their server's one link, and all servers' links meet at one disk.

Source: GPFS Best Practices, "Typical example" (performance scales linearly in the number of storage servers), "What
GPFS is not" (client/server with a single file server), and "DCS9900 building block": four servers with a HCA of 1500
MB/s each, before 5.4 GB/s written and 3.6 read. A server forwards here what clients and array send each other.
"""

from causeway.plan.paths import path
from causeway.scenario.cast import Ask, Forwarded
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import Both, judge_files, show_files
from causeway.scenario.words.routes import next_hop
from causeway.scenario.words.storage import array_mb, by_others, clear, files, judge_ratio, port_mb


def cast(ask: Ask) -> Forwarded:
    return ask.forwarded(3)


def play(stage: Stage, cast: Forwarded) -> None:
    gateways, (server,) = cast.gateways, stage.site.servers(cast.filesystem)
    one_mb, most_mb = port_mb(stage, cast, gateways[0]), array_mb(stage, cast)
    seen: dict[int, Both] = {}

    def work(n: int) -> None:
        """As many clients by each of n servers."""
        seen[n] = files(stage, cast, cast.clients[: len(cast.clients) // n * n])
        judge_files(stage, f"{n} servers", seen[n])

    stage.defer(lambda: clear(stage, cast), "the files are gone")
    with stage.healthy(f"by all {len(gateways)} servers the clients have what the array writes and reads"):
        work(len(gateways))
        for way, outcome in seen[len(gateways)].ways.items():
            judge_ratio(stage, f"all servers, {way}", 1, outcome.measured_mb, most_mb[way], "the array")

    with stage.perturb(f"all clients go by {gateways[0]}"):
        change, alone = by_others(stage, cast, {server: gateways[:1]})
        crowded = stage.make(change)

    with stage.judge("it is what one server's link carries, whatever the array could do"), stage.as_if(alone):
        work(1)
        for way, outcome in seen[1].ways.items():
            judge_ratio(stage, f"one server, {way}", 1, outcome.measured_mb, one_mb, "its link")

    with stage.contrast("with each server more it grows by that one's link, until it is the array's"):
        crowded.undo()
        for n in range(2, len(gateways)):
            change, site = by_others(stage, cast, {server: gateways[:n]})
            some = stage.make(change)
            with stage.as_if(site):
                work(n)
            some.undo()
        counts = sorted(seen)
        for n in counts[1:]:
            for way, outcome in seen[n].ways.items():
                due, first = min(n, most_mb[way] / one_mb), seen[1].ways[way].measured_mb
                judge_ratio(stage, f"{n} servers, {way}", due, outcome.measured_mb, first, "one server")
        places = [str(n) for n in counts]
        show_files(stage, "by the number of servers", places, [seen[n] for n in counts], of="servers")

    with stage.restore("each client goes by its own server again"):
        to = stage.site.known_by(server).address
        by = {client: str(path(stage.site, client, to).hops[0].next_hop) for client in cast.clients}
        stage.same("whom the clients go by", by, {client: next_hop(stage, client, to) for client in cast.clients})
