"""Servers beside the clients, on the storage's own network: what their adapters carry, and when a second is worth it.

Claim: clients that go by one such server have what its adapters to the arrays carry, which is more than one gateway on
the network gives, and it is the same that the server has for itself. The slowest of its adapters bounds all of them. A
second server doubles that where the arrays give enough, and adds what these have left over where they do not.

Cause: a striped file takes its part from each array at once; so the slowest way to one of them sets the pace.

Source: GPFS at NERSC, sections VI to VIII: one node with four adapters of 4 Gbit/s had 700 MB/s to 1.5 GB/s of 2 GB/s;
"private" NSD servers "push the direct access point to the storage closer to the remote cluster"; a gateway only where
the filesystem has more than it.
"""

from causeway.model.thing import Port
from causeway.scenario.cast import Ask, Private
from causeway.scenario.stage import Stage
from causeway.scenario.words.fabric import slower
from causeway.scenario.words.files import Both, judge_files
from causeway.scenario.words.gateways import files, gateway_mb, going_by, judge_next, lone_files, stripes_mb
from causeway.scenario.words.storage import judge_ratio, show

#: What the arrays have together where a second server is hardly worth it, in rates of one server.
ARRAYS = 1.2


def cast(ask: Ask) -> Private:
    return ask.private(2)


def play(stage: Stage, cast: Private) -> None:
    gateways, (one, two) = cast.gateways, cast.servers[:2]
    clients, name = gateways.clients, gateways.filesystem
    adapters = list(cast.adapters[one].values())
    lan_mb, san_mb = gateway_mb(stage.site, gateways, clients[0])["write"], stripes_mb(stage.site, name, adapters)
    rows: dict[str, Both] = {}

    def judge(title: str, both: Both, due: float, of_mb: float = san_mb, of: str = "its adapters") -> None:
        """Both rates, and what was written in rates of something: which arrays are read is by the file."""
        rows[title] = both
        judge_files(stage, title, rows[title])
        judge_ratio(stage, f"{title}, write", due, rows[title].written.measured_mb, of_mb, of)

    def work(title: str, due: float, of_mb: float = san_mb, of: str = "its adapters") -> None:
        """Files of all clients."""
        judge(title, files(stage, gateways, clients, due * of_mb), due, of_mb, of)

    def itself(title: str, due: float) -> None:
        """Files of the server."""
        judge(title, lone_files(stage, gateways, one, due * san_mb), due)

    with stage.healthy(f"by {gateways.gateways[0]} clients have its link; {one} alone has its adapters"):
        with going_by(stage, gateways, gateways.gateways[:1]):
            work("a gateway", 1, lan_mb, "its link")
        itself(f"{one} itself", 1)

    with stage.perturb(f"clients go by {one}, or by {one} and {two}"):
        first, both = [one], [one, two]

    with stage.judge("by one they have what it has itself, by two twice that"):
        with going_by(stage, gateways, first):
            work("one server", 1)
        with going_by(stage, gateways, both):
            work("two servers", 2)
        more = rows["one server"].written.measured_mb
        judge_ratio(
            stage, "one server, write", san_mb / lan_mb, more, rows["a gateway"].written.measured_mb, "a gateway"
        )

    with stage.contrast("where the arrays have little more than one server carries, a second adds just that"):
        arrays = [port for server in stage.site.servers(name) for port in _ports(stage, server)]
        rate_mbit = round(ARRAYS * min(stage.site.sends_mbit(port) for port in adapters))
        change, site = slower(stage, arrays, rate_mbit, "the arrays are slow")
        slow = stage.make(change)
        with stage.as_if(site):
            with going_by(stage, gateways, first):
                work("slow arrays, one server", 1)
            with going_by(stage, gateways, both):
                work("slow arrays, two servers", ARRAYS)
        slow.undo()

    with stage.contrast("one adapter of half the rate halves the server"):
        change, site = slower(stage, adapters[-1:], stage.site.sends_mbit(adapters[-1]) // 2, "one adapter is slow")
        slow = stage.make(change)
        with stage.as_if(site):
            itself(f"{one} itself, a slow adapter", 0.5)
        slow.undo()

    with stage.restore("each client goes by its own gateway again"):
        judge_next(stage, gateways)
        show(stage, "by whom they go", "by", rows)


def _ports(stage: Stage, server: str) -> list[Port]:
    """Where an array is plugged in."""
    return [Port(server, device) for device in stage.site.nodes[server].interfaces]
