"""One missing route on one node, and a few of all pairs of nodes cannot talk.

Claim: without its route to another network a node hears those who are there and answers none of them. All other pairs
work as before, so that most users notice nothing; a matrix of every node to every other finds exactly these pairs.

Cause: a connection needs a way back, too, and each node has its own table of routes.

Source: Redpaper, "Routing setup for cross-cluster connectivity" ("On all other nodes in the pSeries cluster"), and
the note on any-to-any connectivity, "essential for stable operation".
"""

from dataclasses import dataclass

from causeway.lab.faults import route_missing
from causeway.plan.paths import without_routes
from causeway.report.result import Table
from causeway.scenario.cast import Ask, WayBack
from causeway.scenario.stage import Stage
from causeway.scenario.words.routes import computed_cut, cut, pings


@dataclass(frozen=True)
class Cast:
    """A node with a route that it needs to answer, and all hosts."""

    lacking: WayBack
    hosts: list[str]


def cast(ask: Ask) -> Cast:
    ask.computable()
    return Cast(ask.way_back(), ask.hosts())


def play(stage: Stage, cast: Cast) -> None:
    lab, site, hosts = stage.lab, stage.site, cast.hosts
    node, network = cast.lacking.node, str(site.topology.networks[cast.lacking.to].subnet)
    whole, due = computed_cut(site, hosts), computed_cut(without_routes(site, [node], [cast.lacking.to]), hosts)
    others = [host for host in hosts if host != node]

    with stage.healthy(f"of {len(hosts) * len(others)} pairs of nodes those talk that have ways there and back"):
        stage.same("pairs that cannot talk", whole, cut(stage, hosts))

    with stage.perturb(f"{node} lacks its route to {network}"):
        missing = stage.make(route_missing(lab, node, network))

    with stage.observe("the matrix is taken again"):
        found = cut(stage, hosts)

    with stage.judge(f"exactly the pairs of {node} and those beyond the route cannot talk, as computed"):
        stage.same("the pairs that cannot talk", due, found)
        beyond = [host for host in others if f"{host} > {node}" in due]
        stage.holds(
            f"all that are new among them are {node}'s",
            all(node in pair.split(" > ") for pair in set(due) - set(whole)),
        )
        for near in [host for host in others if host not in beyond][:1]:
            heard = pings(stage, node, site.known_by(near).address)
            stage.holds(f"{node} reaches {near} all the same", heard)
        rows = [[host, "no way back" if f"{host} > {node}" in found else "fine"] for host in others]
        stage.show(Table(f"From each node to {node}", ["node", "connection"], rows))

    with stage.contrast("with the route back the same matrix is as before"):
        missing.undo()
        stage.same("pairs that cannot talk, route back", whole, cut(stage, hosts))

    with stage.restore("who talked at first talks again"):
        stage.same("pairs that cannot talk, afterwards", whole, cut(stage, hosts))
