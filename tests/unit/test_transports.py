"""One filesystem by two networks: who could go by either, and what each gets while all read."""

from functools import reduce
from pathlib import Path

import pytest

from causeway.model.load import load_site
from causeway.model.site import Site
from causeway.model.thing import Port
from causeway.plan.files import Share, each_mb
from causeway.plan.paths import by_network, path
from causeway.plan.streams import StreamEnds
from causeway.scenario.cast import Ask

XE = load_site(Path(__file__).parents[2] / "topologies/xe/site.yaml")
WAYS = Ask(XE).transports(4)
FAST, SLOW = WAYS.clients[:2], WAYS.clients[2:]


def shares(site: Site, client: str, network: str) -> list[Share]:
    """A client that reads as much from each of the servers: three quarters of three parts of its file."""
    own, servers = site.address(client, network), site.servers(WAYS.filesystem)
    ends = [
        StreamEnds(f"{client}>{server}", server, (site.known_by(server).address, 49152), (own, port))
        for port, server in enumerate(servers)
    ]
    return [Share(end, 1 / 4) for end in ends]


def test_xes_compute_nodes_could_go_by_either_network_and_its_servers_could_not() -> None:
    assert (WAYS.filesystem, WAYS.usual, WAYS.other) == ("short", "ib", "g")
    assert WAYS.clients == ["x1", "x2", "x6", "x9"]
    assert WAYS.port == Port("x17", "eth0")


def test_by_another_network_routes_lead_to_the_same_gateways() -> None:
    site = by_network(XE, "x6", "g")
    for server, gateway in (("tp16", "x16"), ("tp19", "x19")):
        first, second = path(site, "x6", site.known_by(server).address).hops
        assert (first.network, first.receiver.node, second.receiver.node) == ("g", gateway, server)
        assert path(XE, "x6", XE.known_by(server).address).hops[0].network == "ib"
    assert site.nodes["x1"] == XE.nodes["x1"]
    assert by_network(XE, "x6", "f16").nodes["x6"].routes[1:] == XE.nodes["x6"].routes[1:]


def test_all_at_once_have_what_their_ways_let_through() -> None:
    site = reduce(lambda changed, node: by_network(changed, node, "g"), SLOW, XE)
    due = each_mb(site, {c: shares(site, c, "ib") for c in FAST} | {c: shares(site, c, "g") for c in SLOW})
    for client in SLOW:
        assert due[client] == pytest.approx(11.77, abs=0.01)  # 100 Mbit/s at MTU 1500
    for client in FAST:
        assert due[client] == pytest.approx(71.8, abs=0.05)  # half of what is left of four arrays of 340


def test_without_the_slow_ones_the_arrays_are_shared_by_the_others_alone() -> None:
    due = each_mb(XE, {client: shares(XE, client, "ib") for client in FAST})
    assert due[FAST[0]] == pytest.approx(4 * 340 * 0.99004 / 8 / 2, abs=0.05)
