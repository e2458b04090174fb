"""Arrays are added one by one, each with a server before it: the rate grows by as much each time.

Claim: files on two arrays are written and read twice as fast as on one, on four of them four times: an array more with
its server is as much more, whatever is there already. What one such block gives is what its array does, or its server's
port where that carries less: these arrays read more than a server's port carries, so what all of them could read is not
what clients have. With wider ports it is.

Cause: nothing is shared between the blocks: a file lies on one array, and goes by that one's server.

Source: GPFS Best Practices, "DS3400": four arrays with a server each write 2500 MB/s and read 3000, on four 10 gigabit
ports, of which "DS5300" says 725 MB/s: that is 2900. "Build as you grow": GPFS scales linearly in its building blocks.
"""

from collections.abc import Mapping

from causeway.plan.filesystems.spread import Direction
from causeway.scenario.cast import Arrays, Ask
from causeway.scenario.stage import Stage
from causeway.scenario.words.arrays import File as On
from causeway.scenario.words.arrays import Rate, judge, place, put_back, show, size_mib, work
from causeway.scenario.words.fabric import slower
from causeway.scenario.words.storage import array_mb, front_ports, judge_ratio, port_mb


def cast(ask: Ask) -> Arrays:
    return ask.arrays(3)


def play(stage: Stage, cast: Arrays) -> None:
    servers, most_mb = cast.servers, array_mb(stage, cast)
    gateways = [gateway for server in servers for gateway in cast.gateways(server)]
    block_mb = {way: min(mb, port_mb(stage, cast, gateways[0])) for way, mb in most_mb.items()}
    # twice as much as elsewhere: a file's last packet, when it is lost, costs a quarter of a second
    size, rows = 2 * size_mib(stage, cast), dict[str, Mapping[Direction, Rate]]()

    with stage.arrange("each client has an empty file on each array"):
        placed = place(stage, cast)

    def on(n: int, title: str) -> Mapping[Direction, Rate]:
        """All clients at work on so many arrays."""
        files = {On(client, server): size for server in servers[:n] for client in cast.clients}
        rates = {way: ends.together() for way, ends in work(stage, cast, placed, files).items()}
        judge(stage, f"arrays {title}", rates)
        rows[title] = rates
        return rates

    with stage.healthy(f"files on {servers[0]} have what it does, or its server's port"):
        first = on(1, "1")
        for way, rate in first.items():
            judge_ratio(stage, f"1 array, {way}", block_mb[way] / most_mb[way], rate.seen, most_mb[way], "an array")

    with stage.perturb("an array with its server is added, and another, until all are there"):
        grown = {n: on(n, str(n)) for n in range(2, len(servers) + 1)}

    with stage.judge("so many arrays give so many times what one gives"):
        for n, rates in grown.items():
            for way, rate in rates.items():
                judge_ratio(stage, f"{n} arrays, {way}", n, rate.seen, first[way].seen, "one array with its server")

    with stage.contrast("with ports that are twice as wide all arrays give what they do, both ways"):
        ports = front_ports(stage, cast, [*gateways, *cast.clients])
        change, site = slower(stage, ports, 2 * stage.site.sends_mbit(ports[0]), "ports are twice as wide")
        wider = stage.make(change)
        with stage.as_if(site):
            wide = on(len(servers), f"{len(servers)}, wide ports")
        wider.undo()
        for way, rate in wide.items():
            judge_ratio(stage, f"wide ports, {way}", len(servers), rate.seen, most_mb[way], "an array")
            built = grown[len(servers)][way].seen
            if block_mb[way] < most_mb[way]:
                stage.holds(
                    f"wide ports, {way}: more than as built", rate.seen > built, f"{rate.seen:.1f}, {built:.1f}"
                )

    with stage.restore("ports are as built"):
        put_back(stage, placed, [On(client, server) for server in servers[:2] for client in cast.clients])
        on(2, "afterwards")
        show(stage, "by the number of arrays", "arrays", rows)
