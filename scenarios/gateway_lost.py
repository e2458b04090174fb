"""A gateway is lost: the nodes behind it have no filesystem until somebody leads them by another, and then all goes on.

Claim: when a gateway falls silent, exactly the client behind it reaches no server; the others read on. With its routes,
and the servers' routes to it, led by another gateway it reaches all servers again, reads what it wrote, and the two
clients share that gateway's link: each has half of it. With the gateway back each has its own.

Cause: a static route knows nothing of its gateway's health; a gateway that is there forwards for whoever is led by it.

Source: GPFS at NERSC, section IX: "we plan to test scaling and failover mechanisms for multiple private NSD/Gateway
sever nodes". Who moves the routes is an administrator here, by hand.
"""

from functools import partial

from causeway.lab.changes.change import together
from causeway.lab.faults import link_silent
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Gateways
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import Both, judge_files
from causeway.scenario.words.gateways import files, gateway_mb, judge_next, led_by
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.storage import judge_ratio
from causeway.scenario.words.transports import digest

#: A silent server makes a client wait for ten seconds, and is asked anew every few.
PATIENCE_S, LOOK_S = 60, 2
SIZE_MIB = 8
#: On each client: one task alone waits for its calls.
TASKS = 4


def cast(ask: Ask) -> Gateways:
    return ask.gateways(2)


def none(servers: str) -> bool:
    """Whether none answers; who has lost all does not even know how many there are."""
    return servers.startswith("0 of ")


def play(stage: Stage, cast: Gateways) -> None:
    (lost, other), (behind, beside), name = cast.gateways[:2], cast.clients[:2], cast.filesystem
    at, whole = stage.site.topology.filesystems[name].mount_point, due_mounts(stage, behind)[name]
    one_mb, clients, file = gateway_mb(stage.site, cast, behind), [behind, beside], f"{at}/lost.{behind}"
    rows: list[list[str]] = []

    def work(title: str, gateways: int) -> None:
        """Both clients at work, in rates of one gateway."""
        both: Both = files(stage, cast, clients, gateways * one_mb["write"], TASKS)
        judge_files(stage, title, both)
        for way, seen in both.ways.items():
            judge_ratio(stage, f"{title}, {way}", gateways, seen.measured_mb, one_mb[way], "a gateway's link")
        rows.append([title, *(f"{mb:.1f}" for seen in both.ways.values() for mb in (seen.bound_mb, seen.measured_mb))])

    def servers(client: str) -> str:
        return mounted(stage, client)[name]

    with stage.arrange(f"{behind} has a file"):
        stage.defer(lambda: stage.lab.on(beside, "rm", "-f", file).must(), "the file is gone")
        argv = ("dd", "if=/dev/urandom", f"of={file}", "bs=1M", f"count={SIZE_MIB}", "conv=fsync")
        stage.lab.on(behind, *argv).must()

    with stage.healthy(f"{behind} and {beside} have a gateway each"):
        work("a gateway each", 2)
        written = digest(stage, behind, file)

    with stage.perturb(f"{lost} falls silent"):
        devices = stage.site.nodes[lost].interfaces
        silent = stage.make(together(f"{lost} is silent", [link_silent(stage.lab, lost, device) for device in devices]))

    with stage.observe(f"{behind} loses all servers"):
        stage.until(f"servers of {behind}", partial(servers, behind), is_=none, within_s=PATIENCE_S, poll_s=LOOK_S)

    with stage.judge("nobody else loses anything"):
        others = cast.clients[1:]
        stage.same(
            "servers of the others", dict.fromkeys(others, whole), {client: servers(client) for client in others}
        )
        stage.same(f"what {behind} wrote, as {beside} reads it", written, digest(stage, beside, file))

    what = f"led by {other} it reaches all servers, and the two share {other}'s link"
    with stage.judge(what), led_by(stage, cast, {behind: other}):
        stage.until(
            f"servers of {behind}, by {other}", partial(servers, behind), is_=whole, within_s=PATIENCE_S, poll_s=LOOK_S
        )
        stage.same(f"what {behind} wrote, as it reads it", written, digest(stage, behind, file))
        work("both by one", 1)

    with stage.contrast(f"with {lost} back each has its own again"):
        silent.undo()
        stage.until(
            f"servers of {behind}, by {lost}", partial(servers, behind), is_=whole, within_s=PATIENCE_S, poll_s=LOOK_S
        )
        work("a gateway each again", 2)
        stage.show(Table("MB/s of both", ["when", "write, computed", "measured", "read, computed", "measured"], rows))

    with stage.restore("each client goes by its own gateway"):
        judge_next(stage, cast)
