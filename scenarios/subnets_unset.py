"""Without its own routes to the filesystem a node has it by its default route: all works, at the wrong network's rate.

Claim: a client that lacks its routes to the servers mounts as before, all servers answer, and no command complains; its
files go by the network that its default route leads to, at what that carries, and nothing by the fast one. With its
routes back, and the filesystem mounted anew, they go by the fast one again.

Cause: a default route is a route: whoever has one finds a way to every server that others know the way back from.

Source: GPFS at NERSC, Table 3: the parameter "subnets" must be set "especially when the default route is through an
different network than the one through which access to the storage GPFS cluster is desired". A route decides that here.
"""

from functools import partial

from causeway.lab.changes.change import together
from causeway.lab.faults import route_missing
from causeway.plan.paths import without_routes
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Defaulted
from causeway.scenario.stage import Stage
from causeway.scenario.words.files import Both, judge_files
from causeway.scenario.words.gateways import carried_by, client_files
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.storage import judge_ratio
from causeway.scenario.words.transports import mount_anew

PATIENCE_S = 60


def cast(ask: Ask) -> Defaulted:
    return ask.defaulted()


def play(stage: Stage, cast: Defaulted) -> None:
    client, name, whole = cast.client, cast.filesystem, due_mounts(stage, cast.client)
    rows: list[list[str]] = []

    def work(title: str, device: str, idle: str) -> Both:
        """Files by one network, and nothing of them by the other."""
        stage.until(f"{title}: mounted", partial(mounted, stage, client), is_=whole, within_s=PATIENCE_S)
        with carried_by(stage, client, [device, idle]) as carried:
            both = client_files(stage, cast, device)
            used = carried()
        part = used[device] / sum(used.values())
        stage.near(f"{title}: part of the bytes by {device}", 1, round(part, 3), "", within=0.02, why="sums, answers")
        judge_files(stage, title, both)
        rates = [f"{outcome.measured_mb:.1f}" for outcome in both.ways.values()]
        rows.append([title, device, *rates, whole[name]])
        return both

    def judge_ratios(title: str, both: Both) -> None:
        """Beside what it has by its own routes: as what the wires carry."""
        for way, outcome in both.ways.items():
            due, of_mb = outcome.bound_mb / usual.ways[way].bound_mb, usual.ways[way].measured_mb
            judge_ratio(stage, f"{title}, {way}", due, outcome.measured_mb, of_mb, "its usual one")

    with stage.healthy(f"{client} has its files by {cast.device}"):
        usual = work("with its routes", cast.device, cast.other)

    lacking = without_routes(stage.site, [client], [route.to for route in cast.routes])
    with stage.perturb(f"{client} lacks its routes to the filesystem's networks"):
        gone = [route_missing(stage.lab, client, stage.site.shown_destination(route)) for route in cast.routes]
        change = together("no routes but the default", gone)
        missing = stage.make(change, then=lambda: mount_anew(stage, name, [client]))

    with stage.judge(f"it mounts, all servers answer, and its files go by {cast.other}"), stage.as_if(lacking):
        slow = work("by the default route", cast.other, cast.device)
        judge_ratios("by the default route", slow)

    with stage.contrast(f"with its routes it goes by {cast.device} again"):
        missing.undo()
        again = work("routes back", cast.device, cast.other)
        judge_ratios("routes back", again)
        stage.show(Table("A client's files", ["when", "by", "write MB/s", "read MB/s", "servers"], rows))

    with stage.restore("all servers answer"):
        stage.same("mounted", whole, mounted(stage, client))
