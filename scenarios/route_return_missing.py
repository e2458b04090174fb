"""One missing route on one node, and a few of all pairs of nodes cannot talk.

Claim: without its route to the I/O network, cn01 hears every node of JUBL and answers none of them. All other pairs
work, so that most users notice nothing; a matrix of every node to every other finds exactly these pairs.

Cause: a connection needs a way back, too, and each node has its own table of routes.

Source: Redpaper, "Routing setup for cross-cluster connectivity" ("On all other nodes in the pSeries cluster"), and
the note on any-to-any connectivity, "essential for stable operation".
"""

from causeway.lab.faults import route_missing
from causeway.lab.reach import matrix
from causeway.model.site import Site
from causeway.plan.paths import reaches, without_routes
from causeway.report.result import Table
from causeway.scenario.stage import Stage

LACKING = "cn01"


def computed(site: Site, nodes: list[str]) -> list[str]:
    """The pairs that must not reach each other, by the site's routes."""
    return [f"{a} > {b}" for a in nodes for b in nodes if a != b and not reaches(site, a, b)]


def measured(stage: Stage, nodes: list[str]) -> list[str]:
    """The pairs of which one cannot open a connection to sshd on the other."""
    return [f"{a} > {b}" for (a, b), answers in matrix(stage.lab, nodes).items() if not answers]


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    hosts = lab.nodes_of_role("server", "compute", "service", "frontend")
    nodes = [*hosts, *lab.booted_io_nodes()]
    every = len(nodes) * (len(nodes) - 1)
    to = "b"
    network = str(site.topology.networks[to].subnet)

    with stage.healthy(f"each of {len(nodes)} nodes reaches every other: {every} pairs"):
        stage.compare("pairs that cannot talk, by the routes", 0, len(computed(site, nodes)), "pairs", 0)
        stage.compare("pairs that cannot talk, measured", 0, len(measured(stage, nodes)), "pairs", 0)

    with stage.perturb(f"{LACKING} lacks its route to {network}"):
        put_back = route_missing(lab, LACKING, network)
        stage.defer(put_back)

    with stage.observe("the matrix is taken again"):
        found = measured(stage, nodes)

    with stage.judge(f"exactly the pairs of {LACKING} and a node of JUBL cannot talk, as computed"):
        due = computed(without_routes(site, [LACKING], [to]), nodes)
        clients = [name for name in nodes if site.nodes[name].cluster == "JUBL"]
        stage.compare("pairs that must not reach each other", 2 * len(clients), len(due), "pairs", 0)
        stage.compare("the pairs that cannot talk", " ".join(sorted(due)), " ".join(sorted(found)), "", 0)
        heard = lab.on(LACKING, "ping", "-c", "1", "-W", "1", "nsd01f").rc
        stage.compare(f"{LACKING} reaches nsd01f all the same", 0, heard, "exit code", 0)
        rows = [
            [node, "no way back" if f"{node} > {LACKING}" in found else "fine"] for node in nodes if node != LACKING
        ]
        stage.show(Table(f"From each node to {LACKING}", ["node", "connection"], rows))

    with stage.contrast("with the route back the same matrix is whole"):
        put_back()
        stage.compare("pairs that cannot talk, route back", 0, len(measured(stage, nodes)), "pairs", 0)

    with stage.restore("each node reaches every other"):
        stage.compare("pairs that cannot talk, afterwards", 0, len(measured(stage, nodes)), "pairs", 0)
