"""Two nodes that share nothing cannot talk, and one of them is expelled.

Claim: a node that has lost its route to a cluster with which it shares no filesystem, and never exchanged a byte, is
expelled by the owner of what each of them mounts: after the failure detection time its mounts are gone, though it
reaches every server. It comes back by itself when the route does. Where it has lost a node with which it has another
network in common, `subnets` that name that network let it in again while the fault stays.

Cause: a filesystem's nodes grant each other locks and metadata, so that each must reach each, of whatever cluster. Who
cannot is a danger to all, and of two who cannot reach each other one must go: rather another cluster's, and of two such
the one that has joined last.

Source: Redpaper, "Routing setup for cross-cluster connectivity": "Similar routing needs to be set up for all other
DEISA sites, even if they do not share any file systems"; "multiple subnets. This is advantageous for ... multi-homed
hosts". The daemon that expels is ours (docs/mc.md).
"""

from functools import partial

from causeway.lab.faults import route_missing, route_wrong
from causeway.report.result import Table
from causeway.scenario.cast import Ask, Leased
from causeway.scenario.stage import Stage
from causeway.scenario.words.leases import (
    EXPELLED,
    comes_back,
    due_s,
    goes,
    joined_last,
    limit_s,
    not_active,
    set_subnets,
)
from causeway.scenario.words.mounts import due_mounts, mounted
from causeway.scenario.words.routes import pings


def cast(ask: Ask) -> Leased:
    return ask.leased()


def play(stage: Stage, cast: Leased) -> None:
    lab, site, node = stage.lab, stage.site, cast.node
    due = due_mounts(stage, node)
    serving = sorted({server for name in due for server in site.servers(name)})
    limit = limit_s(site, [node, *cast.strangers, cast.neighbour])
    network = str(site.topology.networks[cast.to].subnet)
    rows: list[list[str]] = []

    def judge(why: str, took_s: float, unreached: list[str]) -> None:
        """The node is expelled in time, and nobody else; it has nothing mounted, and reaches all others' servers."""
        first, last = due_s(limit)
        rows.append([why, f"{first:g} to {last:g} s", f"{took_s:.1f} s"])
        stage.holds(f"{why}: expelled {first:g} to {last:g} s later", first <= took_s <= last, f"{took_s:.1f} s")
        stage.same(f"{why}: who is not active", {node: EXPELLED}, not_active(stage))
        stage.same(f"{why}: mounts of {node}", dict.fromkeys(due, "not mounted"), mounted(stage, node))
        answer = [s for s in serving if pings(stage, node, site.known_by(s).address)]
        stage.same(f"{why}: servers that {node} reaches", [s for s in serving if s not in unreached], answer)

    with stage.arrange(f"{node} is the last that has joined"):
        joined_last(stage, node)

    with stage.healthy("everybody reaches everybody, and nobody is expelled"):
        stage.same("who is not active", {}, not_active(stage))
        stage.same(f"mounts of {node}", due, mounted(stage, node))
        unheard = [h for h in cast.strangers if not pings(stage, node, site.known_by(h).address)]
        stage.same(f"of {', '.join(cast.strangers)} those that {node} does not reach", [], unheard)

    with stage.perturb(f"{node} lacks its route to {network}, where nobody has anything to do with it"):
        missing = stage.make(route_missing(lab, node, network))

    with stage.observe("time passes"):
        took_s = goes(stage, node, limit)

    with stage.judge(f"{node} is expelled, alone, and has lost its mounts, though it reaches their servers"):
        judge("no route to strangers", took_s, [])

    with stage.contrast("with the route back it comes back, and its mounts do"):
        missing.undo()
        comes_back(stage, node)

    with stage.perturb(f"{node}'s host route to {cast.neighbour} leads to who forwards nothing"):
        stage.make(route_wrong(lab, node, str(cast.address), str(cast.bystander)))

    with stage.observe("time passes again"):
        took_s = goes(stage, node, limit)

    with stage.judge(f"{node} is expelled for one server of several"):
        judge(f"no way to {cast.neighbour}", took_s, [cast.neighbour])

    with stage.contrast(f"with subnets={cast.subnet} the two talk by that network, and it is back, the route as it is"):
        for cluster in (cast.owner, site.nodes[node].cluster or ""):
            stage.defer(partial(set_subnets, lab, cluster, "DEFAULT"), f"{cluster} has subnets")
            set_subnets(lab, cluster, str(cast.subnet))
        comes_back(stage, node, cast.neighbour)
        stage.show(Table(f"{node} is expelled", ["for", "due", "after"], rows))

    with stage.restore("everybody is active, and has all mounted"):
        stage.same("who is not active, afterwards", {}, not_active(stage))
        stage.same(f"mounts of {node}, afterwards", due, mounted(stage, node))
