"""Without the host routes everything works, and the filesystem's data takes the slow way.

Claim: when the I/O nodes have the network route to the federation only, what they send to the NSD servers' f
addresses goes through deisa-b: two streams share the inter-switch link of 1 Gbit/s and get half a link each. With
the host routes each has a server's channel for itself, and nothing passes deisa.

Cause: a host route is preferred to a network's; without it the network's is good enough, and nobody complains.

Source: Redpaper, "Routing setup for cross-cluster connectivity": host routes to the NSD servers "via their
BlueGene interfaces", and the routes' use of deisa-b for all else.
"""

from ipaddress import IPv4Address

from causeway.lab import nuttcp
from causeway.lab.counters import difference, sent_bytes
from causeway.lab.faults import route_missing
from causeway.lab.nuttcp import Stream
from causeway.model.site import Site
from causeway.plan.paths import path, without_routes
from causeway.plan.streams import Expected, StreamEnds, expect
from causeway.scenario.stage import Stage
from causeway.scenario.streams import RATE_WHY, SECONDS, SOURCE_PORTS

SERVERS = ("nsd01", "nsd02")
DIRECT, THROUGH_DEISA = "by the servers' channels", "through deisa"


def measure(stage: Stage, site: Site, nodes: list[str]) -> tuple[Expected, dict[str, float], str]:
    """Have I/O node i send to server i; gives what was expected, each stream's rate, and the way of the data."""
    ports = stage.random.sample(SOURCE_PORTS, len(nodes))
    streams = [
        Stream(node, server, site.first_leg(server).address, f"{node}:t:{server}f", "t", port, 5011 + 2 * i)
        for i, (node, server, port) in enumerate(zip(nodes, SERVERS, ports, strict=True))
    ]
    before = sent_bytes(stage.lab, "deisa", SERVERS)
    with nuttcp.servers(stage.lab, SERVERS), nuttcp.running(stage.lab, streams, SECONDS) as transmitting:
        measured = transmitting.results()
    passed = sum(difference(before, sent_bytes(stage.lab, "deisa", SERVERS)).values())
    ends = [StreamEnds(m.stream.label, m.stream.sender, m.source, m.destination) for m in measured]
    # each server's channel has one stream here: its rate is the same on every member
    first = {end.node: other.members[0] for _, other, end in stage.site.channel_ends()}
    expected = expect(site, ends, {(m.stream.label, "zam870"): first[m.stream.server] for m in measured})
    carried = sum(m.megabytes for m in measured) * 2**20
    way = (
        THROUGH_DEISA if passed > 0.99 * carried else DIRECT if passed < 0.01 * carried else f"{passed} bytes by deisa"
    )
    return expected, {m.stream.label: m.rate_mbit for m in measured}, way


def judge(stage: Stage, title: str, expected: Expected, rates: dict[str, float]) -> None:
    for label, rate in rates.items():
        stage.compare(f"{title}: {label}", round(expected.rates[label], 3), rate, "Mbit/s", 0.01, RATE_WHY)


def play(stage: Stage) -> None:
    lab, site = stage.lab, stage.site
    nodes = lab.booted_io_nodes()[: len(SERVERS)]
    hosts: list[IPv4Address | str] = [site.first_leg(server).address for server in SERVERS]

    def gateway(node: str) -> str:
        return lab.on(node, "ip", "route", "get", str(hosts[0])).must().split("via ")[1].split()[0]

    with stage.healthy("the data goes by the servers' channels, a whole link for each stream"):
        expected, rates, way = measure(stage, site, nodes)
        stage.compare("way of the data", DIRECT, way, "", 0)
        judge(stage, "host routes", expected, rates)

    with stage.perturb("the host routes to the NSD servers are missing on the I/O nodes"):
        undos = [route_missing(lab, node, str(host)) for node in nodes for host in hosts]
        for undo in undos:
            stage.defer(undo)

    with stage.observe("everything works, by another way"):
        lacking = without_routes(site, nodes, hosts)
        expected, rates, way = measure(stage, lacking, nodes)

    with stage.judge("the data goes through deisa, and the inter-switch link bounds it, as computed"):
        due = str(path(lacking, nodes[0], site.first_leg(SERVERS[0]).address).hops[0].next_hop)
        stage.compare(f"ip route get on {nodes[0]}", due, gateway(nodes[0]), "", 0)
        stage.compare("way of the data, network route only", THROUGH_DEISA, way, "", 0)
        judge(stage, "network route only", expected, rates)

    with stage.contrast("with the host routes back the data takes the channels again"):
        for undo in undos:
            undo()
        expected, rates, way = measure(stage, site, nodes)
        stage.compare("way of the data, host routes back", DIRECT, way, "", 0)
        judge(stage, "host routes back", expected, rates)

    with stage.restore("the host routes are there"):
        stage.compare("gateway to nsd01f", "10.2.64.202", gateway(nodes[0]), "", 0)
