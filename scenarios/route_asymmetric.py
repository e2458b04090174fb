"""Answers that come back by another way are fine, until somebody turns the reverse-path filter on.

Claim: without FEN's host route to nsd01, requests go there directly and the answers come through deisa. All pairs of
nodes still talk with rp_filter 0 and 2; with 1, exactly nsd01 and FEN do not, in either direction, for nsd01 drops the
answers. With the host route back, 1 drops nothing.

Cause: a strict filter takes a packet only by the interface by which the node itself would answer it; a loose one asks
for any route to the sender.

Source: Redpaper, "Routing setup for cross-cluster connectivity": host routes on the one side, nothing on the other;
Linux, networking/ip-sysctl.rst, rp_filter: "If using asymmetric routing ... then loose mode is recommended".
"""

from ipaddress import IPv4Address

from causeway.lab import filesystems
from causeway.lab.counters import kernel_counters
from causeway.lab.faults import kernel_setting, route_missing
from causeway.lab.reach import matrix
from causeway.model.site import Site
from causeway.plan.paths import filtered_by, path, reaches, without_routes
from causeway.report.result import Table
from causeway.scenario.stage import Stage

SERVER, CLIENT = "nsd01", "FEN"
MODES = {0: "no filter", 1: "strict", 2: "loose"}
PACKETS = 3


def ways(site: Site, one: IPv4Address, other: IPv4Address) -> str:
    """The nodes that a request from nsd01 and FEN's answer leave and reach, in order."""
    there = [hop.receiver.node for hop in path(site, SERVER, other).hops]
    back = [hop.receiver.node for hop in path(site, CLIENT, one).hops]
    return " > ".join([SERVER, *there, *back])


def recorded(stage: Stage, one: IPv4Address, other: IPv4Address) -> str:
    """The same, as each node on the way has written it into a packet (`ping -R`)."""
    owners = {str(leg.address): name for name, node in stage.site.nodes.items() for leg in node.interfaces.values()}
    printed = stage.lab.on(SERVER, "ping", "-n", "-R", "-c", "1", "-W", "2", "-I", str(one), str(other)).must()
    found = [owners[word] for word in printed.split("RR:")[1].split("---")[0].split() if word in owners]
    found.remove(CLIENT)  # it stands there twice: as what was asked, and as who answers
    return " > ".join(found)


def cut(stage: Stage, nodes: list[str]) -> str:
    """The pairs that cannot open a connection."""
    return ", ".join(sorted(f"{a} > {b}" for (a, b), answers in matrix(stage.lab, nodes).items() if not answers))


def computed_cut(site: Site, nodes: list[str], rp_filter: int) -> str:
    pairs = [f"{a} > {b}" for a in nodes for b in nodes if a != b and not reaches(site, a, b, rp_filter)]
    return ", ".join(sorted(pairs))


def dropping(stage: Stage, nodes: list[str], sender: str, source: IPv4Address, target: IPv4Address) -> str:
    """Whose reverse-path filter drops the packets that are sent now, and no others."""

    def dropped() -> dict[str, int]:
        return {node: kernel_counters(stage.lab, node)["TcpExtIPReversePathFilter"] for node in nodes}

    before = dropped()
    stage.lab.on(sender, "ping", "-c", str(PACKETS), "-i", "0.2", "-W", "1", "-I", str(source), str(target))
    grown = {node: count - before[node] for node, count in dropped().items() if count > before[node]}
    return ", ".join(node if count == PACKETS else f"{node} {count} times" for node, count in grown.items())


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    hosts = lab.nodes_of_role("server", "compute", "service", "frontend")
    nodes = [*hosts, *lab.booted_io_nodes()]
    routed = [*nodes, *lab.nodes_of_role("router")]
    server, client = site.first_leg(SERVER).address, site.first_leg(CLIENT).address
    stranger = site.nodes["cn01"].interfaces["eth1"].address

    def filter_everywhere(mode: int) -> None:
        for node in routed:
            stage.defer(kernel_setting(lab, node, "net.ipv4.conf.all.rp_filter", mode))

    # what its mounted filesystems send by themselves would be dropped, too, and counted
    stage.defer(lambda: filesystems.mc(lab, CLIENT, "mcmount", "all").must())
    filesystems.mc(lab, CLIENT, "mcumount", "all").must()

    with stage.healthy("both ways are the same, and every pair of nodes talks although all nodes filter strictly"):
        filter_everywhere(1)
        stage.compare("request and answer", ways(site, server, client), recorded(stage, server, client), "", 0)
        stage.compare("pairs that cannot talk, strict", computed_cut(site, nodes, 1), cut(stage, nodes), "", 0)

    with stage.perturb(f"{CLIENT} lacks its host route to {SERVER}'s f address"):
        put_back = route_missing(lab, CLIENT, str(server))
        stage.defer(put_back)
        lacking = without_routes(site, [CLIENT], [server])

    rows = []
    for mode in (0, 2, 1):
        with stage.observe(f"rp_filter is {mode} on all nodes: {MODES[mode]}"):
            filter_everywhere(mode)
            answers = dropping(stage, routed, CLIENT, client, server)
            strangers = dropping(stage, routed, "cn01", stranger, client)
            talk = cut(stage, nodes)  # last: half-open connections are tried again for a while, and dropped again

        with stage.judge(f"{MODES[mode]}: who cannot talk, and who drops what, is as computed"):
            stage.compare(f"pairs that cannot talk, {MODES[mode]}", computed_cut(lacking, nodes, mode), talk, "", 0)
            due = filtered_by(lacking, CLIENT, client, server, mode)
            stage.compare(f"who drops what comes through deisa, {MODES[mode]}", due, answers, "", 0)
            due = filtered_by(lacking, "cn01", stranger, client, mode)
            stage.compare(f"who drops what has no way back, {MODES[mode]}", due, strangers, "", 0)
            if mode == 0:
                due = ways(lacking, server, client)
                stage.compare("request and answer, route missing", due, recorded(stage, server, client), "", 0)
        rows.append([f"{mode}, {MODES[mode]}", talk or "none", answers or "nobody", strangers or "nobody"])
    columns = ["rp_filter", "pairs cut", f"drops {CLIENT} to {SERVER}f by deisa", f"drops cn01m to {CLIENT}"]
    stage.show(Table("What a reverse-path filter makes of it", columns, rows))

    with stage.contrast("with the host route back the strict filter drops nothing"):
        put_back()
        due = ways(site, server, client)
        stage.compare("request and answer, route back", due, recorded(stage, server, client), "", 0)
        stage.compare("pairs that cannot talk, strict, route back", "", cut(stage, nodes), "", 0)
        who = dropping(stage, routed, CLIENT, client, server)
        stage.compare(f"who drops what comes from {CLIENT}, route back", "", who, "", 0)

    with stage.restore("no node filters, and every pair talks"):
        stage.compare("pairs that cannot talk, afterwards", "", cut(stage, nodes), "", 0)
